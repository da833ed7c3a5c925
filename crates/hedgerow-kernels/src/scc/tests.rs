//! Tests of known components, and of all kinds of components in one graph.

use crate::testing::{graphs, plain_graph, random_graph};
use hedgerow_core::Topology;
use hedgerow_kernels::scc::{scc, verify};
use hedgerow_kernels::{NO_COMPONENT, wcc};

#[test]
fn components_as_found_one_after_another() {
    for g in graphs() {
        let components = scc(&g).expect("ids fit");
        assert_eq!(components, verify::scc(&g));
        if !g.is_directed() {
            assert_eq!(Ok(components), wcc(&g));
        }
    }
}

/// Sparse graphs have many components in addition to the largest one, and trees attached to them.
#[test]
fn sparse_graphs_have_components_of_all_sizes() {
    let mut sizes = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let g = random_graph(2000, 1600 + 40 * seed as usize, true, 0.1, seed);
        let components = scc(&g).expect("ids fit");
        assert_eq!(components, verify::scc(&g));
        let mut counts = std::collections::BTreeMap::new();
        components.iter().filter(|&&c| c != NO_COMPONENT).for_each(|c| *counts.entry(*c).or_insert(0) += 1);
        sizes.extend(counts.into_values());
    }
    assert!(sizes.len() > 50 && sizes.contains(&2) && sizes.contains(&3), "{sizes:?}");
}

/// A ring of three leads to two vertices with edges to each other, and these lead to a ring of four. One path
/// leads to the first ring, and one path away from the rings.
#[test]
fn rings_are_components_and_paths_are_none() {
    let ring = |first: u32, n: u32| (0..n).map(move |at| (first + at, first + (at + 1) % n));
    let edges: Vec<(u32, u32)> = ring(0, 3)
        .chain(ring(10, 4))
        .chain(ring(5, 2))
        .chain([(1, 5), (6, 11), (3, 0), (4, 3), (12, 7), (7, 8), (8, 8)])
        .collect();
    let g = plain_graph(15, &edges, true);
    let expected = vec![0, 0, 0, 3, 4, 5, 5, 7, 8, 9, 10, 10, 10, 10, 14];
    assert_eq!(scc(&g), Ok(expected.clone()));
    assert_eq!(verify::scc(&g), expected);
    // Holes have no component.
    assert!(scc(&random_graph(80, 0, true, 1.0, 1)).expect("ids fit").iter().all(|&c| c == NO_COMPONENT));
}

/// Rings of all sizes each lead to the next one, so neither trimming nor one pivot finds them. One path leads
/// through many vertices.
#[test]
fn a_chain_of_rings_is_left_to_the_last_step() {
    let mut edges = Vec::new();
    let mut first = 0;
    for size in 2..200u32 {
        edges.extend((0..size).map(|at| (first + at, first + (at + 1) % size)));
        edges.push((first, first + size));
        first += size;
    }
    edges.extend((first..first + 50_000).map(|v| (v, v + 1)));
    edges.push((first + 50_000, first + 20_000));
    let g = plain_graph(first as usize + 50_001, &edges, true);
    assert_eq!(scc(&g).expect("ids fit"), verify::scc(&g));
}

#[test]
fn the_slow_answer_can_differ() {
    let ring = plain_graph(3, &[(0, 1), (1, 2), (2, 0)], true);
    assert_eq!(verify::scc(&ring), [0, 0, 0]);
    assert_eq!(verify::scc(&plain_graph(3, &[(0, 1), (1, 2), (0, 2)], true)), [0, 1, 2]);
}
