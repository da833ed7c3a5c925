//! The conformance suite on every container, without faults and with each planted fault.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_core::{DynamicGraph, GraphSnapshot, Topology, Update, VertexId};
use hedgerow_testkit::conformance::dynamic::{histories, memory_returns, sequences, single_updates};
use hedgerow_testkit::{Effort, explored};

use crate::adjlst::{Adjlst, PlainAdjlst, VersionedAdjlst};
use crate::planted::{Planted, plant, sound};
use crate::rapidstore::{CopyingRapidStore, PlainRapidStore, RapidStore, RapidStoreOptions, ShortLists};
use crate::sortledton::{PlainSortledton, Sortledton, VersionedSortledton};
use crate::{GraphForm, LabError, StaticCsr};
use hedgerow_workload::{Csr, CsrOptions};

mod aspen;
mod livegraph;
mod llama;
mod lsmgraph;
mod sortledton;
mod teseo;

/// The number of rounds of random sequences; the deep form runs as many as its time allows.
const SEQUENCES: u64 = 50;
/// The number of seeds for histories.
const HISTORIES: u64 = 2;
/// The number of snapshots that each reader takes in a history.
const SNAPSHOTS: u32 = 80;

fn form(directed: bool, weighted: bool) -> GraphForm {
    GraphForm { directed, weighted }
}

/// Checks everything that a container without parallel writers must do.
fn conforms_alone<G: DynamicGraph>(name: &str, new: impl Fn(bool, bool) -> G, rounds: u64) {
    single_updates(&new);
    explored(&format!("sequences on {name}"), all_sequences(&new, rounds), rounds);
    memory_returns(&new);
}

/// Runs the whole suite.
fn conforms<G: DynamicGraph>(name: &str, new: impl Fn(bool, bool) -> G, rounds: u64) {
    conforms_alone(name, &new, rounds);
    all_histories(&new);
}

/// Checks that the given part of the suite finds the fault, and that the code takes the faulty path.
fn finds(fault: Planted, suite: impl Fn()) {
    let planting = plant(fault);
    let found = catch_unwind(AssertUnwindSafe(suite)).is_err();
    assert!(planting.reached() > 0, "{fault:?} is not reached");
    assert!(found, "{fault:?} is not found");
}

/// Runs random sequences. Returns the number of sequences.
fn all_sequences<G: DynamicGraph>(new: impl Fn(bool, bool) -> G, rounds: u64) -> u64 {
    let effort = Effort::rounds(rounds);
    let mut count = 0;
    while let Some(seed) = effort.next_seed() {
        sequences(&new, seed);
        count += 1;
    }
    count
}

fn all_histories<G: DynamicGraph>(new: impl Fn(bool, bool) -> G) {
    (0..HISTORIES).for_each(|seed| histories(&new, seed, SNAPSHOTS));
}

/// Runs more histories than sound containers get, because a fault of timing does not appear in each history.
fn many_histories<G: DynamicGraph>(new: impl Fn(bool, bool) -> G) {
    (0..10 * HISTORIES).for_each(|seed| histories(&new, seed, SNAPSHOTS));
}

fn adjlst(directed: bool, weighted: bool) -> Adjlst {
    Adjlst::new(form(directed, weighted))
}

#[test]
fn adjlst_conforms() {
    let _sound = sound();
    conforms("adjlst", adjlst, SEQUENCES);
}

#[test]
fn adjlst_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone(
        "adjlst, plain",
        |directed, weighted| PlainAdjlst::new(form(directed, weighted)),
        SEQUENCES / 5,
    );
    conforms_alone(
        "adjlst, versions",
        |directed, weighted| VersionedAdjlst::new(form(directed, weighted)),
        SEQUENCES / 5,
    );
}

#[test]
fn faults_of_adjlst_are_found() {
    for fault in [Planted::NewestVersionRead, Planted::ReadersForgotten, Planted::RemovalKept] {
        finds(fault, || assert!(all_sequences(adjlst, SEQUENCES) > 0));
    }
    finds(Planted::RegisteringReaderMissed, || many_histories(adjlst));
    finds(Planted::TombstonesKept, || memory_returns(adjlst));
}

