//! The suite on LiveGraph, and properties that the suite does not check: timeouts, compaction, and that
//! readers do not block writers.

use std::time::Duration;

use hedgerow_core::{Direction, DynamicGraph, GraphSnapshot, Resident, Topology, Update, VertexId};

use super::{
    HISTORIES, SEQUENCES, SNAPSHOTS, all_histories, all_sequences, conforms, conforms_alone, finds, form,
};
use super::{histories, memory_returns};
use crate::livegraph::{LiveGraph, LiveGraphOptions, PlainLiveGraph, VersionedLiveGraph};
use crate::planted::{Planted, sound};

/// Returns options with frequent compactions and a short timeout of locks.
fn small() -> LiveGraphOptions {
    let lock_timeout = Duration::from_micros(200);
    LiveGraphOptions { compact_every: 10, lock_timeout, ..LiveGraphOptions::default() }
}

fn livegraph(directed: bool, weighted: bool) -> LiveGraph {
    LiveGraph::with_options(form(directed, weighted), small())
}

fn with_timeout(lock_timeout: Duration, directed: bool, weighted: bool) -> LiveGraph {
    LiveGraph::with_options(form(directed, weighted), LiveGraphOptions { lock_timeout, ..small() })
}

#[test]
fn livegraph_conforms() {
    let _sound = sound();
    conforms("livegraph", livegraph, SEQUENCES);
    conforms_alone("livegraph, defaults", |d, w| LiveGraph::new(form(d, w)), SEQUENCES / 5);
    let without = LiveGraphOptions { bloom_filters: false, ..small() };
    conforms_alone(
        "livegraph, no filters",
        |d, w| LiveGraph::with_options(form(d, w), without),
        SEQUENCES / 10,
    );
}

#[test]
fn livegraph_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone(
        "livegraph, plain",
        |d, w| PlainLiveGraph::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
    conforms_alone(
        "livegraph, versions",
        |d, w| VersionedLiveGraph::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
}

#[test]
fn faults_of_livegraph_are_found() {
    for fault in [Planted::FilterNotRefilled, Planted::MovedEntriesNotStamped, Planted::ReadersForgotten] {
        finds(fault, || assert!(all_sequences(livegraph, SEQUENCES) > 0));
    }
    let many = || (0..10 * HISTORIES).for_each(|seed| histories(livegraph, seed, SNAPSHOTS));
    // With this timeout, a held lock is enough to roll a transaction back.
    let hasty = || {
        (0..10 * HISTORIES)
            .for_each(|seed| histories(|d, w| with_timeout(Duration::ZERO, d, w), seed, SNAPSHOTS));
    };
    finds(Planted::AbortKeepsMarks, hasty);
    for fault in [Planted::PublishedOutOfTurn, Planted::PublishedEarly, Planted::RegisteringReaderMissed] {
        finds(fault, many);
    }
    finds(Planted::InvalidatedKept, || memory_returns(livegraph));
    finds(Planted::ReplacedBlocksFreed, scan_beside_a_writer);
    finds(Planted::FullListKept, rewrite_weights);
}

/// Two threads run transactions that lock the same vertices in opposite orders. Every transaction succeeds,
/// and readers see all of it or nothing.
#[test]
fn transactions_that_block_one_another_get_through() {
    let _sound = sound();
    const ROUNDS: u32 = 300;
    let graph = &livegraph(true, false);
    let pairs = |reversed: bool, round: u32| {
        let ends: Vec<u32> = if reversed { (0..20).rev().collect() } else { (0..20).collect() };
        let target = VertexId(100 + 2 * round + u32::from(reversed));
        ends.iter().map(|&v| Update::InsertEdge(VertexId(v), target, 1.0)).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for reversed in [false, true] {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let written = graph.write(&pairs(reversed, round)).expect("valid updates");
                    assert_eq!(written.edges, 20);
                    let target = VertexId(100 + 2 * round + u32::from(reversed));
                    assert_eq!(graph.write(&[Update::RemoveVertex(target)]).expect("valid").edges, -20);
                }
            });
        }
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                let snapshot = graph.snapshot().expect("a snapshot");
                let degrees: Vec<usize> =
                    (0..20).map(|v| snapshot.degree(VertexId(v), Direction::Out)).collect();
                assert!(degrees.iter().all(|&degree| degree == degrees[0]), "{degrees:?}");
            }
        });
    });
    assert_eq!(graph.snapshot().expect("a snapshot").edge_count(), 0);
}

#[test]
fn a_scan_is_not_in_the_way_of_a_writer() {
    let _sound = sound();
    scan_beside_a_writer();
}

