//! The suite on Teseo, its forms and its faults. Transactions rarely meet in the suite, so a separate test
//! makes them meet.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use hedgerow_core::{Direction, Update, WeightedTopology};
use hedgerow_workload::rng::Rng;

use super::*;
use crate::Teseo;
use crate::teseo::{PlainTeseo, TeseoOptions, VersionedTeseo};

/// Returns options with small segments and leaves. Even small graphs then have several leaves, and rebalances
/// while a test runs.
fn small() -> TeseoOptions {
    TeseoOptions {
        segment: 32,
        leaf: 4,
        delay: Duration::from_micros(100),
        visits: Duration::from_millis(5),
        threads: 2,
        ..TeseoOptions::default()
    }
}

fn teseo(directed: bool, weighted: bool) -> Teseo {
    Teseo::with_options(form(directed, weighted), small())
}

/// Makes a graph without rebalances until memory is reclaimed: all segments have buffers.
fn patient(directed: bool, weighted: bool) -> Teseo {
    let delay = Duration::from_secs(1000);
    Teseo::with_options(form(directed, weighted), TeseoOptions { delay, visits: delay, ..small() })
}

#[test]
fn teseo_conforms() {
    let _sound = sound();
    conforms("teseo", teseo, SEQUENCES);
    conforms_alone("teseo, no rebalances", patient, SEQUENCES / 5);
    conforms_alone("teseo, defaults", |d, w| Teseo::new(form(d, w)), SEQUENCES / 5);
}

#[test]
fn teseo_for_one_user_conforms() {
    let _sound = sound();
    let plain = |d, w| PlainTeseo::with_options(form(d, w), small());
    conforms_alone("teseo, plain", plain, SEQUENCES / 5);
    let versions = |d, w| VersionedTeseo::with_options(form(d, w), small());
    conforms_alone("teseo, versions", versions, SEQUENCES / 5);
}

#[test]
fn faults_of_teseo_are_found() {
    for fault in [
        Planted::FencesNotChecked,
        Planted::BufferLost,
        Planted::VersionsLeftBehind,
        Planted::ReadersForgotten,
    ] {
        finds(fault, || assert!(all_sequences(teseo, SEQUENCES) > 0));
    }
    finds(Planted::RegisteringReaderMissed, || many_histories(teseo));
    finds(Planted::TombstonesKept, || memory_returns(teseo));
    for fault in [Planted::ConflictIgnored, Planted::UncoveredEntryTrusted] {
        finds(fault, || (0..400).for_each(conflicts));
    }
    finds(Planted::WordsTakenLater, || lists_stay(false));
}

/// The number of vertices: small, so that transactions meet.
const VERTICES: u32 = 5;

fn meeting(rng: &mut Rng) -> Update {
    let [u, v] = [0; 2].map(|_| VertexId(rng.below(u64::from(VERTICES)) as u32));
    match rng.below(10) {
        0 => Update::RemoveVertex(u),
        1 => Update::InsertVertex(u),
        2..5 => Update::RemoveEdge(u, v),
        _ => Update::InsertEdge(u, v, 1.0),
    }
}

/// Checks transactions of several threads that change the same edges and remove their ends. They wait for one
/// another and begin again. Each held snapshot must show the same edges all the time.
fn conflicts(seed: u64) {
    const THREADS: u64 = 3;
    const HELD: usize = 3;
    let graph = &teseo(seed % 2 == 1, false);
    let begin = &Barrier::new(THREADS as usize);
    let mut rng = Rng::part(seed, THREADS);
    let mut held = Vec::new();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let mut rng = Rng::part(seed, thread);
                    begin.wait();
                    for _ in 0..40 {
                        let updates: Vec<Update> = (0..1 + rng.below(3)).map(|_| meeting(&mut rng)).collect();
                        graph.write(&updates).expect("ids are valid");
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let snapshot = graph.snapshot().expect("a snapshot");
            let edges = edges_of(&snapshot);
            held.push((snapshot, edges));
            if held.len() > HELD {
                let (snapshot, edges) = held.swap_remove(rng.below(held.len() as u64) as usize);
                assert_eq!(edges_of(&snapshot), edges, "a snapshot changed, seed {seed}");
            }
            std::thread::yield_now();
        }
    });
    for (snapshot, edges) in held {
        assert_eq!(edges_of(&snapshot), edges, "a snapshot changed, seed {seed}");
    }
    edges_of(&graph.snapshot().expect("a snapshot"));
}

