//! The table of keys: a reader finds the vertex at its timestamp while another vertex gets the key, while an
//! id is reused, and while the index grows.

//!
//! The writers are the first thread, which the checker runs first. The checker finds that a load may come
//! before a store that it saw before the load. It does not find that a store may come before a load if the
//! storing thread also loaded in between, as these writers do.

use std::sync::Arc;

use hedgerow_core::{KindId, Timestamp, VertexId, VertexKeyRef};
use hedgerow_mem::KeyTable;
use hedgerow_txn::{Clock, Counts, ReaderRegistry};
use loom::sync::Mutex;
use loom::thread;

const KEY: VertexKeyRef<'static> = VertexKeyRef::U64(77);
const FIRST: VertexId = VertexId(1);
const SECOND: VertexId = VertexId(2);
/// The timestamps at which the key loses its first vertex and gets its second one.
const UNBOUND: Timestamp = Timestamp(1);
const BOUND: Timestamp = Timestamp(2);

struct Store {
    clock: Clock,
    readers: ReaderRegistry,
    keys: KeyTable,
}

/// Returns a store in which the key names the first vertex from the beginning.
fn store() -> Arc<Store> {
    let keys = KeyTable::new(false);
    keys.bind(KEY, FIRST, Timestamp(0), Timestamp::ZERO);
    Arc::new(Store {
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY),
        readers: ReaderRegistry::default(),
        keys,
    })
}

impl Store {
    fn apply_unbind(&self) {
        let ts = self.clock.order().draw();
        assert_eq!(ts, UNBOUND);
        self.keys.unbind(FIRST, ts);
    }

    fn publish_unbind(&self) {
        self.clock.complete(UNBOUND, -1, 0);
    }

    /// Binds the key, which has lost its first vertex, to its second one. Only one thread at a time changes
    /// the key, so the model needs no latch.
    fn bind(&self) {
        let ts = self.clock.order().draw();
        assert_eq!(ts, BOUND);
        let published = self.clock.published();
        let oldest = self.readers.scan().oldest(published).unwrap_or(Timestamp::ZERO);
        self.keys.bind(KEY, SECOND, ts, oldest);
        self.clock.complete(ts, 1, 0);
    }

    fn check(&self, t: Timestamp) {
        let expected = if t < UNBOUND { Some(FIRST) } else { (t >= BOUND).then_some(SECOND) };
        assert_eq!(self.keys.at(KEY, t), expected, "at {t:?}");
    }

    fn read(&self) {
        let registration = self.readers.register(0, || Some((self.clock.published(), ()))).0;
        self.check(registration.ts());
        self.readers.close(registration);
    }
}

#[test]
fn a_registering_reader_finds_what_the_key_named() {
    loom::model(|| {
        let store = store();
        let reader = store.clone();
        let reads = thread::spawn(move || {
            reader.read();
            reader.read();
        });
        store.apply_unbind();
        store.publish_unbind();
        store.bind();
        reads.join().unwrap();
    });
}

#[test]
fn a_binding_is_dropped_only_when_its_end_is_published() {
    loom::model(|| {
        let store = store();
        store.apply_unbind();
        let (remover, binder, reader) = (store.clone(), store.clone(), store);
        let removes = thread::spawn(move || remover.publish_unbind());
        let binds = thread::spawn(move || binder.bind());
        let reads = thread::spawn(move || reader.read());
        removes.join().unwrap();
        binds.join().unwrap();
        reads.join().unwrap();
    });
}

#[test]
fn an_old_snapshot_finds_what_the_key_named() {
    loom::model(|| {
        let store = store();
        let old = store.readers.register(0, || Some((store.clock.published(), ()))).0;
        let (reader, ts) = (store.clone(), old.ts());
        let reads = thread::spawn(move || reader.check(ts));
        store.apply_unbind();
        store.publish_unbind();
        store.bind();
        reads.join().unwrap();
        store.check(ts);
        store.readers.close(old);
        store.read();
    });
}

const OTHER: VertexKeyRef<'static> = VertexKeyRef::U64(78);

/// No reader sees any more that the key named the id, so the id goes to another key. A reader finds the state
/// of its snapshot: never the vertex of the new key too early, nor the vertex of the old key.
#[test]
fn an_id_goes_to_another_key() {
    loom::model(|| {
        let store = store();
        store.apply_unbind();
        store.publish_unbind();
        let reader = store.clone();
        let reads = thread::spawn(move || {
            let registration = reader.readers.register(0, || Some((reader.clock.published(), ()))).0;
            let t = registration.ts();
            assert_eq!(reader.keys.at(KEY, t), None, "at {t:?}");
            assert_eq!(reader.keys.at(OTHER, t), (t >= BOUND).then_some(FIRST), "at {t:?}");
            reader.readers.close(registration);
        });
        let ts = store.clock.order().draw();
        store.keys.bind(OTHER, FIRST, ts, UNBOUND);
        store.clock.complete(ts, 1, 0);
        reads.join().unwrap();
        assert_eq!((store.keys.at(OTHER, BOUND), store.keys.len()), (Some(FIRST), 1));
    });
}

