//! Readers against writers, merges and reclamation. A reader always sees exactly the commits up to its
//! timestamp.

use std::sync::Arc;

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Timestamp, VertexId};
use hedgerow_mem::Ops;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::version::{NotInMemory, Read};
use hedgerow_mem::{EdgeOp, Horizon, Memory, Pin, Subgraph, SubgraphPage, SubgraphTable};
use hedgerow_txn::{ActiveReaders, Clock, Counts, ReaderRegistry, Registration};
use loom::thread;

pub(crate) const V: LocalVertex = LocalVertex(3);

pub(crate) struct Store {
    pub(crate) page: SubgraphPage,
    pub(crate) memory: Memory,
    pub(crate) clock: Clock,
    pub(crate) readers: ReaderRegistry,
}

pub(crate) struct Live<'a> {
    published: Timestamp,
    active: ActiveReaders<'a>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(published: Timestamp, active: ActiveReaders<'a>) -> Live<'a> {
        Live { published, active }
    }
}

impl Horizon for Live<'_> {
    fn published(&self) -> Timestamp {
        self.published
    }

    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
        if begin >= end {
            return None;
        }
        let newest = self.active.newest_in(begin, end).map(Pin::Snapshot);
        newest.or(self.active.registering.then_some(Pin::Registering(end)))
    }
}

pub(crate) fn store() -> Arc<Store> {
    let memory = Memory::default();
    Arc::new(Store {
        page: SubgraphTable::new(memory.clone()).new_page(1),
        memory,
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY),
        readers: ReaderRegistry::default(),
    })
}

impl Store {
    pub(crate) fn subgraph(&self) -> &Subgraph {
        &self.page[0]
    }

    pub(crate) fn horizon(&self) -> Live<'_> {
        let published = self.clock.published();
        Live::new(published, self.readers.scan())
    }

    /// Commits one operation, which inserts or removes the edge to `dst`.
    pub(crate) fn commit(&self, dst: u32, op: EdgeOp) {
        let mut latched = self.subgraph().latch();
        let ts = self.clock.order().draw();
        let op = LocalOp { local: V, op, dst: VertexId(dst), weight: 0.0 };
        let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &self.horizon());
        drop(latched);
        self.clock.complete(ts, 0, 0);
    }

    pub(crate) fn register(&self) -> Registration {
        self.readers.register(0, || Some((self.clock.published(), ()))).0
    }

    /// Returns the neighbors that a reader at `t` sees.
    pub(crate) fn read(&self, t: Timestamp) -> Vec<u32> {
        let mut seen = Vec::new();
        self.subgraph()
            .read(Direction::Out, t, |read| read.for_each_neighbor(V, |v, _| seen.push(v.0)))
            .unwrap();
        seen
    }

    pub(crate) fn versions(&self) -> usize {
        self.subgraph().versions(Direction::Out).len()
    }

    pub(crate) fn reclaim(&self) -> Vec<Pin> {
        // Simulates that the oldest version waits for a commit that is now published.
        let all = Pin::Unpublished(Timestamp::ZERO);
        self.subgraph().latch().reclaim(Direction::Out, all, &self.horizon()).into_iter().collect()
    }
}

/// Returns the neighbors after the commit `t` of a run that inserts 1, 2, 3, ... one at a time.
pub(crate) fn inserted(t: Timestamp) -> Vec<u32> {
    (1..=t.0 as u32).collect()
}

/// Calls `check` with the timestamp of a reader, concurrent with a commit that appends the edge to 2. An
/// earlier commit inserted the edge to 1.
fn beside_an_append(check: fn(&Store, Timestamp)) {
    loom::model(move || {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let writer = store.clone();
        let appends = thread::spawn(move || writer.commit(2, EdgeOp::Insert));
        let registration = store.register();
        check(&store, registration.ts());
        store.readers.close(registration);
        appends.join().unwrap();
    });
}

#[test]
fn a_reader_beside_appends_sees_a_prefix() {
    beside_an_append(|store, t| assert_eq!(store.read(t), inserted(t)));
}

