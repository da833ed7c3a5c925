//! Reuse of ids: a new vertex gets the id of a removed one, in the versions of a subgraph and by the rule
//! that assigns its id.

use std::sync::Arc;

use hedgerow_core::{Direction, Timestamp, VertexId};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::Ops;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_txn::{FreeId, FreeIds, Registration};
use loom::cell::UnsafeCell;
use loom::thread;

use crate::versions::{Store, V, store};

const OLD: u64 = 1;
const NEW: u64 = 2;

struct Keyed {
    store: Arc<Store>,
    free: FreeIds,
    /// The key of the id, which has no versions. The checker reports accesses that are not ordered.
    key: UnsafeCell<u64>,
}

// SAFETY: the checker verifies that no access to the cell is concurrent with a write.
unsafe impl Sync for Keyed {}

/// Returns a store in which the vertex with the old key exists since timestamp 1.
fn keyed() -> Arc<Keyed> {
    let keyed = Keyed { store: store(), free: FreeIds::default(), key: UnsafeCell::new(0) };
    assert_eq!(keyed.commit(true, || keyed.set_key(OLD)), Timestamp(1));
    Arc::new(keyed)
}

impl Keyed {
    fn set_key(&self, key: u64) {
        // SAFETY: the checker verifies that no access is concurrent.
        self.key.with_mut(|cell| unsafe { *cell = key });
    }

    /// Commits the insertion or removal of the vertex. Calls `bind` before it changes the versions, as a
    /// commit does.
    fn commit(&self, exists: bool, bind: impl FnOnce()) -> Timestamp {
        let store = &self.store;
        let mut latched = store.subgraph().latch();
        assert_ne!(latched.contains_vertex(V), exists);
        let ts = store.clock.order().draw();
        bind();
        let op = LocalOp { local: V, op: EdgeOp::Vertex, dst: VertexId(exists.into()), weight: 0.0 };
        let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &store.horizon());
        drop(latched);
        store.clock.complete(ts, if exists { 1 } else { -1 }, 0);
        ts
    }

    fn remove(&self) {
        let noted = Timestamp(2);
        let ts = self.commit(false, || self.free.removed(VertexId(V.0.into()), noted));
        assert_eq!(ts, noted);
    }

    /// Inserts the vertex with the new key if the id is free. Returns whether it did.
    fn insert(&self) -> bool {
        let oldest = || {
            let published = self.store.clock.published();
            self.store.readers.scan().oldest(published)
        };
        let Some(FreeId::Removed(_)) = self.free.take(oldest) else { return false };
        assert_eq!(self.commit(true, || self.set_key(NEW)), Timestamp(3));
        true
    }

    /// Checks that a reader finds the vertex of its timestamp, or none.
    fn check(&self, registration: &Registration) {
        let t = registration.ts();
        let read = self.store.subgraph().read(Direction::Out, t, |read| read.contains_vertex(V));
        // SAFETY: the checker verifies that no write is concurrent.
        let found = (read == Ok(Some(true))).then(|| self.key.with(|key| unsafe { *key }));
        let expected = [None, Some(OLD), None, Some(NEW)][t.0 as usize];
        assert_eq!(found, expected, "at {t:?}");
    }

    fn read(&self) {
        let registration = self.store.register();
        self.check(&registration);
        self.store.readers.close(registration);
    }
}

#[test]
fn a_registering_reader_finds_the_vertex_of_its_timestamp() {
    loom::model(|| {
        let keyed = keyed();
        let writer = keyed.clone();
        let writes = thread::spawn(move || {
            writer.remove();
            writer.insert()
        });
        keyed.read();
        let inserted = writes.join().unwrap();
        assert!(inserted || keyed.insert(), "nobody sees the old vertex any more");
        keyed.read();
    });
}

#[test]
fn an_old_snapshot_keeps_the_id_of_its_vertex() {
    loom::model(|| {
        let keyed = keyed();
        let old = keyed.store.register();
        let writer = keyed.clone();
        let writes = thread::spawn(move || {
            writer.remove();
            writer.insert()
        });
        keyed.check(&old);
        keyed.check(&old);
        keyed.store.readers.close(old);
        let inserted = writes.join().unwrap();
        assert!(inserted || keyed.insert(), "nobody sees the old vertex any more");
        keyed.read();
    });
}
