//! The registry: a reclaimer judges no version dead that a registering reader needs.

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_txn::{Clock, Counts, ReaderRegistry};
use loom::thread;

pub(crate) struct Store {
    pub(crate) clock: Clock,
    pub(crate) readers: ReaderRegistry,
}

pub(crate) fn store() -> Arc<Store> {
    let clock = Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY);
    Arc::new(Store { clock, readers: ReaderRegistry::default() })
}

pub(crate) fn register(store: &Store, hint: usize) -> hedgerow_txn::Registration {
    store.readers.register(hint, || Some((store.clock.published(), ()))).0
}

/// Publishes a commit, then judges the version before it as a reclaimer does. Returns `true` if that version
/// is dead.
pub(crate) fn publish_and_judge(store: &Store) -> bool {
    let ts = store.clock.order().draw();
    store.clock.complete(ts, 0, 0);
    let published = store.clock.published();
    let active = store.readers.scan();
    published >= ts && !active.registering && active.newest_in(Timestamp(0), ts).is_none()
}

#[test]
fn a_reader_keeps_the_version_that_it_reads() {
    loom::model(|| {
        let store = store();
        let writer = store.clone();
        let judge = thread::spawn(move || publish_and_judge(&writer));
        let registration = register(&store, 0);
        let dead = judge.join().unwrap();
        assert!(!dead || registration.ts() >= Timestamp(1), "the version was freed under its reader");
        store.readers.close(registration);
    });
}

/// The reader stores the published timestamp in a slot. Then a commit is published, so the reader must store
/// the new timestamp. Then another commit is published.
#[test]
fn a_reader_that_registers_late_keeps_the_version_that_it_reads() {
    loom::model(|| {
        let store = store();
        let writer = store.clone();
        let judge = thread::spawn(move || [publish_and_judge(&writer), publish_and_judge(&writer)]);
        let registration = register(&store, 0);
        let dead = judge.join().unwrap();
        for (ts, dead) in (1..).zip(dead) {
            let seen = registration.ts();
            assert!(
                !dead || seen >= Timestamp(ts),
                "the version before {ts} was freed under its reader of {seen:?}"
            );
        }
        store.readers.close(registration);
    });
}

#[test]
fn a_reclaimer_that_did_not_publish_itself_judges_by_what_it_loaded() {
    loom::model(|| {
        let store = store();
        let writer = store.clone();
        let publisher = thread::spawn(move || {
            let ts = writer.clock.order().draw();
            writer.clock.complete(ts, 0, 0);
        });
        let reclaimer = store.clone();
        let judge = thread::spawn(move || {
            let published = reclaimer.clock.published();
            let active = reclaimer.readers.scan();
            let unread = !active.registering && active.newest_in(Timestamp(0), Timestamp(1)).is_none();
            published >= Timestamp(1) && unread
        });
        let registration = register(&store, 0);
        let dead = judge.join().unwrap();
        assert!(!dead || registration.ts() >= Timestamp(1), "the version was freed under its reader");
        store.readers.close(registration);
        publisher.join().unwrap();
    });
}

#[test]
fn two_readers_that_meet_at_a_slot_both_pin() {
    loom::model(|| {
        let store = store();
        let other = store.clone();
        let reader = thread::spawn(move || register(&other, 0));
        let mine = register(&store, 0);
        let theirs = reader.join().unwrap();
        let active = store.readers.scan();
        assert!(!active.registering);
        assert_eq!(active.timestamps(), [Timestamp(0)]);
        store.readers.close(mine);
        assert_eq!(store.readers.scan().timestamps(), [Timestamp(0)], "the other one still reads");
        store.readers.close(theirs);
        assert!(store.readers.scan().timestamps().is_empty());
    });
}

#[test]
fn a_slot_that_is_given_back_and_taken_again_pins_the_new_timestamp() {
    loom::model(|| {
        let store = store();
        let first = register(&store, 0);
        let reader = store.clone();
        let again = thread::spawn(move || {
            reader.readers.close(first);
            register(&reader, 0)
        });
        let dead = publish_and_judge(&store);
        let second = again.join().unwrap();
        assert!(!dead || second.ts() >= Timestamp(1));
        store.readers.close(second);
    });
}
