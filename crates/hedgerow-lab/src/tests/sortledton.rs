//! The suite on Sortledton and its forms.

use hedgerow_core::{Direction, DynamicGraph, GraphSnapshot, Resident, Update, VertexId};
use hedgerow_testkit::conformance::dynamic::memory_returns;
use hedgerow_workload::rng::Rng;

use super::{SEQUENCES, all_sequences, conforms, conforms_alone, finds, form, many_histories};
use crate::planted::{Planted, sound};
use crate::sortledton::{
    PlainSortledton, Sortledton, SortledtonOptions, UnversionedSortledton, VersionedSortledton,
};

/// With blocks so short that small graphs have skip lists of several levels.
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
    for fault in [Planted::PublishedEarly, Planted::RegisteringReaderMissed] {
        finds(fault, || many_histories(sortledton));
    }
    finds(Planted::TombstonesKept, || memory_returns(sortledton));
}

/// Lists of many blocks of every size that the study sweeps, grown in random order and taken down again beside a held snapshot.
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
