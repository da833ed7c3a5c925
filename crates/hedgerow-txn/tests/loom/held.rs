//! Readers that release their slots to other readers (invariant I26), and the records of closed readers
//! (I27).
//!
//! Under the checker a cache line has one slot, and there are two lines.

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_txn::{ReaderRegistry, Registration};
use loom::cell::UnsafeCell;
use loom::thread;

use crate::readers::{Store, publish_and_judge, register, store};

const NEVER: [Timestamp; 0] = [];

/// A cell that readers of the version at timestamp 0 read. A thread that judges the version dead overwrites
/// it.
struct Read(UnsafeCell<u64>);

impl Read {
    fn look(&self) {
        // SAFETY: the checker reports each write that is not ordered with this read.
        self.0.with(|value| assert_eq!(unsafe { *value }, 0));
    }

    fn overwrite(&self) {
        // SAFETY: the checker reports each read that is not ordered with this write.
        self.0.with_mut(|value| unsafe { *value = 1 });
    }
}

/// Starts a thread that opens a reader.
fn opens(store: &Arc<Store>, hint: usize) -> thread::JoinHandle<Registration> {
    let store = store.clone();
    thread::spawn(move || register(&store, hint))
}

#[test]
fn a_reader_whose_slot_another_takes_still_pins() {
    loom::model(|| {
        let store = store();
        let held = register(&store, 0);
        let opens = opens(&store, 0);
        let judge = store.clone();
        let judges = thread::spawn(move || publish_and_judge(&judge));
        assert!(!judges.join().unwrap(), "the version was freed under its reader");
        let other = opens.join().unwrap();
        store.readers.close(other);
        assert_eq!(store.readers.scan().timestamps(), [Timestamp(0)], "the first one still reads");
        store.readers.close(held);
        assert_eq!(store.readers.scan().timestamps(), NEVER);
    });
}

#[test]
fn a_reader_that_closes_while_it_is_moved_is_gone_and_the_other_is_not() {
    loom::model(|| {
        let store = store();
        let held = register(&store, 0);
        let opens = opens(&store, 0);
        store.readers.close(held);
        let other = opens.join().unwrap();
        assert_eq!(store.readers.scan().timestamps(), [Timestamp(0)], "the second one still reads");
        store.readers.close(other);
        assert_eq!(store.readers.scan().timestamps(), NEVER);
    });
}

#[test]
fn readers_of_one_timestamp_may_free_each_other_s_slots() {
    loom::model(|| {
        let store = store();
        let first = register(&store, 0);
        let second = register(&store, 0);
        let closer = store.clone();
        let closes = thread::spawn(move || _ = closer.readers.close(first));
        assert!(!publish_and_judge(&store), "the version was freed under its reader");
        closes.join().unwrap();
        assert_eq!(store.readers.scan().timestamps(), [Timestamp(0)], "the second one still reads");
        store.readers.close(second);
        assert_eq!(store.readers.scan().timestamps(), NEVER);
    });
}

#[test]
fn a_slot_that_changed_hands_is_not_freed_for_the_one_who_had_it() {
    loom::model(|| {
        let store = store();
        let held = register(&store, 0);
        let opens = opens(&store, 0);
        store.readers.close(held);
        let ts = store.clock.order().draw();
        store.clock.complete(ts, 0, 0);
        let newer = register(&store, 0);
        let other = opens.join().unwrap();
        assert!(store.readers.scan().contains(newer.ts()), "the newer one reads");
        assert!(store.readers.scan().contains(other.ts()), "the one that moved others reads");
        store.readers.close(newer);
        store.readers.close(other);
        assert_eq!(store.readers.scan().timestamps(), NEVER);
    });
}

#[test]
fn what_a_moved_reader_read_is_overwritten_after_it_read() {
    loom::model(|| {
        let store = store();
        let read = Arc::new(Read(UnsafeCell::new(0)));
        let held = register(&store, 0);
        let newer = {
            let ts = store.clock.order().draw();
            store.clock.complete(ts, 0, 0);
            register(&store, 0)
        };
        let (reader, value) = (store.clone(), read.clone());
        let reads = thread::spawn(move || {
            value.look();
            reader.readers.close(held);
        });
        let published = store.clock.published();
        if store.readers.scan().oldest(published) == Some(Timestamp(1)) {
            read.overwrite();
        }
        reads.join().unwrap();
        store.readers.close(newer);
    });
}

/// Closes a reader while another thread begins to watch for closing readers.
fn closes_beside_a_watcher(
    readers: Arc<ReaderRegistry>,
    close: impl FnOnce(&ReaderRegistry) + Send + 'static,
) {
    let closer = readers.clone();
    let closes = thread::spawn(move || close(&closer));
    readers.watch_endings(Timestamp(1));
    let waits = readers.scan().contains(Timestamp(0));
    closes.join().unwrap();
    let ended = readers.take_ended();
    let told = ended.timestamps == [Timestamp(0)] || ended.more;
    assert!(!waits || told, "whoever waits for the reader waits for ever");
    assert!(!readers.any_ended(), "an ending is told twice");
}

