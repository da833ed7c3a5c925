//! A commit to many subgraphs has all of them in memory at once, in a memory that has room for little more.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::CountingFs;
use hedgerow::{CommitError, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, WriteTxn};
use hedgerow_testkit::SimFs;

/// Vertices of a subgraph, and subgraphs, of 7 kB each.
const SUBGRAPH: u64 = 64;
const SUBGRAPHS: u64 = 3_000;
const EDGES: u64 = 9;
/// Each commit changes so many subgraphs, which take half of the limit with what they are merged into.
const STEP: u64 = 6;
/// No commit reads more bytes of files than this, with those of the checkpoints that it waits for: it does not read what it has read again and again.
const MOST_READ: u64 = 60 << 20;

fn options() -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(true).reverse(false).weighted(true);
    options.durability(Durability::Manual).background_settling(false)
}

fn destination(source: u64, round: u64) -> u64 {
    (source * 31 + round * 104_729) % (SUBGRAPHS * SUBGRAPH)
}

fn store() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    for round in 0..EDGES {
        let edges: Vec<_> = (0..SUBGRAPHS * SUBGRAPH).map(|v| (v, destination(v, round))).collect();
        graph.insert_edges(&edges).unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Removes an edge of one of so many subgraphs each; how many there were.
fn remove(graph: &Graph, step: u64, round: u64) -> hedgerow::Result<u64> {
    let subgraphs = (round % step..SUBGRAPHS).step_by(step as usize);
    graph
        .transact(3, |tx: &mut WriteTxn| {
            subgraphs.clone().map(|subgraph| subgraph * SUBGRAPH + round).try_fold(0, |removed, v| {
                Ok::<_, Error>(removed + u64::from(tx.remove_edge(v, destination(v, round))?))
            })
        })
        .map(|(removed, _)| removed)
}

#[test]
fn a_commit_to_many_subgraphs_has_room_for_all_of_them_made_at_once() {
    let disk = store();
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    // What changes is kept as it was, too.
    let held = graph.snapshot().unwrap();
    let edges = held.edge_count().unwrap();
    for round in 0..4 {
        let before = counters.read_bytes.load(Relaxed);
        assert_eq!(remove(&graph, STEP, round).unwrap(), SUBGRAPHS / STEP);
        let read = counters.read_bytes.load(Relaxed) - before;
        assert!(read <= MOST_READ, "{read} bytes read");
    }
    // All subgraphs take more than there is.
    let refused = remove(&graph, 1, 5);
    assert!(matches!(refused, Err(Error::Commit(CommitError::MemoryLimit { .. }))), "{refused:?}");
    assert_eq!(remove(&graph, SUBGRAPHS, 5).unwrap(), 1);
    assert_eq!(held.edge_count().unwrap(), edges);
}
