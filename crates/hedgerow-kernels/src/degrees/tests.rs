//! Tests of degrees in both directions, and of the number of vertices with each degree.

use hedgerow_core::Direction;

use crate::testing::{graphs, plain_graph};
use hedgerow_kernels::degrees::{verify, vertex_degrees};
use hedgerow_kernels::histogram;

#[test]
fn degrees_as_counted() {
    for g in graphs() {
        for direction in [Direction::Out, Direction::In] {
            assert_eq!(vertex_degrees(&g, direction), Ok(verify::vertex_degrees(&g, direction)));
        }
    }
}

#[test]
fn directions_differ_and_numbers_are_counted() {
    let g = plain_graph(5, &[(0, 1), (0, 2), (1, 2), (3, 3)], true);
    assert_eq!(vertex_degrees(&g, Direction::Out), Ok(vec![2, 1, 0, 1, 0]));
    let into = vertex_degrees(&g, Direction::In).expect("ids fit");
    assert_eq!(into, [0, 1, 2, 1, 0]);
    assert_eq!(verify::vertex_degrees(&g, Direction::In), into);
    assert_eq!(histogram(into), [(0, 2), (1, 2), (2, 1)]);
    assert!(histogram([]).is_empty());
}
