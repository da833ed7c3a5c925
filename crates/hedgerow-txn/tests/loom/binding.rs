//! What a key names: a reader finds the vertex of its timestamp while the key goes over to another.

use std::sync::Arc;

use hedgerow_core::{Timestamp, VertexId};
use hedgerow_txn::{Bindings, Clock, Counts, ReaderRegistry};
use loom::thread;

const FIRST: VertexId = VertexId(1);
const SECOND: VertexId = VertexId(2);
/// When the key loses its first vertex, and when it gets its second.
const UNBOUND: Timestamp = Timestamp(1);
const BOUND: Timestamp = Timestamp(2);

struct Store {
    clock: Clock,
    readers: ReaderRegistry,
    bindings: Bindings,
}

/// The key names the first vertex from the beginning.
fn store() -> Arc<Store> {
    Arc::new(Store {
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY),
        readers: ReaderRegistry::default(),
        bindings: Bindings::new(FIRST, Timestamp(0)),
    })
}

impl Store {
    fn apply_unbind(&self) {
        let ts = self.clock.order().draw();
        assert_eq!(ts, UNBOUND);
        self.bindings.unbind(ts);
    }

    fn publish_unbind(&self) {
        self.clock.complete(UNBOUND, -1, 0);
    }

    /// Binds the key, which has lost its first vertex, to its second. One thread changes the key after the other: of the
    /// latch nothing is left to explore.
    fn bind(&self) {
        let ts = self.clock.order().draw();
        assert_eq!(ts, BOUND);
        let published = self.clock.published();
        let oldest = self.readers.scan().oldest(published).unwrap_or(Timestamp::ZERO);
        self.bindings.bind(SECOND, ts, oldest);
        self.clock.complete(ts, 1, 0);
    }

    fn check(&self, t: Timestamp) {
        let expected = if t < UNBOUND { Some(FIRST) } else { (t >= BOUND).then_some(SECOND) };
        assert_eq!(self.bindings.at(t), expected, "at {t:?}");
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
        let writer = store.clone();
        let writes = thread::spawn(move || {
            writer.apply_unbind();
            writer.publish_unbind();
            writer.bind();
        });
        store.read();
        store.read();
        writes.join().unwrap();
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
        let writer = store.clone();
        let writes = thread::spawn(move || {
            writer.apply_unbind();
            writer.publish_unbind();
            writer.bind();
        });
        store.check(old.ts());
        writes.join().unwrap();
        store.check(old.ts());
        store.readers.close(old);
        store.read();
    });
}
