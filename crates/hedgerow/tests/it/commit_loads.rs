//! A commit to many subgraphs has all of them in memory at once, in a memory that has room for little more.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::CountingFs;
use hedgerow::{Durability, KeyKind, LEAST_MEMORY_LIMIT, Options, WriteTxn};
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

#[test]
fn a_commit_to_many_subgraphs_has_room_for_all_of_them_made_at_once() {
    let disk = store();
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    // What changes is kept as it was, too.
    let held = graph.snapshot().unwrap();
    let edges = held.edge_count().unwrap();
    let mut removed = 0;
    for round in 0..4 {
        let sources =
            (round % STEP..SUBGRAPHS).step_by(STEP as usize).map(|subgraph| subgraph * SUBGRAPH + round);
        let before = counters.read_bytes.load(Relaxed);
        graph
            .transact(3, |tx: &mut WriteTxn| {
                removed = 0;
                sources.clone().try_for_each(|v| {
                    removed += u64::from(tx.remove_edge(v, destination(v, round))?);
                    Ok::<_, hedgerow::Error>(())
                })
            })
            .unwrap();
        let read = counters.read_bytes.load(Relaxed) - before;
        println!("{round}: {read} bytes read, {removed} edges removed");
        assert!(
            removed == SUBGRAPHS / STEP && read <= MOST_READ,
            "{read} bytes read, {removed} edges removed"
        );
    }
    assert_eq!(held.edge_count().unwrap(), edges);
}
