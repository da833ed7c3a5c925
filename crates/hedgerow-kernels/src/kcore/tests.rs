//! Tests of known core numbers.

use crate::testing::{plain_graph, random_graph};
use hedgerow_kernels::kcore::{core_numbers, verify};

/// The graph has a clique of five, a ring of two of its vertices and six more, a path attached to it, and a
/// vertex without neighbors.
#[test]
fn what_hangs_from_a_clique_has_lower_numbers() {
    let mut edges: Vec<(u32, u32)> = (0..5).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    edges.extend((4..10).map(|v| (v, v + 1)));
    edges.extend([(10, 0), (10, 11), (11, 12), (12, 12)]);
    let expected = vec![4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 1, 1, 0];
    for directed in [false, true] {
        let g = plain_graph(14, &edges, directed);
        assert_eq!(core_numbers(&g), Ok(expected.clone()));
        assert_eq!(verify::core_numbers(&g), expected);
    }
}

#[test]
fn edges_both_ways_count_twice_and_loops_not() {
    let g = plain_graph(4, &[(0, 1), (1, 0), (1, 2), (2, 2), (3, 3)], true);
    assert_eq!(core_numbers(&g), Ok(vec![2, 2, 1, 0]));
    assert_eq!(verify::core_numbers(&g), [2, 2, 1, 0]);
    assert_eq!(core_numbers(&random_graph(70, 0, true, 1.0, 1)), Ok(vec![0; 70]));
}

/// The kernel removes a path from its ends, so the number of rounds is half of its length.
#[test]
fn a_long_path_is_peeled_to_its_middle() {
    let path: Vec<(u32, u32)> = (1..30_000).map(|v| (v - 1, v)).collect();
    assert_eq!(core_numbers(&plain_graph(30_000, &path, true)), Ok(vec![1; 30_000]));
}

#[test]
fn the_slow_answer_can_differ() {
    let triangle = plain_graph(3, &[(0, 1), (1, 2), (2, 0)], false);
    assert_eq!(verify::core_numbers(&triangle), [2, 2, 2]);
    assert_eq!(verify::core_numbers(&plain_graph(3, &[(0, 1), (1, 2)], false)), [1, 1, 1]);
}
