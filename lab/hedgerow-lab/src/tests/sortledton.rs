//! The suite on Sortledton and its forms.

use hedgerow_core::{
    Direction, DynamicGraph, GraphSnapshot, Resident, Topology, Update, VertexId, WeightedTopology,
};
use hedgerow_testkit::conformance::dynamic::memory_returns;
use hedgerow_workload::rng::Rng;

use super::{SEQUENCES, all_sequences, conforms, conforms_alone, finds, form, many_histories};
use crate::LabError;
use crate::planted::{Planted, sound};
use crate::sortledton::{
    PlainSortledton, Sortledton, SortledtonOptions, UnversionedSortledton, VersionedSortledton,
};

/// Returns options with short blocks. Even small graphs then have skip lists of several levels.
fn small() -> SortledtonOptions {
    SortledtonOptions { block: 8 }
}

fn sortledton(directed: bool, weighted: bool) -> Sortledton {
    Sortledton::with_options(form(directed, weighted), small())
}

#[test]
fn sortledton_conforms() {
    let _sound = sound();
    conforms("sortledton", sortledton, SEQUENCES);
    conforms_alone("sortledton, defaults", |d, w| Sortledton::new(form(d, w)), SEQUENCES / 5);
}

#[test]
fn sortledton_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone(
        "sortledton, plain",
        |d, w| PlainSortledton::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
    conforms_alone(
        "sortledton, versions",
        |d, w| VersionedSortledton::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
}

#[test]
fn sortledton_without_versions_conforms() {
    let _sound = sound();
    conforms(
        "sortledton, versioning off",
        |d, w| UnversionedSortledton::with_options(form(d, w), small()),
        SEQUENCES / 10,
    );
}

#[test]
fn faults_of_sortledton_are_found() {
    let faults = [
        Planted::RemovalForgetsBefore,
        Planted::KeyStays,
        Planted::VersionsReversed,
        Planted::ReadersForgotten,
    ];
    for fault in faults {
        finds(fault, || assert!(all_sequences(sortledton, SEQUENCES) > 0));
    }
    finds(Planted::ReadersForgotten, hub_beside_writers);
    for fault in [Planted::PublishedEarly, Planted::RegisteringReaderMissed] {
        finds(fault, || many_histories(sortledton));
    }
    finds(Planted::TombstonesKept, || memory_returns(sortledton));
}

/// A list of many blocks grows in random order and shrinks again, and held snapshots do not change. This
/// holds for blocks of every size in the study.
#[test]
fn long_lists_grow_and_shrink() {
    const DEGREE: u32 = 5_000;
    let _sound = sound();
    for block in [4, 64, 256, 1024] {
        let graph = Sortledton::with_options(form(true, true), SortledtonOptions { block });
        let hub = VertexId(7);
        let mut order: Vec<u32> = (0..DEGREE).map(|i| 3 * i).collect();
        let mut rng = Rng::new(block as u64);
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let weight = |dst: u32| f64::from(dst) / 2.0;
        for &dst in &order {
            assert!(graph.insert_edge(hub, VertexId(dst), weight(dst)).expect("the update is valid"));
        }
        let full = graph.snapshot().expect("a snapshot");
        let half = order.len() / 2;
        for &dst in &order[..half] {
            assert!(graph.remove_edge(hub, VertexId(dst)).expect("the update is valid"));
        }
        let less = graph.snapshot().expect("a snapshot");
        let rest: Vec<Update> =
            order[half..].iter().map(|&dst| Update::RemoveEdge(hub, VertexId(dst))).collect();
        graph.write(&rest).expect("the updates are valid");
        for (snapshot, from) in [(&full, 0), (&less, half)] {
            let mut expected: Vec<VertexId> = order[from..].iter().map(|&dst| VertexId(dst)).collect();
            expected.sort_unstable();
            let found: Vec<VertexId> = snapshot.neighbors(hub, Direction::Out).iter().collect();
            assert_eq!(found, expected, "blocks of {block}");
            assert_eq!(snapshot.degree(hub, Direction::Out), expected.len());
            for &dst in order.iter().step_by(7) {
                let there = expected.binary_search(&VertexId(dst)).is_ok();
                let found = snapshot.search_edge(hub, VertexId(dst));
                assert_eq!(found, there.then_some(weight(dst)), "blocks of {block}, {dst}");
            }
        }
        drop((full, less));
        graph.reclaim().expect("memory is given back");
        let snapshot = graph.snapshot().expect("a snapshot");
        assert_eq!(
            (snapshot.degree(hub, Direction::Out), snapshot.neighbors(hub, Direction::Out).len()),
            (0, 0)
        );
    }
}

/// Returns the list of a hub that a snapshot shows. Every call reads the lists again; `neighbors` would read
/// a copy.
fn hub_list<S: WeightedTopology>(snapshot: &S, hub: VertexId) -> Vec<(VertexId, f64)> {
    let mut list = Vec::new();
    let add = |_, run: &[VertexId], weights: &[f64]| {
        list.extend(run.iter().copied().zip(weights.iter().copied()));
    };
    assert!(snapshot.visit_weighted([hub], Direction::Out, add).is_ok());
    let mut targets = Vec::new();
    assert!(snapshot.visit([hub], Direction::Out, |_, run| targets.extend_from_slice(run)).is_ok());
    assert!(targets.is_sorted() && targets.iter().eq(list.iter().map(|(target, _)| target)));
    list
}

/// The hub and its number of edges: 5,000, with the weights of the first load.
const HUB: (VertexId, u32) = (VertexId(0), 5_000);

fn hub_edges(targets: impl Iterator<Item = u32>, weight: impl Fn(u32) -> f64) -> Vec<Update> {
    targets.map(|dst| Update::InsertEdge(HUB.0, VertexId(dst), weight(dst))).collect()
}

/// Checks that held snapshots of a hub do not change. One thread removes half of the hub in batches of 100
/// and inserts it again, so that blocks are merged and split. A second thread reclaims memory and inserts
/// single edges. Meanwhile the main thread reads the hub from held snapshots again and again.
fn hub_beside_writers() {
    let graph = Sortledton::with_options(form(true, true), SortledtonOptions { block: 64 });
    let (hub, degree) = HUB;
    let half = |dst: u32| f64::from(dst) / 2.0;
    graph.write(&hub_edges(1..=degree, half)).expect("the updates are valid");
    let first = graph.snapshot().expect("a snapshot");
    let loaded: Vec<(VertexId, f64)> = (1..=degree).map(|dst| (VertexId(dst), half(dst))).collect();
    let taken: Vec<u32> = (degree / 4..degree * 3 / 4).collect();
    let write = || {
        for round in 0..3 {
            for part in taken.chunks(100) {
                let gone: Vec<Update> =
                    part.iter().map(|&dst| Update::RemoveEdge(hub, VertexId(dst))).collect();
                graph.write(&gone).expect("the updates are valid");
            }
            for part in taken.chunks(100).rev() {
                let back = hub_edges(part.iter().copied(), |_| f64::from(round));
                graph.write(&back).expect("the updates are valid");
            }
        }
    };
    let insert = || {
        for i in 1..=60 {
            graph.insert_edge(hub, VertexId(degree + i), 1.0).expect("the update is valid");
            graph.reclaim().expect("memory is given back");
        }
    };
    std::thread::scope(|scope| {
        let others = [scope.spawn(write), scope.spawn(insert)];
        let mut snapshot = graph.snapshot().expect("a snapshot");
        let mut seen = hub_list(&snapshot, hub);
        let mut reads = 0;
        while reads < 20 || others.iter().any(|other| !other.is_finished()) {
            assert_eq!(hub_list(&snapshot, hub), seen, "read {reads}");
            assert_eq!(seen.len(), snapshot.degree(hub, Direction::Out));
            assert_eq!(seen.len() as u64, snapshot.edge_count());
            assert!(reads > 40 || hub_list(&first, hub) == loaded, "read {reads}");
            reads += 1;
            if reads % 8 == 0 {
                snapshot = graph.snapshot().expect("a snapshot");
                seen = hub_list(&snapshot, hub);
            }
        }
    });
    assert_eq!(hub_list(&first, hub), loaded);
    let last = hub_list(&graph.snapshot().expect("a snapshot"), hub);
    let weight = |dst: u32| match dst {
        _ if dst > degree => 1.0,
        _ if taken.contains(&dst) => 2.0,
        _ => half(dst),
    };
    assert!(last.into_iter().eq((1..=degree + 60).map(|dst| (VertexId(dst), weight(dst)))));
}

#[test]
fn a_hub_is_read_beside_writers() {
    let _sound = sound();
    hub_beside_writers();
}

/// Checks that a batch leaves as much memory in use as a collection of the whole graph leaves.
fn batches_collect_their_versions<G: DynamicGraph<Error = LabError>>(graph: &G) {
    let mut order: Vec<u32> = (1..=HUB.1).collect();
    let mut rng = Rng::new(5);
    for i in (1..order.len()).rev() {
        order.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let write = |updates: &[Update]| assert!(graph.write(updates).is_ok());
    order.chunks(500).for_each(|part| write(&hub_edges(part.iter().copied(), f64::from)));
    let settled = graph.memory_bytes();
    assert!(graph.reclaim().is_ok());
    assert_eq!(settled, graph.memory_bytes(), "after insertions");
    let gone = order.iter().filter(|&&dst| dst > HUB.1 / 10);
    write(&gone.map(|&dst| Update::RemoveEdge(HUB.0, VertexId(dst))).collect::<Vec<_>>());
    let settled = graph.memory_bytes();
    assert!(graph.reclaim().is_ok());
    assert_eq!(settled, graph.memory_bytes(), "after removals");
}

#[test]
fn batches_leave_no_versions() {
    let _sound = sound();
    batches_collect_their_versions(&Sortledton::with_options(form(true, true), small()));
    batches_collect_their_versions(&VersionedSortledton::with_options(form(true, true), small()));
}