/// Returns options with such short leaves that small graphs have trees of several levels.
fn small() -> RapidStoreOptions {
    RapidStoreOptions { segment: 8, longest_short: 6, ..RapidStoreOptions::default() }
}

fn rapidstore(directed: bool, weighted: bool) -> RapidStore {
    RapidStore::with_options(form(directed, weighted), small())
}

#[test]
fn rapidstore_conforms() {
    let _sound = sound();
    conforms("rapidstore", rapidstore, SEQUENCES);
    conforms_alone(
        "rapidstore, defaults",
        |directed, weighted| RapidStore::new(form(directed, weighted)),
        SEQUENCES / 5,
    );
}

#[test]
fn rapidstore_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone(
        "rapidstore, plain",
        |d, w| PlainRapidStore::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
    conforms_alone(
        "rapidstore, versions",
        |d, w| CopyingRapidStore::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
}

#[test]
fn ablations_of_rapidstore_conform() {
    let _sound = sound();
    let trees = RapidStoreOptions { longest_short: 0, ..small() };
    let radix = RapidStoreOptions { leaf_per_key: true, ..trees };
    let vectors = RapidStoreOptions { short_lists: ShortLists::Vectors, ..small() };
    for options in [trees, radix, vectors] {
        conforms_alone(
            "rapidstore, ablation",
            |d, w| RapidStore::with_options(form(d, w), options),
            SEQUENCES / 10,
        );
    }
}

#[test]
fn faults_of_rapidstore_are_found() {
    for fault in [Planted::PlacesNotMoved, Planted::PrefixNotCompared, Planted::SplitLosesLast] {
        finds(fault, || assert!(all_sequences(rapidstore, SEQUENCES) > 0));
    }
    for fault in [Planted::PublishedEarly, Planted::RegisteringReaderMissed] {
        finds(fault, || many_histories(rapidstore));
    }
}

/// Checks that the removal of an absent edge or vertex makes no room for its id and all ids before it.
fn removals_make_no_vertices<G: DynamicGraph<Error = LabError>>(graph: &G) {
    let [near, far] = [0, (1 << 28) - 1].map(VertexId);
    let updates = [Update::RemoveEdge(near, far), Update::RemoveEdge(far, near), Update::RemoveVertex(far)];
    for update in updates {
        assert!(graph.write(&[update]).is_ok_and(|written| written.edges == 0 && written.vertices == 0));
        let snapshot = graph.snapshot().expect("a snapshot");
        assert_eq!(snapshot.vertex_bound(), 0, "{update:?}");
    }
    assert!(graph.memory_bytes() < 4 << 20, "{}", graph.memory_bytes());
}

#[test]
fn removals_of_what_is_absent_leave_the_bound() {
    let _sound = sound();
    let form = form(true, false);
    removals_make_no_vertices(&Adjlst::new(form));
    removals_make_no_vertices(&PlainAdjlst::new(form));
    removals_make_no_vertices(&VersionedAdjlst::new(form));
    removals_make_no_vertices(&Sortledton::new(form));
    removals_make_no_vertices(&PlainSortledton::new(form));
    removals_make_no_vertices(&VersionedSortledton::new(form));
}

/// Checks the container of a CSR with three vertices: it refuses an update and answers reads.
fn csr_conforms_as_container() {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)], &CsrOptions::default()).expect("in range");
    let graph = StaticCsr::new(csr);
    let [a, b, c] = [0, 1, 2].map(VertexId);
    assert_eq!(graph.insert_edge(a, c, 1.0), Err(LabError::Static));
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!((snapshot.vertex_count(), snapshot.edge_count(), snapshot.timestamp().0), (3, 2, 0));
    assert_eq!((snapshot.search_edge(b, a), snapshot.search_edge(a, c)), (Some(1.0), None));
}

#[test]
fn csr_refuses_updates() {
    let _sound = sound();
    csr_conforms_as_container();
}

#[test]
fn faults_of_csr_are_found() {
    finds(Planted::TargetNotCompared, csr_conforms_as_container);
    finds(Planted::UpdatesSwallowed, csr_conforms_as_container);
}
