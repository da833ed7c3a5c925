//! A program in which the id of a vertex goes to a vertex of another kind with the same number. At the same
//! time, a thread writes an edge to the first vertex, and a reader looks up both by their kinds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{CommitError, Direction, Error, Graph, KeyKind, KindId, Options, Snapshot, VertexKeyRef};

/// The number of rounds of the test. Each explores many schedules.
pub(crate) const ROUNDS: u64 = 60;

/// The number of the vertices of both kinds.
const NUMBER: u64 = 7;
/// The other end of the edge, a vertex of the default kind.
const END: u64 = 3;
/// The number of snapshots of the reader.
const LOOKS: usize = 2;

/// The way in which the edge is written. The commit of each way must check again whether the ids still have
/// their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A single operation.
    Single,
    /// A transaction that inserts no vertex, so it commits in the general way. It reads nothing, so no
    /// snapshot keeps the id.
    General,
    /// Two edges, as a commit of a few operations.
    Few,
    /// Two edges, one of them twice, as a batch.
    Batch,
}

impl Way {
    const ALL: [Way; 4] = [Way::Single, Way::General, Way::Few, Way::Batch];

    /// Returns the way of a seed. Each way occurs with both schedulers, which alternate.
    pub(crate) fn of(seed: u64) -> Way {
        Way::ALL[(seed / 2 % 4) as usize]
    }

    fn join(self, graph: &Graph, src: VertexKeyRef<'_>) {
        let dst = VertexKeyRef::U64(END);
        let written = match self {
            Way::Single => graph.insert_edge((src, dst)).map(|_| ()),
            Way::General => graph
                .transact(100, |tx| {
                    tx.create_endpoints(false)?;
                    tx.put_edge((src, dst))
                })
                .map(|_| ()),
            Way::Few => graph.transact(100, |tx| tx.put_edges([(src, dst), (dst, dst)])).map(|_| ()),
            Way::Batch => {
                graph.transact(100, |tx| tx.put_edges([(src, dst), (dst, dst), (dst, dst)])).map(|_| ())
            }
        };
        match written {
            Ok(()) => {}
            Err(Error::Commit(CommitError::NoSuchVertex { .. })) if self == Way::General => {}
            Err(error) => panic!("{self:?}: {error}"),
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
    /// The number of schedules in which the vertex of the other kind got the id.
    pub(crate) moved: Arc<AtomicU64>,
}

/// Checks both vertices in a snapshot: each key names a vertex that has that key, no vertex has both keys,
/// and only the first vertex has an edge to the end.
fn check(snapshot: &Snapshot, [first, second]: [VertexKeyRef<'static>; 2]) {
    let ids = [first, second].map(|key| snapshot.vertex_id(key).unwrap());
    for (key, id) in [first, second].into_iter().zip(ids) {
        let found = id.and_then(|id| snapshot.vertex_key(id).unwrap());
        assert_eq!(found, id.map(|_| key.to_owned()), "the vertex of {key} has another key");
    }
    assert!(ids[0].is_none() || ids[0] != ids[1], "one vertex of two kinds");
    let into = snapshot.neighbors(END, ("", Direction::In)).unwrap().expect("it stays");
    let wanted = |key: VertexKeyRef<'_>| key == VertexKeyRef::U64(END) || (key == first && ids[0].is_some());
    assert!(into.iter().all(|key| wanted(key.as_ref())), "an edge that nobody asked for, {into:?}");
    let counts = [first, second].map(|key| snapshot.scan_vertices().unwrap().count_of(key.kind()).unwrap());
    assert_eq!(counts, ids.map(|id| u64::from(id.is_some())));
}

/// One thread joins two vertices. Another one removes one of them and inserts a vertex of another kind with
/// the same number. The new vertex gets the same id, unless a snapshot sees the removed vertex. A third
/// thread reads both.
///
/// In each schedule, the vertex of the other kind has no edge. The removed vertex exists again if and only if
/// the edge was inserted last, and then it has the edge.
pub(crate) fn program(way: Way, tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let graph = Options::new().keys(KeyKind::U64).background_settling(false).in_memory().expect("new");
        let keys = ["a", "b"].map(|name| graph.define_kind(name, KeyKind::U64).expect("new").key(NUMBER));
        let mut tx = graph.write().expect("open");
        [keys[0], KindId::DEFAULT.key(END)]
            .into_iter()
            .for_each(|key| _ = tx.insert_vertex(key).expect("new"));
        tx.commit().expect("nothing conflicts");
        let before = graph.snapshot().expect("open").vertex_id(keys[0]).expect("inserted");
        let other = {
            let (graph, tally) = (graph.clone(), tally.clone());
            shuttle::thread::spawn(move || {
                graph.transact(100, |tx| tx.remove_vertex(keys[0])).expect("it retries");
                graph.transact(100, |tx| tx.insert_vertex(keys[1])).expect("it retries");
                let id = graph.snapshot().expect("open").vertex_id(keys[1]).expect("inserted");
                tally.moved.fetch_add(u64::from(id == before), Ordering::Relaxed);
            })
        };
        let reader = {
            let graph = graph.clone();
            shuttle::thread::spawn(move || {
                (0..LOOKS).for_each(|_| check(&graph.snapshot().expect("open"), keys));
            })
        };
        way.join(&graph, keys[0]);
        other.join().expect("no thread panics");
        reader.join().expect("no thread panics");
        let last = graph.snapshot().expect("open");
        check(&last, keys);
        assert_eq!(last.degree(keys[1], ("", Direction::Out)).unwrap(), Some(0));
        let [edge, vertex] = [last.contains_edge((keys[0], END)), last.contains_vertex(keys[0])];
        assert_eq!(edge.unwrap(), vertex.unwrap(), "the edge goes with its vertex, and comes with it");
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
