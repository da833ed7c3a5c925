//! The suite on LLAMA and its forms.

use std::thread;

use hedgerow_core::{Direction, DynamicGraph, GraphSnapshot, Resident, Topology, Update, VertexId};
use hedgerow_testkit::conformance::dynamic::memory_returns;
use hedgerow_workload::rng::Rng;

use super::{
    SEQUENCES, all_sequences, conforms, conforms_alone, finds, form, many_histories,
    removals_make_no_vertices,
};
use crate::llama::{Llama, LlamaOptions, PlainLlama, VersionedLlama};
use crate::planted::{Planted, sound};

/// Returns options with a small buffer. Even small graphs then have several levels and several pages.
fn small() -> LlamaOptions {
    LlamaOptions { page: 64, delta: 40, ..LlamaOptions::default() }
}

fn llama(directed: bool, weighted: bool) -> Llama {
    Llama::with_options(form(directed, weighted), small())
}

/// Makes a graph that merges only levels without any entries left. Lists then have many fragments, and many
/// fragments have removed entries.
fn many_levels(directed: bool, weighted: bool) -> Llama {
    let options = LlamaOptions { growth: 0, garbage: 0, ..small() };
    Llama::with_options(form(directed, weighted), options)
}

#[test]
fn llama_conforms() {
    let _sound = sound();
    conforms("llama", llama, SEQUENCES);
    conforms_alone("llama, defaults", |d, w| Llama::new(form(d, w)), SEQUENCES / 5);
}

#[test]
fn llama_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone("llama, plain", |d, w| PlainLlama::with_options(form(d, w), small()), SEQUENCES / 5);
    conforms_alone(
        "llama, versions",
        |d, w| VersionedLlama::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
}

#[test]
fn switches_of_llama_conform() {
    let _sound = sound();
    let each_write = LlamaOptions { delta: 1, ..small() };
    let unsorted = LlamaOptions { sorted: false, ..small() };
    let large_pages = LlamaOptions { page: 1 << 12, growth: 4, garbage: 2, ..small() };
    for options in [each_write, unsorted, large_pages] {
        conforms_alone("llama, switch", |d, w| Llama::with_options(form(d, w), options), SEQUENCES / 5);
    }
    conforms_alone("llama, many levels", many_levels, SEQUENCES / 5);
}

#[test]
fn faults_of_llama_are_found() {
    for fault in [Planted::MarksOfLaterSnapshots, Planted::ContinuationLost, Planted::RemovedMerged] {
        finds(fault, || assert!(all_sequences(llama, SEQUENCES) > 0));
    }
    finds(Planted::RemovedNotCounted, || memory_returns(llama));
    finds(Planted::PublishedOutsideLock, || many_histories(llama));
}

#[test]
fn removals_of_what_is_absent_leave_the_bound_of_llama() {
    let _sound = sound();
    removals_make_no_vertices(&Llama::new(form(true, false)));
    removals_make_no_vertices(&PlainLlama::new(form(true, false)));
    removals_make_no_vertices(&VersionedLlama::new(form(true, false)));
}

/// With a snapshot for each edge, the number of levels grows with the logarithm of the edges. Without merges
/// there would be a level for each edge.
#[test]
fn levels_grow_with_the_logarithm_of_the_edges() {
    const EDGES: u32 = 2_000;
    let _sound = sound();
    let graph = llama(true, false);
    let mut most = 0;
    for i in 0..EDGES {
        let (src, dst) = (VertexId(i % 7), VertexId(i));
        assert!(graph.insert_edge(src, dst, 1.0).expect("the update is valid"));
        assert_eq!(graph.snapshot().expect("a snapshot").degree(src, Direction::Out), i as usize / 7 + 1);
        most = most.max(graph.levels());
    }
    assert!(most > 2 && most <= EDGES.ilog2() as usize + 1, "{most} levels");
}

