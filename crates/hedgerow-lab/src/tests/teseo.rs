//! Teseo, its forms and its faults. Transactions that meet are few in the suite: a test of their own has them.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use hedgerow_core::{Direction, Update};
use hedgerow_workload::rng::Rng;

use super::*;
use crate::Teseo;
use crate::teseo::{PlainTeseo, TeseoOptions, VersionedTeseo};

/// With segments and leaves so small that small graphs have several leaves, and rebalances while a test runs.
fn small() -> TeseoOptions {
    TeseoOptions {
        segment: 32,
        leaf: 4,
        delay: Duration::from_micros(100),
        visits: Duration::from_millis(5),
        ..TeseoOptions::default()
    }
}

fn teseo(directed: bool, weighted: bool) -> Teseo {
    Teseo::with_options(form(directed, weighted), small())
}

/// Nothing is rebalanced before memory is reclaimed: all segments have buffers.
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
    finds(Planted::ConflictIgnored, || (0..20).for_each(conflicts));
}

/// So few vertices that transactions meet.
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

/// Transactions of several threads that change the same edges and remove their ends, so that they wait for one another and begin
/// again. In the end edges stand in the lists of both ends, the ends exist, and the counts are those of what is there.
fn conflicts(seed: u64) {
    const THREADS: u64 = 3;
    let directed = seed % 2 == 1;
    let graph = &teseo(directed, false);
    let begin = &Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let mut rng = Rng::part(seed, thread);
                begin.wait();
                for _ in 0..40 {
                    let updates: Vec<Update> = (0..1 + rng.below(3)).map(|_| meeting(&mut rng)).collect();
                    graph.write(&updates).expect("ids are valid");
                }
            });
        }
    });
    let snapshot = graph.snapshot().expect("a snapshot");
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
    let counted = out.iter().filter(|(u, v)| directed || u <= v).count();
    assert_eq!(snapshot.edge_count(), counted as u64);
    let present = (0..VERTICES).filter(|&v| snapshot.contains(VertexId(v))).count();
    assert_eq!(snapshot.vertex_count(), present);
}

#[test]
fn transactions_that_meet_leave_a_graph() {
    let _sound = sound();
    (0..3).for_each(conflicts);
}

#[test]
fn service_threads_end_with_the_container() {
    let _sound = sound();
    let graph = patient(false, false);
    for v in 0..200 {
        graph.insert_edge(VertexId(v % 7), VertexId(v), 1.0).expect("ids are valid");
    }
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!(graph.references(), 3, "the container, its thread and the snapshot");
    drop(graph);
    assert_eq!(snapshot.references(), 1, "the snapshot");
    assert_eq!(snapshot.degree_estimate(VertexId(0), Direction::Out), 29);
}