/// The evictor takes a chain of two versions out of memory while a reader reads the older one. The reader
/// finds that version, or the error that it is not in memory. It never finds the chain empty.
#[test]
fn a_reader_beside_an_eviction_finds_its_version_or_none_in_memory() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let registration = store.register();
        store.commit(2, EdgeOp::Insert);
        let _ = store.subgraph().latch().settle(Direction::Out, false, &store.horizon());
        let evictor = store.clone();
        let evicts = thread::spawn(move || {
            evictor.subgraph().latch().evict(Direction::Out);
            evictor.memory.retire_list().drain();
        });
        let mut seen = Vec::new();
        let look = |read: Read<'_>| read.for_each_neighbor(V, |v, _| seen.push(v.0));
        match store.subgraph().read(Direction::Out, registration.ts(), look) {
            Ok(found) => assert!(found.is_some() && seen == [1], "{found:?}, {seen:?}"),
            Err(NotInMemory) => assert_eq!(seen, []),
        }
        evicts.join().unwrap();
        let read = store.subgraph().read(Direction::Out, registration.ts(), |_| ());
        assert_eq!(read, Err(NotInMemory), "after the eviction");
        store.readers.close(registration);
    });
}

/// A look-up of one edge asks the Bloom filter of the delta. It reads the length of the log only if the
/// filter has the edge.
#[test]
fn a_look_beside_appends_finds_just_the_edges_of_its_timestamp() {
    beside_an_append(|store, t| {
        let has = |dst| {
            store
                .subgraph()
                .edge(Direction::Out, t, V, VertexId(dst), InterpolationHint::UNKNOWN)
                .unwrap()
                .is_some()
        };
        assert_eq!([1, 2].map(has), [true, t.0 == 2]);
    });
}

#[test]
fn a_reader_beside_a_merge_sees_its_timestamp() {
    loom::model(|| {
        let store = store();
        // Under the checker the delta has room for two entries, so the third commit merges.
        store.commit(1, EdgeOp::Insert);
        store.commit(2, EdgeOp::Insert);
        let writer = store.clone();
        let merges = thread::spawn(move || writer.commit(3, EdgeOp::Insert));
        let registration = store.register();
        assert_eq!(store.read(registration.ts()), inserted(registration.ts()));
        assert_eq!(store.read(registration.ts()), inserted(registration.ts()), "reads repeat");
        store.readers.close(registration);
        merges.join().unwrap();
        assert_eq!(store.read(Timestamp(3)), [1, 2, 3]);
    });
}

#[test]
fn an_old_snapshot_survives_merges_that_it_began_before() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let old = store.register();
        let writer = store.clone();
        let merges = thread::spawn(move || {
            writer.commit(2, EdgeOp::Insert);
            writer.commit(1, EdgeOp::Remove);
            writer.commit(4, EdgeOp::Insert);
        });
        assert_eq!(store.read(old.ts()), [1]);
        merges.join().unwrap();
        assert_eq!(store.read(old.ts()), [1]);
        assert_eq!(store.read(Timestamp(4)), [2, 4]);
        store.readers.close(old);
        assert!(store.reclaim().is_empty());
        assert_eq!(store.versions(), 1, "nothing needs the old versions");
    });
}

#[test]
fn reclamation_beside_a_registering_reader_frees_nothing_that_it_needs() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        store.commit(2, EdgeOp::Insert);
        let reader = store.clone();
        let reads = thread::spawn(move || {
            let registration = reader.register();
            let seen = reader.read(registration.ts());
            assert_eq!(seen, inserted(registration.ts()));
            reader.readers.close(registration);
        });
        store.commit(3, EdgeOp::Insert);
        let _ = store.reclaim();
        reads.join().unwrap();
        let _ = store.reclaim();
        assert_eq!(store.versions(), 1);
    });
}

#[test]
fn settling_beside_a_reader_changes_nothing() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        store.commit(2, EdgeOp::Insert);
        let settler = store.clone();
        let settles = thread::spawn(move || {
            let horizon = settler.horizon();
            let _ = settler.subgraph().latch().settle(Direction::Out, false, &horizon);
        });
        let registration = store.register();
        assert_eq!(store.read(registration.ts()), [1, 2]);
        settles.join().unwrap();
        assert_eq!(store.read(registration.ts()), [1, 2]);
        store.readers.close(registration);
    });
}

#[test]
fn a_view_keeps_its_version_after_the_snapshot_is_gone() {
    loom::model(|| {
        let store = store();
        store.commit(1, EdgeOp::Insert);
        let registration = store.register();
        let version = store.subgraph().version(Direction::Out, registration.ts()).unwrap().unwrap();
        let ts = registration.ts();
        store.readers.close(registration);
        let writer = store.clone();
        let merges = thread::spawn(move || {
            writer.commit(2, EdgeOp::Insert);
            writer.commit(3, EdgeOp::Insert);
            writer.reclaim();
        });
        assert_eq!(version.at(ts).degree(V), 1);
        merges.join().unwrap();
        assert_eq!(version.at(ts).degree(V), 1);
    });
}
