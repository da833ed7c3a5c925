//! Tests of known labels, and of all iterations until the labels do not change any more.

use crate::testing::{graphs, plain_graph};
use hedgerow_core::Topology;
use hedgerow_kernels::cdlp::{label_propagation, verify};
use hedgerow_kernels::{KernelError, NO_COMPONENT};

#[test]
fn every_iteration_is_as_counted() {
    for g in graphs().iter().filter(|g| g.edge_count() < 20_000) {
        for iterations in [1, 2, 5, 30] {
            let labels = label_propagation(g, iterations).expect("ids fit");
            assert_eq!(labels, verify::label_propagation(g, iterations), "{iterations} iterations");
        }
    }
}

#[test]
fn both_directions_count_and_the_least_label_wins() {
    // Vertex 2 has an edge to 1 and an edge each way with 3. Vertex 4 has no edges.
    let g = plain_graph(6, &[(2, 1), (2, 3), (3, 2), (5, 1)], true);
    let labels = label_propagation(&g, 1).expect("ids fit");
    assert_eq!(labels, [0, 2, 3, 2, 4, 1]);
}

/// Two vertices with one edge exchange their labels in each iteration.
#[test]
fn the_number_of_iterations_belongs_to_the_result() {
    let g = plain_graph(2, &[(0, 1)], false);
    assert_eq!(label_propagation(&g, 7), Ok(vec![1, 0]));
    assert_eq!(label_propagation(&g, 8), Ok(vec![0, 1]));
    let refused = label_propagation(&g, 0).expect_err("no iteration");
    assert_eq!(refused.to_string(), "iterations must be 1 to 4294967295, found 0");
    assert!(matches!(refused, KernelError::OutOfRange { .. }));
}

#[test]
fn cliques_keep_to_themselves() {
    let clique = |first: u32| (0..6u32).flat_map(move |v| (0..v).map(move |u| (first + u, first + v)));
    let edges: Vec<(u32, u32)> = clique(0).chain(clique(6)).chain([(5, 6)]).collect();
    let g = plain_graph(12, &edges, false);
    let labels = label_propagation(&g, 20).expect("ids fit");
    assert!(
        labels[..6].iter().all(|&label| label == labels[0]) && labels[6..].iter().all(|&l| l == labels[6])
    );
    assert!(labels[0] != labels[6] && labels[0] != NO_COMPONENT);
}

#[test]
fn the_slow_answer_can_differ() {
    let g = plain_graph(4, &[(0, 1), (1, 2), (2, 3)], false);
    assert_ne!(verify::label_propagation(&g, 1), verify::label_propagation(&g, 2));
    assert_eq!(verify::label_propagation(&g, 1), [1, 0, 1, 2]);
}