/// Reads a list in runs while the list is replaced and another list of the same size is made. All runs must
/// come from the block of the first run.
fn scan_beside_a_writer() {
    let edges_of = |v: u32, from: u32| -> Vec<_> {
        (from..from + 2999).map(|u| (VertexId(v), VertexId(u), f64::from(u))).collect()
    };
    let graph = livegraph(true, true);
    graph.insert_edges(&edges_of(0, 1)).expect("valid edges");
    let snapshot = graph.snapshot().expect("a snapshot");
    let (mut seen, mut runs) = (Vec::new(), 0);
    let visited = snapshot.visit([VertexId(0)], Direction::Out, |_, run| {
        runs += 1;
        seen.extend_from_slice(run);
        if runs == 1 {
            // The list does not fit its block any more. If that block were free now, the second list would
            // take it.
            graph.insert_edges(&edges_of(0, 3000)).expect("valid edges");
            graph.reclaim().expect("memory is given back");
            graph.insert_edges(&edges_of(1, 10_000)).expect("valid edges");
        }
        // The scan goes from the newest target to the oldest, so these targets are still to be read.
        for u in runs * 10..runs * 10 + 10 {
            assert!(graph.remove_edge(VertexId(0), VertexId(u)).expect("a valid edge"));
        }
        graph.reclaim().expect("memory is given back");
    });
    assert!(visited.is_ok() && runs > 2);
    assert!(seen.iter().map(|v| v.0).eq((1..3000).rev()), "from new to old");
    assert_eq!(snapshot.search_edge(VertexId(0), VertexId(10)), Some(10.0));
    let later = graph.snapshot().expect("a snapshot");
    assert_eq!(later.degree(VertexId(0), Direction::Out), 2 * 2999 - 10 * runs as usize);
}

#[test]
fn weights_can_be_rewritten_forever() {
    let _sound = sound();
    rewrite_weights();
}

/// Checks that old weights take no memory, although there is no compaction: by default compactions are rare.
fn rewrite_weights() {
    let new = || LiveGraph::new(form(true, true));
    let (graph, one) = (new(), (VertexId(0), VertexId(1)));
    let empty = graph.memory_bytes();
    for i in 0..10_000 {
        graph.insert_edge(one.0, one.1, f64::from(i)).expect("a valid edge");
    }
    let taken = graph.memory_bytes() - empty;
    assert!(taken < 64 << 10, "{taken} bytes for one edge");
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!((snapshot.search_edge(one.0, one.1), snapshot.edge_count()), (Some(9999.0), 1));
    let graph = new();
    for round in 0..300 {
        let edges: Vec<_> = (1..101).map(|u| (VertexId(0), VertexId(u), f64::from(round))).collect();
        graph.insert_edges(&edges).expect("valid edges");
    }
    let taken = graph.memory_bytes() - empty;
    assert!(taken < 768 << 10, "{taken} bytes for 100 edges");
}

/// A transaction can remove a large part of a list that also has entries that were invalidated before.
#[test]
fn most_of_a_list_is_removed_at_once() {
    let _sound = sound();
    remove_most(&LiveGraph::new(form(false, true)));
    remove_most(&VersionedLiveGraph::new(form(false, true)));
    remove_most(&PlainLiveGraph::new(form(false, true)));
}

fn remove_most<G: DynamicGraph>(graph: &G) {
    let hub = VertexId(0);
    let write = |updates: Vec<Update>| graph.write(&updates).map(|written| written.edges).ok();
    let insert = |u: u32| Update::InsertEdge(hub, VertexId(u), f64::from(u));
    let remove = |u: u32| Update::RemoveEdge(hub, VertexId(u));
    // The insertions are not in the order of the ids.
    for u in 0..500 {
        assert_eq!(write(vec![insert(1 + u * 7 % 500)]), Some(1));
    }
    assert_eq!(write((1..501).filter(|u| u % 3 == 0).map(remove).collect()), Some(-166));
    assert_eq!(write((1..501).filter(|u| u % 6 == 0).map(insert).collect()), Some(83));
    // Some of these edges were removed before, or never existed.
    assert_eq!(write((1..600).filter(|u| u % 4 != 0).map(remove).collect()), Some(-292));
    let left = |u: &u32| u.is_multiple_of(4) && (!u.is_multiple_of(3) || u.is_multiple_of(6));
    let snapshot = graph.snapshot().expect("a snapshot");
    let expected: Vec<u32> = (1..501).filter(left).collect();
    let found: Vec<u32> = snapshot.neighbors(hub, Direction::Out).iter().map(|u| u.0).collect();
    assert_eq!((found, snapshot.degree(hub, Direction::Out)), (expected.clone(), expected.len()));
    for u in 1..600 {
        let weight = expected.contains(&u).then_some(f64::from(u));
        assert_eq!(snapshot.search_edge(hub, VertexId(u)), weight);
        assert_eq!(snapshot.search_edge(VertexId(u), hub), weight);
    }
    drop(snapshot);
    assert_eq!(write(vec![Update::RemoveVertex(hub)]), Some(-(expected.len() as i64)));
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!((snapshot.edge_count(), snapshot.vertex_count()), (0, 500));
}

/// With a timeout of zero, every held lock makes a transaction roll back. The transaction still succeeds
/// after it waits without a timeout.
#[test]
fn a_timeout_of_nothing_is_survived() {
    let _sound = sound();
    all_histories(|d, w| with_timeout(Duration::ZERO, d, w));
}
