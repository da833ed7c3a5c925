//! Reuse of ids: a commit overwrites the unversioned data of an id only if no reader sees the removed vertex.
//!
//! The checker skips schedules that it considers equal to others. It skips too many if other threads wait for
//! a step of the first thread. So the first thread is the reader, or has no step.

use std::sync::Arc;

use hedgerow_core::{Timestamp, VertexId};
use hedgerow_txn::{Clock, Counts, FreeId, FreeIds, ReaderRegistry, Registration};
use loom::cell::UnsafeCell;
use loom::thread;

const ID: VertexId = VertexId(0);
const OLD: u64 = 1;
const NEW: u64 = 2;
/// The timestamp of the commit that removes the only vertex. The second commit may give its id to another
/// vertex.
const DIED: Timestamp = Timestamp(1);
const BORN: Timestamp = Timestamp(2);

struct Store {
    clock: Clock,
    readers: ReaderRegistry,
    free: FreeIds,
    /// The key of the id. The checker reports a read that is not ordered before or after the overwriting.
    key: UnsafeCell<u64>,
}

// SAFETY: the checker verifies that no access to the cell is concurrent with a write.
unsafe impl Sync for Store {}

fn store() -> Arc<Store> {
    Arc::new(Store {
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY),
        readers: ReaderRegistry::default(),
        free: FreeIds::default(),
        key: UnsafeCell::new(OLD),
    })
}

impl Store {
    fn register(&self) -> Registration {
        self.readers.register(0, || Some((self.clock.published(), ()))).0
    }

    /// Returns the key that a reader finds under the id.
    fn read(&self, registration: &Registration) -> Option<u64> {
        let t = registration.ts();
        // SAFETY: the checker verifies that no write is concurrent.
        (t < DIED || t >= BORN).then(|| self.key.with(|key| unsafe { *key }))
    }

    fn check(&self, registration: &Registration) {
        let t = registration.ts();
        let expected = if t < DIED { Some(OLD) } else { (t >= BORN).then_some(NEW) };
        assert_eq!(self.read(registration), expected, "at {t:?}");
    }

    fn read_once(&self) {
        let registration = self.register();
        self.check(&registration);
        self.readers.close(registration);
    }

    fn remove(&self) {
        self.apply_removal();
        self.clock.complete(DIED, -1, 0);
    }

    fn apply_removal(&self) {
        let ts = self.clock.order().draw();
        assert_eq!(ts, DIED);
        self.free.removed(ID, ts);
    }

    /// Inserts a vertex if the id is free. Returns whether it did.
    fn insert(&self) -> bool {
        let oldest = || {
            let published = self.clock.published();
            self.readers.scan().oldest(published)
        };
        let Some(FreeId::Removed(id)) = self.free.take(oldest) else { return false };
        assert_eq!(id, ID);
        let ts = self.clock.order().draw();
        assert_eq!(ts, BORN);
        // SAFETY: the checker verifies that no access is concurrent.
        self.key.with_mut(|key| unsafe { *key = NEW });
        self.clock.complete(ts, 1, 0);
        true
    }
}

#[test]
fn an_id_is_not_given_out_while_a_registering_reader_may_see_its_vertex() {
    loom::model(|| {
        let store = store();
        let (remover, inserter, reader) = (store.clone(), store.clone(), store);
        let removes = thread::spawn(move || remover.remove());
        let inserts = thread::spawn(move || inserter.insert());
        let reads = thread::spawn(move || reader.read_once());
        removes.join().unwrap();
        inserts.join().unwrap();
        reads.join().unwrap();
    });
}

#[test]
fn an_id_is_not_given_out_before_its_removal_is_published() {
    loom::model(|| {
        let store = store();
        store.apply_removal();
        let (remover, inserter) = (store.clone(), store.clone());
        let publishes = thread::spawn(move || remover.clock.complete(DIED, -1, 0));
        let inserts = thread::spawn(move || inserter.insert());
        store.read_once();
        publishes.join().unwrap();
        inserts.join().unwrap();
    });
}

#[test]
fn an_id_is_given_out_once_the_last_reader_of_its_vertex_has_gone() {
    loom::model(|| {
        let store = store();
        let old = store.register();
        let writer = store.clone();
        let writes = thread::spawn(move || {
            writer.remove();
            writer.insert()
        });
        let newer = store.register();
        store.check(&old);
        store.check(&newer);
        store.readers.close(newer);
        store.check(&old);
        store.readers.close(old);
        let inserted = writes.join().unwrap();
        assert!(inserted || store.insert(), "nobody sees the vertex any more");
        store.read_once();
    });
}

#[test]
fn two_writers_do_not_get_the_same_id() {
    loom::model(|| {
        let store = store();
        store.remove();
        let other = store.clone();
        let inserts = thread::spawn(move || other.insert());
        let mine = store.insert();
        assert_ne!(mine, inserts.join().unwrap(), "one of the two, and not both: nobody reads");
    });
}
