//! The memory account while many threads read data outside memory: it never exceeds the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use hedgerow::{Block, Direction, Graph, TieredView, Topology, VertexId, WeightedTopology};
use hedgerow_core::{LocalVertex, SubgraphId};
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::tools_by_page::{LIMIT, VERTICES, fill, open, stores};

/// The number of subgraphs in one scan, which is one page of them. They have 2 MiB of edges with weights,
/// more than reads may take in addition to a full memory.
const RUN: u32 = 64;
const READERS: u64 = 5;
/// Each reader scans one run out of this number of runs.
const SHARE: u32 = 8;
const LISTS: u64 = 150;

/// Sets a flag when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Returns the number of entries in a share of all lists. The runs of the scan begin at a subgraph that
/// differs by thread.
fn scan(view: &TieredView, direction: Direction, from: u32) -> u64 {
    let (mut entries, subgraphs) = (0, view.vertex_bound() as u32 / 64);
    for first in (0..subgraphs).step_by((RUN * SHARE) as usize) {
        let first = (first + from) % subgraphs;
        let run = SubgraphId(first)..SubgraphId(first + RUN);
        let scanned = view.scan(run, direction, |_, block| {
            entries += (0..64).map(|local| block.degree(LocalVertex(local)) as u64).sum::<u64>();
            ControlFlow::Continue(())
        });
        scanned.unwrap();
    }
    entries
}

/// Visits a frontier of distant vertices, with every hub. Checks that the view visits each vertex once, with
/// the neighbors and weights of the snapshot. The runs of a vertex follow each other.
fn visit(view: &TieredView, direction: Direction, rng: &mut SplitMix64) -> u64 {
    let hubs = (0..4).map(|hub| hub * 9_000);
    let frontier: BTreeSet<u64> = hubs.chain((0..60).map(|_| rng.below(VERTICES))).collect();
    let mut visited: Vec<(u64, BTreeMap<u64, f64>)> = Vec::new();
    view.visit_weighted(frontier.iter().map(|&v| VertexId(v as u32)), direction, |v, run, weights| {
        assert_eq!(run.len(), weights.len());
        if visited.last().is_none_or(|(last, _)| *last != u64::from(v.0)) {
            visited.push((u64::from(v.0), BTreeMap::new()));
        }
        let (_, list) = visited.last_mut().unwrap();
        for (neighbor, weight) in run.iter().zip(weights) {
            assert!(list.insert(u64::from(neighbor.0), *weight).is_none(), "{neighbor:?} of {v:?} twice");
        }
    })
    .unwrap();
    assert_eq!(visited.len(), frontier.len());
    for (v, list) in &visited {
        assert!(frontier.contains(v));
        let mut expected = BTreeMap::new();
        let list_of = view.snapshot().default_label().for_each_neighbor(
            VertexId(*v as u32),
            direction,
            |neighbor, weight| {
                expected.insert(u64::from(neighbor.0), weight);
            },
        );
        list_of.unwrap();
        assert!(*list == expected, "{v}: {} of {} neighbours", list.len(), expected.len());
    }
    visited.len() as u64
}

/// Reads random lists, most of them from files.
fn read(graph: &Graph, rng: &mut SplitMix64) -> u64 {
    let snapshot = graph.snapshot().unwrap();
    for _ in 0..LISTS {
        let v = if rng.below(4) == 0 { rng.below(4) * 9_000 } else { rng.below(VERTICES) };
        let direction = if rng.below(2) == 0 { Direction::Out } else { Direction::In };
        let degree = snapshot.degree(v, direction).unwrap();
        let neighbors = snapshot.neighbors(v, direction).unwrap();
        assert_eq!(degree.unwrap_or(0), neighbors.map_or(0, |neighbors| neighbors.len()));
    }
    LISTS
}

/// Makes changes within two subgraphs, which have to be in memory at once, and writes a checkpoint.
fn write(graph: &Graph, rng: &mut SplitMix64) {
    for _ in 0..20 {
        let mut tx = graph.write().unwrap();
        for _ in 0..20 {
            tx.put_edge((rng.below(128), rng.below(128), 1.0)).unwrap();
        }
        tx.commit().unwrap();
    }
    graph.checkpoint().unwrap();
}

#[test]
fn reads_of_many_threads_keep_the_account_within_the_limit() {
    // Only the directed store: the other stores reserve memory in the same way.
    for (kind, disk) in stores().take(1) {
        let graph = open(*kind, disk, Some(LIMIT));
        fill(&graph);
        let before = graph.stats().unwrap().memory_bytes();
        assert!(before > LIMIT / 2, "{kind:?}: {before} bytes in memory");
        graph.internals().most_memory_used();
        let (over, watched) = (AtomicBool::new(false), AtomicU64::new(0));
        let (scanned, lists) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let (graph, over) = (&graph, &over);
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    watched.fetch_max(graph.stats().unwrap().memory_bytes(), Relaxed);
                    std::thread::yield_now();
                }
            });
            scope.spawn(|| {
                let mut rng = SplitMix64::new(1);
                while !over.load(Relaxed) {
                    write(graph, &mut rng);
                }
            });
            let _end = End(over);
            // All threads begin at the same moment.
            let begin = Barrier::new(READERS as usize);
            std::thread::scope(|scope| {
                for thread in 0..READERS {
                    let (scanned, lists, begin) = (&scanned, &lists, &begin);
                    scope.spawn(move || {
                        begin.wait();
                        let mut rng = SplitMix64::new(10 + thread);
                        let view = TieredView::new(&graph.snapshot().unwrap(), "").unwrap();
                        for direction in [Direction::Out, Direction::In] {
                            scanned.fetch_add(scan(&view, direction, thread as u32 * 3 * RUN), Relaxed);
                            visit(&view, direction, &mut rng);
                        }
                    });
                    scope.spawn(move || {
                        let mut rng = SplitMix64::new(20 + thread);
                        lists.fetch_add(read(graph, &mut rng), Relaxed);
                    });
                }
            });
        });
        let most = graph.internals().most_memory_used().max(watched.into_inner());
        assert!(most <= LIMIT, "{kind:?}: {most} of {LIMIT}");
        let entries = graph.snapshot().unwrap().edge_count().unwrap() * 2 * READERS / u64::from(SHARE);
        let (scanned, lists) = (scanned.into_inner(), lists.into_inner());
        assert!(scanned > entries / 2 && lists == READERS * LISTS, "{scanned} of {entries}, {lists}");
    }
}
