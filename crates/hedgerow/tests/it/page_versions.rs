//! Open snapshots while the graph changes and the store evicts their data: the snapshots still see it, and
//! commits go on.

use std::time::Duration;

use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, Snapshot,
    TieredView, VertexId,
};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{self, Outcome};
use hedgerow_testkit::SimFs;
use hedgerow_workload::rng::Rng;

use crate::cold::{Pair, read};
use crate::common;

/// Every kind of point read agrees with a resident store, more than 20 times in each graph. The reads use
/// several open snapshots, which close in any order.
pub(crate) fn reads_of_held_snapshots_say_what_those_of_a_resident_store_say() {
    let graphs = [(true, true, false), (false, true, true), (true, false, true)];
    for (seed, (directed, reverse, weighted)) in graphs.into_iter().enumerate() {
        let mut pair = Pair::new(100 + seed as u64, directed, reverse, weighted);
        pair.make_hub();
        assert!(reads_agree(pair, 14, 11) > 100);
    }
}

/// The same test with one small graph, which grows.
pub(crate) fn reads_of_held_snapshots_of_a_graph_that_grows() {
    assert!(reads_agree(Pair::new(7, true, true, false), 8, 40) > 50);
}

/// Writes in `rounds` rounds, opens snapshots, evicts their versions, and reads each snapshot several times.
/// Returns the number of evicted subgraphs. A read of the hub joins thousands of edges with properties.
fn reads_agree(mut pair: Pair, rounds: usize, reads: usize) -> usize {
    let (mut held, mut evicted): (Vec<[Snapshot; 2]>, usize) = (Vec::new(), 0);
    for _ in 0..rounds {
        pair.write();
        held.push([&pair.resident, &pair.cold].map(|graph| graph.snapshot().unwrap()));
        pair.write();
        match pair.rng.below(4) {
            0 => {}
            1 => _ = pair.cold.compact().unwrap(),
            _ => _ = pair.cold.checkpoint().unwrap(),
        }
        pair.cold.internals().write_page_versions().unwrap();
        evicted += pair.cold.internals().evict().unwrap();
        for [resident, cold] in &held {
            for _ in 0..reads {
                let (which, v, w) = (pair.rng.next_u64(), pair.vertex(), pair.vertex());
                let [resident, cold] = [resident, cold].map(|snapshot| read(snapshot, which, v, w));
                assert!(resident == cold, "read {} of {v} and {w}: {resident} and {cold}", which % 22);
            }
        }
        if held.len() > 3 {
            held.swap_remove(pair.rng.below(held.len() as u64) as usize);
        }
    }
    held.clear();
    assert!(pair.cold.check().unwrap().is_ok());
    common::account::check(&pair.cold).unwrap();
    evicted
}

const VERTICES: u64 = 1 << 16;
const EDGES: u64 = 3_000_000;
/// The number of neighboring vertices that an edge stays within.
const RANGE: u64 = 1 << 8;

/// Returns the results of kernels, of a scan and of reads of single lists.
fn all_of(snapshot: &Snapshot) -> (Vec<Outcome>, u64, u64) {
    let view = TieredView::new(snapshot, "").unwrap();
    let run = |name: &str| {
        let kernel = registry::find(name).unwrap();
        let mut arguments = kernel.arguments();
        if name == "bfs" {
            arguments.set("source", VertexId(1)).unwrap();
        }
        hedgerow_analytics::run_by_page(&arguments, &view, &Cancel::new()).unwrap()
    };
    let outcomes = ["bfs", "wcc"].map(run).into();
    let mut sum = 0_u64;
    let mix = |a: u64, b: u64| (a << 32 | b).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    snapshot
        .for_each_edge("", |e| sum = sum.wrapping_add(mix(u64::from(e.src().0), u64::from(e.dst().0))))
        .unwrap();
    let degrees = (0..VERTICES).step_by(61).map(|v| snapshot.degree(v, Direction::Out).unwrap().unwrap_or(0));
    (outcomes, sum, degrees.sum::<usize>() as u64)
}

/// Commits this number of changes, by range of ids. Half of them insert edges, the other half remove edges.
/// Only some of the removed edges exist.
fn change(graph: &Graph, rng: &mut Rng, edges: u64) {
    for turn in 0..edges / 200 {
        let base = turn * RANGE % VERTICES;
        let mut edge = |_| (base + rng.below(RANGE), base + rng.below(RANGE));
        let (new, old): (Vec<_>, Vec<_>) =
            ((0..100).map(&mut edge).collect(), (0..100).map(&mut edge).collect());
        let write = || {
            graph.transact(3, |tx| {
                tx.put_edges(new.iter().copied())?;
                old.iter().try_for_each(|&(a, b)| tx.remove_edge((a, b)).map(drop))
            })
        };
        // A commit treats a latch of another thread as a change. On a busy machine, a thread that evicts
        // chains may lose its processor while it holds a latch.
        while let Err(error) = write() {
            assert!(matches!(error, Error::Commit(CommitError::Conflict { .. })), "{error}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A store that needs about twice its limit in memory. A tenth of the edges changes, then a third of them,
/// then a thirtieth. Open snapshots keep their state meanwhile, and the store refuses no commit.
pub(crate) fn commits_go_on_beside_snapshots_that_see_what_they_saw() {
    let disk = SimFs::new();
    let options = Options::new().keys(KeyKind::Dense).durability(Durability::Manual);
    let graph = options.clone().open_on(disk.handle()).unwrap();
    let mut rng = Rng::new(5);
    for base in (0..VERTICES).step_by(RANGE as usize) {
        let edge = |_| (base + rng.below(RANGE), base + rng.below(RANGE));
        graph.insert_edges((0..EDGES * RANGE / VERTICES).map(edge).collect::<Vec<_>>()).unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    let graph = options.clone().memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
    let mut held = Vec::new();
    for share in [10, 3, 30] {
        let snapshot = graph.snapshot().unwrap();
        let seen = all_of(&snapshot);
        held.push((snapshot, seen));
        change(&graph, &mut rng, EDGES / share);
        for (snapshot, seen) in &held {
            assert!(all_of(snapshot) == *seen, "a held snapshot sees something else");
        }
        let stats = graph.stats().unwrap();
        assert!(stats.memory_bytes() <= LEAST_MEMORY_LIMIT, "{stats:?}");
    }
    held.remove(1);
    change(&graph, &mut rng, EDGES / 10);
    held.iter().for_each(|(snapshot, seen)| assert!(all_of(snapshot) == *seen));
    drop(held);
    change(&graph, &mut rng, EDGES / 10);
    assert!(graph.check().unwrap().is_ok());
    // The store left no file that the next opening would have to remove. The log has all commits that no
    // checkpoint has.
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    graph.close().unwrap();
    let graph = options.open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
}