/// The test before, but the new key loses the id at once. The ends of the two bindings are different
/// timestamps.
#[test]
fn an_id_goes_to_another_key_and_is_lost_again() {
    another_key_loses_the_id(false);
}

/// The test before with stamps that do not have the begin of a binding. The reason is that the first row of
/// the cache line has other high bits.
#[test]
fn an_id_with_a_far_timestamp_goes_to_another_key_and_is_lost_again() {
    another_key_loses_the_id(true);
}

fn another_key_loses_the_id(far: bool) {
    loom::model(move || {
        let keys = Arc::new(KeyTable::new(false));
        if far {
            keys.bind(VertexKeyRef::U64(79), VertexId(0), Timestamp(99), Timestamp::ZERO);
        }
        keys.bind(KEY, FIRST, Timestamp(0), Timestamp::ZERO);
        keys.unbind(FIRST, UNBOUND);
        let reader = keys.clone();
        // The reader began after the end of the first binding and before the second one.
        let reads = thread::spawn(move || {
            assert_eq!((reader.at(KEY, UNBOUND), reader.at(OTHER, UNBOUND)), (None, None));
        });
        keys.bind(OTHER, FIRST, BOUND, UNBOUND);
        keys.unbind(FIRST, Timestamp(3));
        reads.join().unwrap();
        let at = |key, t| keys.at(key, Timestamp(t));
        assert_eq!((at(OTHER, 2), at(OTHER, 3), at(KEY, 2)), (Some(FIRST), None, None));
    });
}

/// A binding ends during the read of a reader that still sees it, although its stamp does not have its begin.
#[test]
fn a_binding_with_a_far_timestamp_ends_beside_a_reader_that_sees_it() {
    loom::model(|| {
        let keys = Arc::new(KeyTable::new(false));
        keys.bind(VertexKeyRef::U64(79), VertexId(0), Timestamp(99), Timestamp::ZERO);
        keys.bind(KEY, FIRST, Timestamp(0), Timestamp::ZERO);
        let reader = keys.clone();
        let reads = thread::spawn(move || assert_eq!(reader.at(KEY, Timestamp(0)), Some(FIRST)));
        keys.unbind(FIRST, UNBOUND);
        reads.join().unwrap();
        assert_eq!(keys.at(KEY, UNBOUND), None);
    });
}

/// Learns the key as a look-up does that finds nothing in the table. The segments have the key with the first
/// vertex.
fn learn(keys: &KeyTable, latch: &Mutex<()>) {
    let _latched = latch.lock().unwrap();
    if !keys.knows(FIRST) {
        keys.bind(KEY, FIRST, Timestamp(0), Timestamp::INFINITY);
    }
}

fn find(keys: &KeyTable, latch: &Mutex<()>, t: Timestamp) -> Option<VertexId> {
    keys.at(KEY, t).or_else(|| {
        learn(keys, latch);
        keys.at(KEY, t)
    })
}

/// Two threads look up a key that only segments have, and one of them removes its vertex. The other one finds
/// the vertex at its snapshot.
#[test]
fn a_key_is_learned_beside_a_removal_of_its_vertex() {
    loom::model(|| {
        let (keys, latch) = (Arc::new(KeyTable::new(false)), Arc::new(Mutex::new(())));
        let (reader, its_latch) = (keys.clone(), latch.clone());
        let reads = thread::spawn(move || assert_eq!(find(&reader, &its_latch, Timestamp(0)), Some(FIRST)));
        assert_eq!(find(&keys, &latch, Timestamp(0)), Some(FIRST));
        let latched = latch.lock().unwrap();
        keys.unbind(FIRST, UNBOUND);
        drop(latched);
        reads.join().unwrap();
        assert_eq!(find(&keys, &latch, UNBOUND), None);
    });
}

/// The id goes to another key, while a thread looks up the key that the id has in the segments. The snapshot
/// of that thread does not see this key any more.
#[test]
fn a_key_is_not_learned_again_whose_id_went_to_another() {
    loom::model(|| {
        let (keys, latch) = (Arc::new(KeyTable::new(false)), Arc::new(Mutex::new(())));
        learn(&keys, &latch);
        keys.unbind(FIRST, UNBOUND);
        let (reader, its_latch) = (keys.clone(), latch.clone());
        let reads = thread::spawn(move || assert_eq!(find(&reader, &its_latch, UNBOUND), None));
        keys.forget(FIRST);
        keys.bind(OTHER, FIRST, BOUND, UNBOUND);
        reads.join().unwrap();
        assert_eq!((find(&keys, &latch, BOUND), keys.at(OTHER, BOUND)), (None, Some(FIRST)));
    });
}

/// The timestamp of look-ups in the newest state.
const NEWEST: Timestamp = Timestamp(u64::MAX - 1);