#[test]
fn who_waits_for_a_reader_is_told_of_its_end() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let (reader, ()) = readers.register(0, || Some((Timestamp(0), ())));
        closes_beside_a_watcher(readers, |readers| _ = readers.close(reader));
    });
}

#[test]
fn who_waits_for_a_moved_reader_is_told_of_its_end() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let (reader, ()) = readers.register(0, || Some((Timestamp(0), ())));
        let (newer, ()) = readers.register(0, || Some((Timestamp(1), ())));
        closes_beside_a_watcher(readers.clone(), |readers| _ = readers.close(reader));
        readers.close(newer);
    });
}

/// For a moment after a moved reader has closed, the table may still count it.
#[test]
fn who_sees_the_count_of_a_reader_that_closed_while_it_was_moved_is_told() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let (reader, ()) = readers.register(0, || Some((Timestamp(0), ())));
        let other = readers.clone();
        let moves = thread::spawn(move || other.register(0, || Some((Timestamp(1), ()))).0);
        let closer = readers.clone();
        let closes = thread::spawn(move || _ = closer.close(reader));
        readers.watch_endings(Timestamp(1));
        let waits = readers.scan().contains(Timestamp(0));
        closes.join().unwrap();
        readers.close(moves.join().unwrap());
        let ended = readers.take_ended();
        let told = ended.timestamps == [Timestamp(0)] || ended.more;
        assert!(!waits || told, "whoever waits for the reader waits for ever");
    });
}

#[test]
fn who_waits_again_after_a_pause_is_told_too() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let (reader, ()) = readers.register(0, || Some((Timestamp(0), ())));
        readers.watch_endings(Timestamp(9));
        readers.ignore_endings();
        closes_beside_a_watcher(readers, |readers| _ = readers.close(reader));
    });
}

#[test]
fn who_waits_for_older_readers_is_not_told_of_newer_ones() {
    loom::model(|| {
        let readers = ReaderRegistry::default();
        readers.watch_endings(Timestamp(5));
        for (ts, told) in [(4, true), (5, false), (6, false)] {
            let noted = readers.close(readers.register(0, || Some((Timestamp(ts), ()))).0);
            assert_eq!((noted, readers.any_ended()), (told, told));
            readers.take_ended();
        }
    });
}

/// Two readers close at the same time, and the log may have no cell for one of them. Each timestamp is
/// recorded, or the log has the mark for further closes.
#[test]
fn endings_for_which_there_is_no_cell_are_told_together() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let open = [(0, 2), (1, 4)].map(|(hint, ts)| readers.register(hint, || Some((Timestamp(ts), ()))).0);
        readers.watch_endings(Timestamp(9));
        let closes = open.map(|reader| {
            let readers = readers.clone();
            thread::spawn(move || readers.close(reader))
        });
        let mut ended = readers.take_ended();
        closes.into_iter().for_each(|closes| assert!(closes.join().unwrap(), "the endings are watched"));
        let later = readers.take_ended();
        ended.timestamps.extend(later.timestamps);
        ended.timestamps.sort_unstable();
        let all = ended.timestamps == [Timestamp(2), Timestamp(4)];
        assert!(all || ended.more || later.more, "{ended:?} is told of 2 and 4");
    });
}

/// Two threads move readers of two timestamps to the table and close them. Scans in between see the open
/// readers.
#[test]
fn readers_that_move_together_are_seen_and_gone() {
    loom::model(|| {
        let readers = Arc::new(ReaderRegistry::default());
        let register = |hint, ts| readers.register(hint, || Some((Timestamp(ts), ()))).0;
        let (first, second) = (register(0, 5), register(1, 5));
        let other = readers.clone();
        // Registering the third reader moves the first one to the table.
        let moves = thread::spawn(move || {
            let third = other.register(0, || Some((Timestamp(6), ()))).0;
            other.close(first);
            third
        });
        // Registering the fourth reader moves the second one to the table.
        let fourth = register(1, 7);
        assert!(readers.scan().contains(Timestamp(5)), "the second one reads");
        readers.close(second);
        let third = moves.join().unwrap();
        assert_eq!(readers.scan().timestamps(), [Timestamp(6), Timestamp(7)]);
        readers.close(third);
        readers.close(fourth);
        assert_eq!(readers.scan().timestamps(), NEVER);
    });
}

#[test]
fn a_reader_that_finds_another_at_the_table_opens_without_waiting() {
    loom::model(|| {
        let store = store();
        let held = [register(&store, 0), register(&store, 1)];
        let opened = [0, 1].map(|hint| opens(&store, hint)).map(|thread| thread.join().unwrap());
        held.into_iter().for_each(|registration| _ = store.readers.close(registration));
        assert_eq!(store.readers.scan().timestamps(), [Timestamp(0)]);
        opened.into_iter().for_each(|registration| _ = store.readers.close(registration));
        assert_eq!(store.readers.scan().timestamps(), NEVER);
    });
}
