//! Tests of depths, neighborhoods and parents: both directions, all step counts, and every way to switch
//! between directions. Parents are checked as GAP does, and a test shows that this check can fail. Invalid
//! sources are refused.

use hedgerow_core::{Direction, VertexId};
use hedgerow_workload::Csr;

use crate::testing::{graphs, plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::bfs::{BfsConfig, bfs, verify};
use hedgerow_kernels::{KernelError, NO_VERTEX, bfs_parents, k_hop_neighborhood};

#[test]
fn depths_by_every_way_to_switch() {
    let configs = [
        BfsConfig::default(),
        BfsConfig { direction: Direction::In, ..BfsConfig::default() },
        BfsConfig { alpha: 0, ..BfsConfig::default() },
        BfsConfig { alpha: u32::MAX, beta: u32::MAX, ..BfsConfig::default() },
    ];
    for g in graphs() {
        for source in sources(&g, 3) {
            for config in &configs {
                let expected = verify::bfs(&g, source, config.direction);
                assert_eq!(
                    bfs(&g, source, config).expect("a live source"),
                    expected,
                    "{source:?} {config:?}"
                );
            }
        }
    }
}

#[test]
fn neighborhoods_end_where_they_are_told() {
    for g in graphs() {
        for source in sources(&g, 2) {
            for (hops, direction) in [
                (0, Direction::Out),
                (1, Direction::In),
                (2, Direction::Out),
                (3, Direction::In),
                (9, Direction::Out),
            ] {
                let expected = verify::k_hop_neighborhood(&g, source, hops, direction);
                let found = k_hop_neighborhood(&g, source, hops, direction).expect("live");
                assert_eq!(found, expected, "{hops} hops from {source:?}");
            }
        }
    }
}

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
    // One other parent that is valid, and some that are not.
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
fn sources_must_be_live() {
    type Run = fn(&Csr, VertexId) -> Result<Vec<u32>, KernelError>;
    let runs: [Run; 3] = [
        |g, source| bfs(g, source, &BfsConfig::default()),
        |g, source| bfs_parents(g, source, &BfsConfig::default()),
        |g, source| k_hop_neighborhood(g, source, 2, Direction::Out),
    ];
    for run in runs {
        let refused = run(&plain_graph(3, &[(0, 1)], true), VertexId(3));
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
        assert!(refused.unwrap_err().to_string().contains("vertex 3"));
        let refused = run(&random_graph(10, 0, false, 1.0, 1), VertexId(2));
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
        assert!(run(&plain_graph(0, &[], false), VertexId(0)).is_err());
    }
}