/// The id of a removed vertex goes to one of another kind with the same number. A reader at a snapshot finds
/// neither of them. A look-up in the newest state may take the new vertex for the old one. A look-up that
/// holds the latch of the vertex distinguishes them.
fn an_id_goes_to_another_kind(from: KindId, to: KindId) {
    // True if a look-up takes the new vertex for the old one in some interleaving. Without such a case the
    // model shows little. The checker does not control this flag.
    let mistaken = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = mistaken.clone();
    loom::model(move || {
        let keys = Arc::new(KeyTable::new(false));
        [from, to].into_iter().for_each(|kind| keys.add_kind(kind, false));
        let of = [from, to].map(|kind| kind.key(77u64));
        keys.bind(of[0], FIRST, Timestamp(0), Timestamp::ZERO);
        keys.unbind(FIRST, UNBOUND);
        // The kind to which the id is bound, under the latch of the vertex.
        let bound = Arc::new(Mutex::new(None));
        let (reader, latch, seen) = (keys.clone(), bound.clone(), seen.clone());
        let reads = thread::spawn(move || {
            assert_eq!(of.map(|key| reader.at(key, UNBOUND)), [None, None]);
            let found = reader.at(of[0], NEWEST);
            let bound = latch.lock().unwrap();
            for key in of {
                assert_eq!(reader.names(FIRST, key), *bound == Some(key.kind()), "{key:?}");
            }
            seen.fetch_or(found.is_some(), std::sync::atomic::Ordering::Relaxed);
        });
        let mut latched = bound.lock().unwrap();
        keys.bind(of[1], FIRST, BOUND, UNBOUND);
        *latched = Some(to);
        drop(latched);
        reads.join().unwrap();
        assert_eq!(of.map(|key| keys.at(key, BOUND)), [None, Some(FIRST)]);
        assert_eq!((keys.key_of(FIRST).as_ref(), keys.carries(FIRST, of[0])), (of[1], false));
    });
    assert!(mistaken.load(std::sync::atomic::Ordering::Relaxed), "no look met an id on its way");
}

#[test]
fn an_id_of_the_default_kind_goes_to_another_kind() {
    an_id_goes_to_another_kind(KindId::DEFAULT, KindId(1));
}

#[test]
fn an_id_of_a_kind_goes_to_the_default_kind() {
    an_id_goes_to_another_kind(KindId(1), KindId::DEFAULT);
}

/// A larger table replaces the table of the index while readers look up keys in it.
#[test]
fn readers_find_keys_while_the_index_grows() {
    const FEW: u64 = 10;
    loom::model(|| {
        let keys = Arc::new(KeyTable::new(false));
        let bind = |keys: &KeyTable, n: u64| {
            keys.bind(VertexKeyRef::U64(n), VertexId(n as u32), Timestamp(1), Timestamp::ZERO);
        };
        (0..FEW).for_each(|n| bind(&keys, n));
        let bytes = keys.bytes();
        let reader = keys.clone();
        let reads = thread::spawn(move || {
            for n in [0, FEW - 1] {
                assert_eq!(reader.at(VertexKeyRef::U64(n), Timestamp(1)), Some(VertexId(n as u32)));
            }
        });
        bind(&keys, FEW);
        reads.join().unwrap();
        assert_eq!(keys.at(VertexKeyRef::U64(FEW), Timestamp(1)), Some(VertexId(FEW as u32)));
        assert!(keys.bytes() > bytes, "the index did not grow");
    });
}

/// A guess reads the tables of several keys in one walk.
#[test]
fn keys_are_guessed_while_the_index_grows() {
    const FEW: u64 = 10;
    loom::model(|| {
        let keys = Arc::new(KeyTable::new(false));
        let bind = |keys: &KeyTable, n: u64| {
            keys.bind(VertexKeyRef::U64(n), VertexId(n as u32), Timestamp(1), Timestamp::ZERO);
        };
        (0..FEW).for_each(|n| bind(&keys, n));
        let bytes = keys.bytes();
        let reader = keys.clone();
        let reads = thread::spawn(move || {
            let guess = reader.guess(&[0, FEW - 1].map(VertexKeyRef::U64), |_, _, _| ());
            assert_eq!(guess, Some([0, FEW - 1].map(|n| VertexId(n as u32))));
        });
        bind(&keys, FEW);
        reads.join().unwrap();
        assert!(keys.bytes() > bytes, "the index did not grow");
    });
}

/// A new text gets the words of a removed one. A reader that still compares these words is not misled.
#[test]
fn the_words_of_a_text_go_to_another() {
    let (old, new) = (VertexKeyRef::Str("heron"), VertexKeyRef::Str("otter"));
    loom::model(move || {
        let keys = Arc::new(KeyTable::new(true));
        keys.bind(old, FIRST, Timestamp(0), Timestamp::ZERO);
        keys.unbind(FIRST, UNBOUND);
        let reader = keys.clone();
        let reads = thread::spawn(move || {
            assert_eq!((reader.at(old, UNBOUND), reader.at(new, UNBOUND)), (None, None));
        });
        keys.forget(FIRST);
        keys.bind(new, SECOND, BOUND, UNBOUND);
        reads.join().unwrap();
        assert_eq!((keys.at(old, BOUND), keys.at(new, BOUND)), (None, Some(SECOND)));
    });
}
