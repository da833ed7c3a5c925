//! Aspen.

use hedgerow_core::{Direction, Resident, Update};

use super::*;
use crate::aspen::{Aspen, AspenOptions, CopyingAspen, PlainAspen};

/// With so many heads that small graphs have trees of several levels, and batches that are united with them.
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

/// Batches that are shared out among threads make what the same updates make one by one.
#[test]
fn large_batches_of_aspen_are_those_of_small_ones() {
    let _sound = sound();
    let edges =
        |from: u32, to: u32| (from..to).map(|i| (VertexId(i.wrapping_mul(i) % 5_003), VertexId(i % 3_001)));
    let insert = |(src, dst)| Update::InsertEdge(src, dst, 1.0);
    let remove = |(src, dst)| Update::RemoveEdge(src, dst);
    // Those of a single vertex are enough for its list to be shared out too.
    let hub = (0..20_000).map(|i| Update::InsertEdge(VertexId(0), VertexId(i), 1.0));
    let not_all = (0..20_000).filter(|i| i % 5 != 0).map(|i| Update::RemoveEdge(VertexId(0), VertexId(i)));
    let batches: [Vec<Update>; 4] = [
        edges(0, 15_000).map(insert).collect(),
        hub.collect(),
        edges(5_000, 9_000).map(remove).collect(),
        not_all.collect(),
    ];
    let (large, small) = (aspen(false, false), PlainAspen::with_options(form(false, false), small()));
    let written = |graph: &dyn Fn(&[Update]) -> (i64, i64), pieces: usize| -> Vec<(i64, i64)> {
        let sum = |a: (i64, i64), b: (i64, i64)| (a.0 + b.0, a.1 + b.1);
        batches.iter().map(|batch| batch.chunks(pieces).map(graph).fold((0, 0), sum)).collect()
    };
    let by_large = written(
        &|updates| large.write(updates).map(|w| (w.vertices, w.edges)).expect("valid ids"),
        usize::MAX,
    );
    let by_small =
        written(&|updates| small.write(updates).map(|w| (w.vertices, w.edges)).expect("valid ids"), 3);
    assert_eq!(by_large, by_small);
    let [large, small] = [large.snapshot(), small.snapshot()].map(|snapshot| snapshot.expect("a snapshot"));
    assert_eq!((large.vertex_count(), large.edge_count()), (small.vertex_count(), small.edge_count()));
    for v in (0..20_000).map(VertexId) {
        let list =
            |of: &crate::aspen::AspenSnapshot| of.neighbors(v, Direction::Out).iter().collect::<Vec<_>>();
        assert_eq!(list(&large), list(&small), "{v:?}");
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
