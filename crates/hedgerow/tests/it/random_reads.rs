//! Threads read at random chains that memory has no room for, and evict each other's chains. All threads end,
//! and no thread reads the same data again and again.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::CountingFs;
use hedgerow::{Direction, Graph, LEAST_MEMORY_LIMIT, VertexId};
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::commit_loads::{EDGES, SUBGRAPH, SUBGRAPHS, destination, options, store};
use crate::common::account;

const READERS: u64 = 2;
/// The number of visits of chains by each thread, and the number of lists that a visit reads. At the eighth
/// read of a chain the store loads it, even if it has to evict other chains.
const VISITS: u64 = 4_000;
const READS_OF_VISIT: u64 = 9;
/// The most bytes that all threads may read from files. Idle and loaded machines read 50 to 63 MB. It was 77
/// MB when each load evicted all chains. It was 90 to 500 MB when the store repeated loads of a page, because
/// each load underestimated its memory again.
const MOST_READ: u64 = 70 << 20;

/// Reads lists of random chains, and compares each with the written list.
fn read(graph: &Graph, seed: u64) {
    let (snapshot, mut rng) = (graph.snapshot().unwrap(), SplitMix64::new(seed));
    for _ in 0..VISITS {
        let first = rng.below(SUBGRAPHS) * SUBGRAPH;
        for _ in 0..READS_OF_VISIT {
            let v = first + rng.below(SUBGRAPH);
            let mut found = Vec::new();
            let read =
                snapshot.default_label().visit_neighbors(VertexId(v as u32), Direction::Out, |run, _| {
                    found.extend(run.iter().map(|neighbor| u64::from(neighbor.0)));
                });
            read.unwrap();
            let mut expected: Vec<u64> = (0..EDGES).map(|round| destination(v, round)).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "vertex {v}");
        }
    }
}

#[test]
fn random_reads_that_exchange_chains_end_and_do_not_read_all_again() {
    let disk = store();
    let written: u64 =
        disk.files().iter().filter(|(name, _)| name.ends_with(".csr")).map(|(_, b)| b.len() as u64).sum();
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(Arc::new(fs)).unwrap();
    graph.internals().most_memory_used();
    std::thread::scope(|scope| {
        let graph = &graph;
        (0..READERS).for_each(|seed| _ = scope.spawn(move || read(graph, seed)));
    });
    let bytes = counters.read_bytes.load(Relaxed);
    let stats = account::check(&graph).unwrap();
    let most = graph.internals().most_memory_used();
    assert!(most <= LEAST_MEMORY_LIMIT, "{most} bytes");
    // About half of the chains are in memory, and the threads read many of them from files more than once.
    let share = 100 * stats.main_bytes / (SUBGRAPHS * SUBGRAPH * EDGES * 12);
    assert!((35..=75).contains(&share), "{share} % of the chains");
    assert!((written..=MOST_READ).contains(&bytes), "{bytes} bytes read of {written}");
}