/// Returns the edges of a snapshot. Checks that each edge is in the lists of both ends, that a search finds
/// it, and that its ends exist. Also checks that the counts are right.
fn edges_of<S: GraphSnapshot>(snapshot: &S) -> BTreeSet<(u32, u32)> {
    let mut lists = [BTreeSet::new(), BTreeSet::new()];
    for direction in [Direction::Out, Direction::In] {
        let all = (0..VERTICES).map(VertexId);
        let visited = snapshot.visit(all, direction, |v, run| {
            for u in run {
                let edge = if direction == Direction::Out { (v.0, u.0) } else { (u.0, v.0) };
                assert!(lists[direction as usize].insert(edge), "{edge:?} once");
            }
        });
        visited.expect("all is in memory");
    }
    let [out, into] = lists;
    assert_eq!(out, into, "edges stand in the lists of both ends");
    assert!(out.iter().all(|&(u, v)| [u, v].iter().all(|&end| snapshot.contains(VertexId(end)))), "{out:?}");
    let pairs = (0..VERTICES).flat_map(|u| (0..VERTICES).map(move |v| (u, v)));
    let found = pairs.filter(|&(u, v)| snapshot.search_edge(VertexId(u), VertexId(v)).is_some());
    assert_eq!(found.collect::<BTreeSet<_>>(), out, "edges are found as they stand in lists");
    let counted = out.iter().filter(|(u, v)| snapshot.is_directed() || u <= v).count();
    assert_eq!(snapshot.edge_count(), counted as u64);
    let present = (0..VERTICES).filter(|&v| snapshot.contains(VertexId(v))).count();
    assert_eq!(snapshot.vertex_count(), present);
    out
}

#[test]
fn transactions_that_meet_leave_a_graph() {
    let _sound = sound();
    (0..3).for_each(conflicts);
}

/// Checks that a run does not change while a reader holds it, and that the next run is still the run of the
/// snapshot. Meanwhile other edges are inserted and removed.
fn lists_stay(weighted: bool) {
    let graph = patient(true, weighted);
    let weight = |target: u32| if weighted { f64::from(target) } else { 1.0 };
    let list: Vec<u32> = (1..60).map(|i| 10 * i).collect();
    for &target in &list {
        graph.insert_edge(VertexId(0), VertexId(target), weight(target)).expect("ids are valid");
    }
    // Each segment has parts of the list on both sides. These parts are too long to be copied.
    graph.reclaim().expect("memory is given back");
    let snapshot = graph.snapshot().expect("a snapshot");
    let mut runs: Vec<(u32, f64)> = Vec::new();
    let visited = snapshot.visit_weighted([VertexId(0)], Direction::Out, |_, run, weights| {
        let before = run.to_vec();
        let Some(last) = before.last() else { return };
        for target in [before[0].0 + 1, last.0 + 11] {
            graph.insert_edge(VertexId(0), VertexId(target), weight(target)).expect("ids are valid");
        }
        graph.remove_edge(VertexId(0), before[0]).expect("ids are valid");
        graph.reclaim().expect("memory is given back");
        assert_eq!(run, before, "a run stays");
        assert_eq!(weights.len(), if weighted { run.len() } else { 0 });
        runs.extend(run.iter().enumerate().map(|(i, v)| (v.0, weights.get(i).copied().unwrap_or(1.0))));
    });
    visited.expect("all is in memory");
    let expected: Vec<(u32, f64)> = list.iter().map(|&target| (target, weight(target))).collect();
    assert_eq!(runs, expected);
}

#[test]
fn lists_stay_while_others_write() {
    let _sound = sound();
    [false, true].into_iter().for_each(lists_stay);
}

/// A transaction that names a vertex and does not change it leaves a version. Later transactions of this kind
/// prune such versions.
#[test]
fn vertices_named_in_vain_take_no_memory() {
    let _sound = sound();
    let graph = patient(false, false);
    graph.insert_vertex(VertexId(0)).expect("ids are valid");
    let _held = graph.snapshot().expect("a snapshot");
    let before = graph.memory_bytes();
    for _ in 0..1000 {
        graph.insert_vertex(VertexId(0)).expect("ids are valid");
    }
    assert!(graph.memory_bytes() <= before + 1000, "{} bytes after {before}", graph.memory_bytes());
}

#[test]
fn service_threads_end_with_the_container() {
    let _sound = sound();
    let graph = patient(false, false);
    for v in 0..200 {
        graph.insert_edge(VertexId(v % 7), VertexId(v), 1.0).expect("ids are valid");
    }
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!(graph.references(), 4, "the container, its threads and the snapshot");
    drop(graph);
    assert_eq!(snapshot.references(), 1, "the snapshot");
    assert_eq!(snapshot.degree_estimate(VertexId(0), Direction::Out), 29);
}
