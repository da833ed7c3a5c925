//! Parents as in plain searches and as GAP checks them; that the check can fail; graphs that are stored in one direction; what cannot be.

use hedgerow_core::{Direction, VertexId};

use crate::testing::{graphs, plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::bfs_parents::{NO_VERTEX, bfs_parents, verify};
use hedgerow_kernels::{BfsConfig, KernelError, bfs};

#[test]
fn parents_as_in_a_plain_search_and_as_gap_checks_them() {
    for g in graphs() {
        for (at, source) in sources(&g, 3).into_iter().enumerate() {
            let direction = [Direction::Out, Direction::In][at % 2];
            let config = BfsConfig { direction, ..BfsConfig::default() };
            let found = with_threads(1 + at, || bfs_parents(&g, source, &config)).expect("live");
            assert_eq!(found, verify::bfs_parents(&g, source, direction));
            let depth = bfs(&g, source, &config).expect("live");
            assert_eq!(verify::check_parents(&g, source, direction, &depth, &found), Ok(()));
        }
    }
}

#[test]
fn the_check_can_fail() {
    let g = plain_graph(6, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 1)], true);
    let config = BfsConfig::default();
    let (source, depth) = (VertexId(0), bfs(&g, VertexId(0), &config).expect("live"));
    let found = bfs_parents(&g, source, &config).expect("live");
    assert_eq!(found, [0, 0, 0, 1, 3, NO_VERTEX]);
    // Another parent that would do too, and some that would not.
    for (at, parent, expected) in [
        (3, 2, Ok(())),
        (3, 0, Err(VertexId(3))),
        (1, 4, Err(VertexId(1))),
        (0, NO_VERTEX, Err(VertexId(0))),
        (2, NO_VERTEX, Err(VertexId(2))),
        (5, 3, Err(VertexId(5))),
    ] {
        let mut other = found.clone();
        other[at] = parent;
        assert_eq!(verify::check_parents(&g, source, Direction::Out, &depth, &other), expected);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let g = random_graph(10, 20, true, 1.0, 1);
    let refused = bfs_parents(&g, VertexId(2), &BfsConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
}
