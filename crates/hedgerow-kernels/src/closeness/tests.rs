//! Scores against the definition, for all vertices and for some; samples and their bound; known graphs; what cannot be.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::testing::{close, graphs, plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::closeness::{ClosenessOf, closeness, verify};

const RELATIVE: f64 = 1e-12;

#[test]
fn exact_scores_of_all_and_of_some() {
    for (at, g) in graphs().into_iter().enumerate() {
        let direction = [Direction::Out, Direction::In][at % 2];
        let given = sources(&g, 70);
        let expected = verify::closeness(&g, &given, direction);
        let of = ClosenessOf::Given(given);
        close(&closeness(&g, &of, direction).expect("live"), &expected, RELATIVE).expect("the same");
        if g.vertex_bound() <= 300 {
            let expected = verify::closeness(&g, &sources(&g, 300), direction);
            for of in [ClosenessOf::All, ClosenessOf::Sampled { count: 1000, seed: 3 }] {
                close(&closeness(&g, &of, direction).expect("valid"), &expected, RELATIVE).expect("the same");
            }
        }
    }
}

#[test]
fn levels_of_many_vertices_are_found_from_either_side() {
    let g = random_graph(20_000, 300_000, true, 0.1, 5);
    let of = ClosenessOf::Sampled { count: 100, seed: 1 };
    let drawn = |of: &ClosenessOf| of.sampled(&g, Direction::Out).expect("valid");
    let (chosen, all) = (drawn(&of), drawn(&ClosenessOf::All));
    let scale = all.len() as f64 / chosen.len() as f64;
    let expected = verify::closeness_to(&g, &chosen, scale, Direction::Out);
    for threads in [1, 3] {
        let found = with_threads(threads, || closeness(&g, &of, Direction::Out)).expect("valid");
        close(&found, &expected, RELATIVE).expect("the same");
    }
}

/// Each way of NetworkX 3: `closeness_centrality(G)` of a directed path, and of two components.
#[test]
fn known_scores() {
    let path = plain_graph(4, &[(0, 1), (1, 2), (2, 3)], true);
    let found = closeness(&path, &ClosenessOf::All, Direction::In).expect("valid");
    close(&found, &[0.0, 1.0 / 3.0, 4.0 / 9.0, 0.5], RELATIVE).expect("as in NetworkX");
    let two = plain_graph(6, &[(0, 1), (1, 2), (3, 4)], false);
    let found = closeness(&two, &ClosenessOf::All, Direction::Out).expect("valid");
    let expected = [4.0 / 15.0, 0.4, 4.0 / 15.0, 0.2, 0.2, 0.0];
    close(&found, &expected, RELATIVE).expect("as in NetworkX");
    let star: Vec<(u32, u32)> = (1..500).map(|v| (0, v)).collect();
    let found = closeness(&plain_graph(500, &star, false), &ClosenessOf::All, Direction::Out).expect("valid");
    assert!(found[0] == 1.0 && found[1..].iter().all(|score| *score == found[1]));
}

/// The mean distance and the share that is reached, which the sample estimates, are off by more than the bound less often than `δ`.
#[test]
fn the_error_of_samples_keeps_its_bound() {
    let g = random_graph(400, 900, false, 0.0, 7);
    let (live, count, delta) = (g.vertex_count(), 40u32, 0.05f64);
    let bound = ((2.0 / delta).ln() / (2.0 * f64::from(count))).sqrt();
    let far = |v: VertexId| verify::hops(&g, v, Direction::Out);
    let all: Vec<Vec<Option<u64>>> = sources(&g, live).into_iter().map(far).collect();
    let most = all.iter().flatten().flatten().max().copied().unwrap_or(0) as f64;
    // Of others, among those to which edges lead.
    let mean = |v: usize, row: &[Option<u64>], chosen: &[VertexId]| {
        let found = chosen.iter().filter(|other| other.index() != v).map(|other| row[other.index()]);
        let (reached, sum) = found.flatten().fold((0.0, 0.0), |(n, sum), far| (n + 1.0, sum + far as f64));
        (reached / chosen.len() as f64, sum / chosen.len() as f64)
    };
    let (everyone, rounds) = (ClosenessOf::All.sampled(&g, Direction::Out).expect("valid"), 60u64);
    let mut missed = 0;
    for seed in 0..rounds {
        let of = ClosenessOf::Sampled { count, seed };
        let (chosen, found) = (
            of.sampled(&g, Direction::Out).expect("valid"),
            closeness(&g, &of, Direction::Out).expect("valid"),
        );
        for (v, row) in all.iter().enumerate() {
            let ((share, far), (exact_share, exact)) = (mean(v, row, &chosen), mean(v, row, &everyone));
            missed += u64::from((share - exact_share).abs() > bound || (far - exact).abs() > bound * most);
            let targets = everyone.len() as f64;
            let others = share * targets;
            let score = others / (far * targets) * others / (live as f64 - 1.0);
            assert!(far == 0.0 || (score - found[v]).abs() < 1e-9, "the kernel's estimate is made of these");
        }
    }
    assert!((missed as f64) < 2.0 * delta * (rounds * live as u64) as f64, "{missed} estimates are off");
}

#[test]
fn what_cannot_be_is_refused() {
    let g = random_graph(10, 20, true, 1.0, 1);
    let refused = closeness(&g, &ClosenessOf::Given(vec![VertexId(2)]), Direction::Out);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
    let none = ClosenessOf::Sampled { count: 0, seed: 1 };
    let refused = closeness(&g, &none, Direction::Out).expect_err("none");
    assert_eq!(refused.to_string(), "samples must be 1 to 4294967295, found 0");
    assert_eq!(closeness(&g, &ClosenessOf::All, Direction::Out), Ok(vec![0.0; 10]));
    assert_eq!(closeness(&plain_graph(0, &[], false), &ClosenessOf::All, Direction::In), Ok(Vec::new()));
    assert_eq!(closeness(&plain_graph(1, &[(0, 0)], true), &ClosenessOf::All, Direction::In), Ok(vec![0.0]));
}