/// A level is merged when many of its entries are removed, even if there are only removals.
#[test]
fn removed_entries_are_merged_away() {
    const DEGREE: u32 = 3_000;
    let _sound = sound();
    let graph = llama(false, true);
    let hub = VertexId(0);
    let edges = 1..=DEGREE;
    let insert = |dst| Update::InsertEdge(hub, VertexId(dst), f64::from(dst));
    graph.write(&edges.clone().map(insert).collect::<Vec<_>>()).expect("the updates are valid");
    let first = graph.snapshot().expect("a snapshot");
    let full = graph.memory_bytes();
    for dst in edges.clone().filter(|dst| dst % 10 != 0) {
        assert!(graph.remove_edge(hub, VertexId(dst)).expect("the update is valid"));
    }
    let less = graph.snapshot().expect("a snapshot");
    assert!(graph.memory_bytes() < full * 2 / 3, "{} of {full} bytes", graph.memory_bytes());
    for dst in edges {
        let weight = f64::from(dst);
        assert_eq!(first.search_edge(hub, VertexId(dst)), Some(weight));
        assert_eq!(less.search_edge(VertexId(dst), hub), (dst % 10 == 0).then_some(weight));
    }
    let expected: Vec<VertexId> = (1..=DEGREE / 10).map(|i| VertexId(10 * i)).collect();
    assert!(less.neighbors(hub, Direction::Out).iter().eq(expected));
}

/// A page without vertices is given back, and a page with one vertex is kept.
#[test]
fn pages_without_vertices_are_given_back() {
    const PAGES: u32 = 100;
    let _sound = sound();
    let graph = llama(true, false);
    let vertices = |offset: u32| (0..PAGES).map(move |page| VertexId(64 * page + offset));
    let insert = |offset| vertices(offset).map(Update::InsertVertex).collect::<Vec<_>>();
    graph.write(&insert(1)).expect("the updates are valid");
    let full = graph.memory_bytes();
    let gone: Vec<Update> = vertices(1).skip(1).map(Update::RemoveVertex).collect();
    graph.write(&gone).expect("the updates are valid");
    graph.reclaim().expect("memory is given back");
    assert!(graph.memory_bytes() < full / 4, "{} of {full} bytes", graph.memory_bytes());
    let snapshot = graph.snapshot().expect("a snapshot");
    let left: Vec<VertexId> = (0..64 * PAGES).map(VertexId).filter(|&v| snapshot.contains(v)).collect();
    assert_eq!(left, [VertexId(1)]);
}

/// Returns the targets of a hub that a snapshot shows.
fn targets<S: Topology>(snapshot: &S, hub: VertexId) -> Vec<VertexId> {
    let mut targets = Vec::new();
    assert!(snapshot.visit([hub], Direction::Out, |_, run| targets.extend_from_slice(run)).is_ok());
    targets.sort_unstable();
    targets
}

/// Older snapshots do not change while levels are marked and merged. One thread removes edges of a hub and
/// inserts them again; a second thread reclaims memory; the main thread opens snapshots.
#[test]
fn a_hub_of_llama_is_read_beside_writers() {
    const DEGREE: u32 = 2_000;
    let _sound = sound();
    let graph = llama(true, false);
    let hub = VertexId(0);
    let insert = |dst| Update::InsertEdge(hub, VertexId(dst), 1.0);
    graph.write(&(0..DEGREE).map(insert).collect::<Vec<_>>()).expect("the updates are valid");
    let first = graph.snapshot().expect("a snapshot");
    let write = || {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let mut any = || VertexId(rng.below(u64::from(DEGREE)) as u32);
            let taken: Vec<VertexId> = (0..20).map(|_| any()).collect();
            let gone: Vec<Update> = taken.iter().map(|&dst| Update::RemoveEdge(hub, dst)).collect();
            graph.write(&gone).expect("the updates are valid");
            for dst in taken.into_iter().step_by(2) {
                graph.insert_edge(hub, dst, 1.0).expect("the update is valid");
            }
        }
    };
    let reclaim = || (0..100).for_each(|_| graph.reclaim().expect("memory is given back"));
    thread::scope(|scope| {
        let others = [scope.spawn(write), scope.spawn(reclaim)];
        while others.iter().any(|other| !other.is_finished()) {
            let snapshot = graph.snapshot().expect("a snapshot");
            let seen = targets(&snapshot, hub);
            assert_eq!(seen.len(), snapshot.degree(hub, Direction::Out));
            assert_eq!(seen.len() as u64, snapshot.edge_count());
            thread::yield_now();
            assert_eq!(targets(&snapshot, hub), seen);
            assert_eq!(targets(&first, hub).len(), DEGREE as usize);
        }
    });
}
