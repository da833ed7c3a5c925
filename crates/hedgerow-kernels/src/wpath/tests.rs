//! Lengths against Bellman and Ford's algorithm, paths edge by edge; weights of 0; what is refused.

use std::collections::HashSet;

use hedgerow_core::{Direction, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{graphs, sources, weighted_graph};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::wpath::{shortest_weighted_path, verify};

/// Checks some pairs; returns how many were joined.
fn check(g: &Csr, pairs: usize) -> usize {
    let ends = sources(g, 400);
    let mut joined = 0;
    for (i, &source) in ends.iter().enumerate().step_by(1 + ends.len() / pairs) {
        let target = ends[(i * 7 + ends.len() / 2) % ends.len()];
        for direction in [Direction::Out, Direction::In] {
            let expected = verify::shortest_weighted_path(g, source, target, direction);
            let found = shortest_weighted_path(g, source, target, direction).expect("live");
            assert!(found.agrees_with(&expected, 1e-12), "{source:?} {target:?}: {found:?} {expected:?}");
            for (path, length) in found.iter() {
                joined += 1;
                let weigh = |pair: &[VertexId]| {
                    let mut least = f64::INFINITY;
                    g.weighted_neighbors(pair[0], direction).for_each(|v, weight| {
                        if v == pair[1] {
                            least = least.min(weight);
                        }
                    });
                    least
                };
                assert_eq!(path.windows(2).fold(0.0, |sum, pair| sum + weigh(pair)), length, "{path:?}");
                assert_eq!(path.iter().collect::<HashSet<_>>().len(), path.len(), "a vertex twice: {path:?}");
            }
        }
    }
    joined
}

#[test]
fn paths_are_there_and_no_longer_than_they_must_be() {
    assert!(graphs().iter().map(|g| check(g, 3)).sum::<usize>() > 200);
    let mut joined = 0;
    for seed in 0..40u64 {
        let mut rng = Rng::new(seed);
        let vertices = [2, 20, 200][seed as usize % 3];
        let edges: Vec<(u32, u32)> = (0..vertices * 3)
            .map(|_| (rng.below(vertices as u64) as u32, rng.below(vertices as u64) as u32))
            .collect();
        // Many weights of 0, many that are equal, or all different.
        let weight = |rng: &mut Rng| match seed % 4 {
            0 => rng.below(2) as f64,
            1 => 0.0,
            2 => rng.below(5) as f64 * 0.1,
            _ => rng.unit(),
        };
        joined += check(&weighted_graph(vertices, &edges, seed % 2 == 0, weight), 12);
    }
    assert!(joined > 300, "only {joined}");
}

#[test]
fn weights_that_cannot_be_are_refused_and_infinite_ones_are_not_crossed() {
    let graph = |weight: f64| weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], true, move |_| weight);
    for weight in [-1.0, f64::NAN] {
        let refused = shortest_weighted_path(&graph(weight), VertexId(0), VertexId(3), Direction::Out);
        let Err(KernelError::Weight { from, to, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(to.0, from.0 + 1, "as the path would follow it");
    }
    let none = shortest_weighted_path(&graph(f64::INFINITY), VertexId(0), VertexId(3), Direction::Out);
    assert!(none.expect("no path").is_empty());
    let refused = shortest_weighted_path(&graph(1.0), VertexId(0), VertexId(9), Direction::Out);
    assert_eq!(refused, Err(KernelError::TargetNotLive { target: VertexId(9), vertex_bound: 4 }));
}
