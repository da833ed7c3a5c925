//! The table of keys: a reader finds the vertex of its timestamp while the key goes over to another, while an
//! id is reused, and while the index grows.

//!
//! Writers are the first thread. The checker runs that one first; it finds that a load may come before a
//! store that it saw before the load, but not that a store may come before a load if the storing thread
//! itself loaded in between, as these writers do.

use std::sync::Arc;

use hedgerow_core::{KindId, Timestamp, VertexId, VertexKeyRef};
use hedgerow_mem::KeyTable;
use hedgerow_txn::{Clock, Counts, ReaderRegistry};
use loom::sync::Mutex;
use loom::thread;

const KEY: VertexKeyRef<'static> = VertexKeyRef::U64(77);
const FIRST: VertexId = VertexId(1);
const SECOND: VertexId = VertexId(2);
/// When the key loses its first vertex, and when it gets its second.
const UNBOUND: Timestamp = Timestamp(1);
const BOUND: Timestamp = Timestamp(2);

struct Store {
    clock: Clock,
    readers: ReaderRegistry,
    keys: KeyTable,
}

/// The key names the first vertex from the beginning.
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

    /// Binds the key, which has lost its first vertex, to its second. One thread changes the key after the
    /// other: of the latch nothing is left to explore.
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

/// No reader can see any more that the key named the id, so the id goes to another key. A reader finds what
/// its snapshot says, never the new key's vertex before it is there, nor the old key's.
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

/// As before, and the new key loses the id at once: the end of the second binding is not that of the first.
#[test]
fn an_id_goes_to_another_key_and_is_lost_again() {
    another_key_loses_the_id(false);
}

/// The same where stamps do not say since when: the row that was bound first in the cache line has other high
/// bits.
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
        // It began when the first binding had ended, and before the second.
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

/// A binding ends beside a reader that still sees it, although its stamp does not say since when.
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

/// What a look does that finds nothing in a table beside segments, which say that the key names the first
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

/// Two look for a key that is in segments alone, one of them to remove its vertex: the other finds it at its
/// snapshot.
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

/// The id goes to another key, while one looks for the key that segments still say it to have, at a snapshot
/// that does not see it any more.
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

/// What looks at the newest state ask for.
const NEWEST: Timestamp = Timestamp(u64::MAX - 1);

/// The id of a removed vertex goes to one of another kind with the same number. A reader at a snapshot finds
/// neither of them. A look at the newest state may take the new vertex for the old one; a look-up that holds
/// the latch of the vertex distinguishes them.
fn an_id_goes_to_another_kind(from: KindId, to: KindId) {
    // Whether a look took the one for the other in some interleaving: else the model shows little. Not the
    // checker's.
    let mistaken = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = mistaken.clone();
    loom::model(move || {
        let keys = Arc::new(KeyTable::new(false));
        [from, to].into_iter().for_each(|kind| keys.add_kind(kind, false));
        let of = [from, to].map(|kind| kind.key(77u64));
        keys.bind(of[0], FIRST, Timestamp(0), Timestamp::ZERO);
        keys.unbind(FIRST, UNBOUND);
        // The kind that the id is bound to, under the latch of the vertex.
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

/// The table of the index is replaced by a larger one while readers look into it.
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

/// The words of a text that went are those of another: a reader that still compares them is not misled.
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
