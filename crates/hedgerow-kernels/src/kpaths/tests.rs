//! Tests of lengths against a search that extends all beginnings, of each vertex of a path, of requests for
//! more paths than exist, and of refused input.

use std::collections::HashSet;

use hedgerow_core::{Direction, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{lightest, plain_graph, random_edges, sources, weighted_graph};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::kpaths::{k_shortest_paths, verify};

/// Checks a pair in both directions. Returns the number of paths.
fn check(g: &Csr, source: VertexId, target: VertexId, k: u32) -> usize {
    let mut paths = 0;
    for direction in [Direction::Out, Direction::In] {
        let found = k_shortest_paths(g, source, target, k, direction).expect("live");
        let expected = verify::k_shortest_paths(g, source, target, k as usize, direction);
        assert!(found.agrees_with(&expected, 1e-12), "{source:?} {target:?}: {found:?} {expected:?}");
        let different: HashSet<&[VertexId]> = found.iter().map(|(path, _)| path).collect();
        assert_eq!(different.len(), found.len(), "a path twice");
        for (path, length) in found.iter() {
            let weigh = |pair: &[VertexId]| lightest(g, pair[0], pair[1], direction);
            assert_eq!(path.windows(2).fold(0.0, |sum, pair| sum + weigh(pair)), length, "{path:?}");
            assert_eq!(path.iter().collect::<HashSet<_>>().len(), path.len(), "a vertex twice: {path:?}");
        }
        paths += found.len();
    }
    paths
}

#[test]
fn paths_are_the_shortest_ones() {
    let mut paths = 0;
    for seed in 0..60u64 {
        let mut rng = Rng::new(seed);
        let vertices = [2, 6, 8, 30, 200][seed as usize % 5];
        let edges = random_edges(&mut rng, vertices, vertices * [1, 3][seed as usize % 2]);
        let weight = |rng: &mut Rng| match seed % 4 {
            0 => rng.below(2) as f64,
            1 => 1.0,
            2 => rng.below(5) as f64 * 0.1,
            _ => rng.unit(),
        };
        let g = weighted_graph(vertices, &edges, seed % 2 == 0, weight);
        let ends = sources(&g, vertices);
        for _ in 0..4 {
            let mut pick = || ends[rng.below(ends.len() as u64) as usize];
            // In small graphs, the limit is above the number of all paths.
            let k = if vertices <= 8 { 10_000 } else { 12 };
            paths += check(&g, pick(), pick(), k);
        }
    }
    assert!(paths > 2000, "only {paths} paths");
}

#[test]
fn a_ladder_has_all_its_paths_in_order() {
    // A ladder of five rungs. Each step goes along a rail or crosses.
    let edges: Vec<(u32, u32)> =
        (0..5).flat_map(|i| [(2 * i, 2 * i + 1)]).chain((0..8).map(|i| (i, i + 2))).collect();
    let g = plain_graph(10, &edges, false);
    let found = k_shortest_paths(&g, VertexId(0), VertexId(9), 100, Direction::Out).expect("live");
    assert_eq!(found.count(), Some(16), "a rail to take at each of four steps");
    // After the 15th path the search has no way left to extend. But it already knows the 16th path, so `more`
    // is true.
    for (k, more) in [(1, true), (15, true), (16, false)] {
        let found = k_shortest_paths(&g, VertexId(0), VertexId(9), k, Direction::Out).expect("live");
        assert_eq!((found.len(), found.more(), found.count().is_none()), (k as usize, more, more), "{k}");
    }
    assert!(found.lengths().is_sorted() && found.lengths()[0] == 5.0 && found.lengths()[15] == 9.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let g = weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], true, |_| -2.0);
    let refused = k_shortest_paths(&g, VertexId(0), VertexId(3), 2, Direction::Out);
    assert!(matches!(refused, Err(KernelError::Weight { .. })), "{refused:?}");
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = k_shortest_paths(&g, VertexId(0), VertexId(1), 0, Direction::Out).expect_err("none");
    assert_eq!(refused.to_string(), "k must be 1 to 4294967295, found 0");
    assert!(k_shortest_paths(&g, VertexId(7), VertexId(1), 1, Direction::Out).is_err());
    assert!(k_shortest_paths(&g, VertexId(1), VertexId(0), 3, Direction::Out).expect("none").is_empty());
}
