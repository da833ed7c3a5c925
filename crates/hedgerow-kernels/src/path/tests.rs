//! Tests of lengths by hops and by weights against the verifiers, of each edge of a path, of weights of 0,
//! and of refused input.

use std::collections::HashSet;

use hedgerow_core::{Direction, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{graphs, lightest, plain_graph, random_edges, random_graph, sources, weighted_graph};
use hedgerow_kernels::path::{shortest_path, verify};
use hedgerow_kernels::{KernelError, Paths, shortest_weighted_path};

type Run = fn(&Csr, VertexId, VertexId, Direction) -> Result<Paths, KernelError>;
type Verifier = fn(&Csr, VertexId, VertexId, Direction) -> Paths;

/// The kernel of each kind of length with its verifier.
const BY_HOPS: (Run, Verifier) = (shortest_path, verify::shortest_path);
const BY_WEIGHTS: (Run, Verifier) = (shortest_weighted_path, verify::shortest_weighted_path);

/// Checks some pairs of a graph, which has weights if paths go by weights. Returns the number of pairs with a
/// path.
fn check(g: &Csr, pairs: usize, (run, verifier): (Run, Verifier)) -> usize {
    let ends = sources(g, 400);
    let mut joined = 0;
    for (i, &source) in ends.iter().enumerate().step_by(1 + ends.len() / pairs) {
        let target = ends[(i * 7 + ends.len() / 2) % ends.len()];
        for direction in [Direction::Out, Direction::In] {
            let expected = verifier(g, source, target, direction);
            let found = run(g, source, target, direction).expect("live");
            assert!(found.agrees_with(&expected, 1e-12), "{source:?} {target:?}: {found:?} {expected:?}");
            for (path, length) in found.iter() {
                joined += 1;
                assert_eq!((path[0], path[path.len() - 1]), (source, target));
                let weigh = |pair: &[VertexId]| lightest(g, pair[0], pair[1], direction);
                assert_eq!(path.windows(2).fold(0.0, |sum, pair| sum + weigh(pair)), length, "{path:?}");
                assert_eq!(path.iter().collect::<HashSet<_>>().len(), path.len(), "a vertex twice: {path:?}");
            }
        }
    }
    joined
}

#[test]
fn paths_are_there_and_no_longer_than_they_must_be() {
    let graphs = graphs();
    assert!(graphs.iter().map(|g| check(g, 4, BY_HOPS)).sum::<usize>() > 500);
    assert!(graphs.iter().map(|g| check(g, 3, BY_WEIGHTS)).sum::<usize>() > 200);
    let mut joined = 0;
    for seed in 0..40u64 {
        let mut rng = Rng::new(seed);
        let vertices = [2, 20, 200][seed as usize % 3];
        let edges = random_edges(&mut rng, vertices, vertices * 3);
        // The kinds of weights: many of 0, all 0, many equal ones, or all different.
        let weight = |rng: &mut Rng| match seed % 4 {
            0 => rng.below(2) as f64,
            1 => 0.0,
            2 => rng.below(5) as f64 * 0.1,
            _ => rng.unit(),
        };
        joined += check(&weighted_graph(vertices, &edges, seed % 2 == 0, weight), 12, BY_WEIGHTS);
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
}

#[test]
fn ends_must_be_live() {
    for (run, _) in [BY_HOPS, BY_WEIGHTS] {
        let g = random_graph(10, 0, false, 1.0, 1);
        let refused = run(&g, VertexId(3), VertexId(3), Direction::Out);
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 10 }));
        let g = plain_graph(3, &[(0, 1)], true);
        let refused = run(&g, VertexId(0), VertexId(9), Direction::Out);
        assert_eq!(refused, Err(KernelError::TargetNotLive { target: VertexId(9), vertex_bound: 3 }));
        assert!(refused.unwrap_err().to_string().contains("target vertex 9"));
        let itself = run(&g, VertexId(2), VertexId(2), Direction::Out).expect("live");
        assert_eq!((itself.path(0), itself.lengths()), (&[VertexId(2)][..], &[0.0][..]));
    }
}
