//! The suite on Aspen and its forms.

use hedgerow_core::Update;
use hedgerow_testkit::conformance::{PlainGraph, check_runs};

use super::*;
use crate::aspen::{Aspen, AspenOptions, CopyingAspen, PlainAspen};

/// Returns options with many heads. Even small graphs then have trees of several levels, and are united with
/// batches.
fn small() -> AspenOptions {
    AspenOptions { chunk: 4, ..AspenOptions::default() }
}

fn aspen(directed: bool, weighted: bool) -> Aspen {
    Aspen::with_options(form(directed, weighted), small())
}

#[test]
fn aspen_conforms() {
    let _sound = sound();
    conforms("aspen", aspen, SEQUENCES);
    conforms_alone("aspen, defaults", |d, w| Aspen::new(form(d, w)), SEQUENCES / 5);
}

#[test]
fn aspen_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone("aspen, plain", |d, w| PlainAspen::with_options(form(d, w), small()), SEQUENCES / 5);
    conforms_alone("aspen, versions", |d, w| CopyingAspen::with_options(form(d, w), small()), SEQUENCES / 5);
}

#[test]
fn ablations_of_aspen_conform() {
    let _sound = sound();
    let whole_ids = AspenOptions { difference: false, ..small() };
    let tree_alone = AspenOptions { flat: false, ..small() };
    for options in [whole_ids, tree_alone] {
        conforms_alone("aspen, ablation", |d, w| Aspen::with_options(form(d, w), options), SEQUENCES / 10);
    }
}

/// Makes one update of a plain graph. The graph has room for all ids.
fn apply(plain: &mut PlainGraph, update: Update) {
    let key = |src: VertexId, dst: VertexId| match plain.directed {
        true => (src.0, dst.0),
        false => (src.0.min(dst.0), src.0.max(dst.0)),
    };
    match update {
        Update::InsertVertex(v) => plain.live[v.index()] = true,
        Update::RemoveVertex(v) => {
            plain.live[v.index()] = false;
            plain.edges.retain(|&(a, b), _| a != v.0 && b != v.0);
        }
        Update::InsertEdge(src, dst, weight) => {
            (plain.live[src.index()], plain.live[dst.index()]) = (true, true);
            let key = key(src, dst);
            plain.edges.insert(key, if plain.weighted { weight } else { 1.0 });
        }
        Update::RemoveEdge(src, dst) => {
            let key = key(src, dst);
            plain.edges.remove(&key);
        }
    }
}

/// Returns batches that are large enough for several threads.
fn large_batches() -> [Vec<Update>; 6] {
    let edges =
        |from: u32, to: u32| (from..to).map(|i| (VertexId(i.wrapping_mul(i) % 5_003), VertexId(i % 3_001)));
    let insert = |(src, dst): (VertexId, VertexId)| Update::InsertEdge(src, dst, f64::from(dst.0 % 7));
    let remove = |(src, dst)| Update::RemoveEdge(src, dst);
    // The updates of this single vertex are enough to divide its list among threads too.
    let hub =
        |to: u32, weight: f64| (0..to).map(move |i| Update::InsertEdge(VertexId(0), VertexId(i), weight));
    let not_all = (0..20_000).filter(|i| i % 5 != 0).map(|i| Update::RemoveEdge(VertexId(0), VertexId(i)));
    [
        edges(0, 15_000).map(insert).collect(),
        hub(20_000, 1.5).collect(),
        hub(10_000, 2.5).collect(),
        edges(5_000, 9_000).map(remove).collect(),
        not_all.collect(),
        vec![Update::RemoveVertex(VertexId(0))],
    ]
}

#[test]
fn large_batches_of_aspen_are_those_of_sets() {
    let _sound = sound();
    for (directed, weighted) in [(false, false), (true, true)] {
        let graph = aspen(directed, weighted);
        let mut plain = PlainGraph { directed, weighted, live: vec![false; 20_000], ..PlainGraph::default() };
        let counts = |plain: &PlainGraph| {
            (plain.live.iter().filter(|&&live| live).count() as i64, plain.edges.len() as i64)
        };
        for (i, batch) in large_batches().into_iter().enumerate() {
            let before = counts(&plain);
            batch.iter().for_each(|&update| apply(&mut plain, update));
            let after = counts(&plain);
            let written = graph.write(&batch).expect("valid ids");
            assert_eq!(
                (written.vertices, written.edges),
                (after.0 - before.0, after.1 - before.1),
                "batch {i}"
            );
            if i >= 4 {
                let snapshot = graph.snapshot().expect("a snapshot");
                // The first check reads the tree, the second one reads the flat snapshot.
                check_runs(&snapshot, &plain);
                check_runs(&snapshot, &plain);
            }
        }
    }
}

#[test]
fn faults_of_aspen_are_found() {
    for fault in [
        Planted::TailBeforeItsHead,
        Planted::TailLostWithItsHead,
        Planted::UnionKeepsOldWeight,
        Planted::FlatListsOfOneDirection,
    ] {
        finds(fault, || assert!(all_sequences(aspen, SEQUENCES) > 0));
    }
    for fault in [Planted::BaseOfAnotherWriter, Planted::TimestampReadApart] {
        finds(fault, || many_histories(aspen));
    }
}
