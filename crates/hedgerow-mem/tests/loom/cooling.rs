//! Chains that are cooling, concurrent with threads that relink them, read them back, write to them and
//! retire them (rule E9 of the protocol).

use hedgerow_core::Timestamp;
use hedgerow_core::account::Purpose;
use loom::thread;

use crate::evict::{Tier, model, tier};

/// Takes everything out of memory. Asserts that no bytes remain charged: no version was lost, and none was
/// retired twice.
fn ends_with_nothing(tier: &Tier, last: u64) {
    tier.checkpoint(last);
    let memory = &tier.store.memory;
    tier.cool();
    memory.retire_cooled(0);
    memory.retire_list().drain();
    assert_eq!(memory.retire_list().stats().versions, 0);
    assert_eq!(memory.account().used_for(Purpose::Versions), 0, "a version is charged that nobody has");
}

#[test]
fn a_touch_beside_the_end_of_the_queue_finds_what_was_taken() {
    model(|| {
        let tier = tier(1);
        assert!(tier.cool());
        let evictor = tier.clone();
        let retires = thread::spawn(move || evictor.store.memory.retire_cooled(0));
        assert_eq!(tier.read(Timestamp(1)).0, [1]);
        retires.join().unwrap();
        assert_eq!(tier.store.versions(), 1);
        ends_with_nothing(&tier, 1);
    });
}

/// The walk of the reader may begin before the version is evicted, or after it is linked again.
#[test]
fn a_reader_beside_a_chain_that_cools_comes_back_and_goes_for_good() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.cool();
            evictor.touch();
            evictor.cool();
            evictor.store.memory.retire_cooled(0);
        });
        let registration = tier.store.register();
        assert_eq!(tier.read(registration.ts()).0, [1]);
        tier.store.readers.close(registration);
        evicts.join().unwrap();
    });
}

/// A thread that did not get the latch reads the image back. No thread may link the cooling copy above that
/// image.
#[test]
fn a_touch_beside_one_who_reads_back_and_writes_links_nothing_old() {
    model(|| {
        let tier = tier(1);
        assert!(tier.cool());
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.reload();
            writer.commit(2);
        });
        tier.touch();
        writes.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
        ends_with_nothing(&tier, 2);
    });
}

/// The test before without a write: only the mark shows that the cooling chain is a copy.
#[test]
fn two_copies_of_a_chain_are_not_linked_above_each_other() {
    model(|| {
        let tier = tier(1);
        assert!(tier.cool());
        let other = tier.clone();
        let reads_back = thread::spawn(move || other.reload());
        tier.touch();
        reads_back.join().unwrap();
        assert_eq!(tier.read(Timestamp(1)).0, [1]);
        ends_with_nothing(&tier, 1);
    });
}

#[test]
fn a_writer_beside_cooling_and_the_end_of_the_queue_loses_nothing() {
    model(|| {
        let tier = tier(1);
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.cool();
            evictor.store.memory.retire_cooled(0);
        });
        tier.commit(2);
        evicts.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
        assert!(!tier.cool(), "what changed since the checkpoint stays");
        ends_with_nothing(&tier, 2);
    });
}

/// The chain that cools in the end has the last write, whichever chain cooled before.
#[test]
fn a_touch_beside_a_chain_that_changes_and_cools_again_sees_the_change() {
    model(|| {
        let tier = tier(1);
        assert!(tier.cool());
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.reload();
            writer.commit(2);
            writer.checkpoint(2);
            writer.cool();
        });
        tier.touch();
        writes.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)).0, [1, 2]);
        ends_with_nothing(&tier, 2);
    });
}
