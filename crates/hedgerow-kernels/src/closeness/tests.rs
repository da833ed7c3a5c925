//! Tests of scores by hops and by weights against the definition and NetworkX, of samples and their error
//! bound, and of refused input.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{
    close, graphs, known_graph, plain_graph, random_edges, random_graph, sources, weighted_graph,
    with_threads,
};
use hedgerow_kernels::closeness::{ClosenessOf, closeness, verify};
use hedgerow_kernels::{KernelError, UNREACHED, verify as all, weighted_closeness};

const RELATIVE: f64 = 1e-12;

type Run = fn(&Csr, &ClosenessOf, Direction) -> Result<Vec<f64>, KernelError>;
type Verifier = fn(&Csr, &[VertexId], Direction) -> Vec<f64>;

/// The kernel of each measure with its verifier.
const BY_HOPS: (Run, Verifier) = (closeness, verify::closeness);
const BY_WEIGHTS: (Run, Verifier) = (weighted_closeness, verify::weighted_closeness);

fn random(vertices: usize, edges: usize, directed: bool, seed: u64, weight: fn(&mut Rng) -> f64) -> Csr {
    weighted_graph(vertices, &random_edges(&mut Rng::new(seed), vertices, edges), directed, weight)
}

#[test]
fn without_weights_both_are_the_same() {
    for (at, g) in graphs().into_iter().enumerate() {
        let direction = [Direction::Out, Direction::In][at % 2];
        for of in [ClosenessOf::Given(sources(&g, 2)), ClosenessOf::Sampled { count: 3, seed: 5 }] {
            let expected = closeness(&g, &of, direction).expect("live");
            close(&weighted_closeness(&g, &of, direction).expect("live"), &expected, RELATIVE)
                .expect("the same");
        }
    }
}

fn check_exact(g: &Csr, seed: usize, (run, verifier): (Run, Verifier)) {
    let (direction, threads) = ([Direction::Out, Direction::In][seed / 2 % 2], 1 + seed % 3);
    let check = |of: &ClosenessOf, expected: &[f64]| {
        let found = with_threads(threads, || run(g, of, direction)).expect("sound");
        close(&found, expected, RELATIVE).expect("the same");
    };
    let given = sources(g, 70);
    let expected = verifier(g, &given, direction);
    check(&ClosenessOf::Given(given), &expected);
    if g.vertex_bound() <= 300 {
        let expected = verifier(g, &sources(g, 300), direction);
        check(&ClosenessOf::All, &expected);
        check(&ClosenessOf::Sampled { count: 1000, seed: seed as u64 }, &expected);
    }
}

#[test]
fn exact_scores_of_all_and_of_some() {
    graphs().iter().enumerate().for_each(|(seed, g)| check_exact(g, seed, BY_HOPS));
    for seed in 0..60 {
        let weight: fn(&mut Rng) -> f64 = match seed % 3 {
            0 => |rng| rng.below(4) as f64,
            1 => |_| 0.0,
            _ => |rng| rng.unit() * 1e6,
        };
        let vertices = [1, 2, 30, 70][seed % 4];
        let edges = vertices * [1, 3][seed % 2];
        check_exact(&random(vertices, edges, seed % 2 == 0, seed as u64, weight), seed, BY_WEIGHTS);
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

/// The results of `closeness_centrality(G)` in NetworkX 3, for a directed path and for two components.
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

/// The results of `closeness_centrality(G, distance="weight")` in NetworkX 3.6, without vertex 4.
#[test]
fn known_scores_by_weights() {
    let found = weighted_closeness(&known_graph(false), &ClosenessOf::All, Direction::Out).expect("sound");
    let expected = [14.0 / 17.0, 14.0 / 29.0, 2.0 / 3.0, 14.0 / 37.0, 0.0, 14.0 / 13.0];
    close(&found[..6], &expected, RELATIVE).expect("as in NetworkX");
    close(&found[6..], &[14.0 / 17.0, 14.0 / 17.0, 14.0 / 19.0], RELATIVE).expect("as in NetworkX");
    let found = weighted_closeness(&known_graph(true), &ClosenessOf::All, Direction::In).expect("sound");
    let expected = [7.0 / 33.0, 1.0 / 3.0, 7.0 / 33.0, 0.25, 0.0, 2.0 / 9.0, 14.0 / 69.0, 7.0 / 26.0, 0.4375];
    close(&found, &expected, RELATIVE).expect("as in NetworkX");
}

/// Checks the bound for some samples, against the distances from each vertex.
fn check_bound(g: &Csr, rounds: u64, run: Run, distances: impl Fn(VertexId) -> Vec<f64>) {
    let (live, count, delta) = (g.vertex_count() as f64, 40u32, 0.05f64);
    let bound = ((2.0 / delta).ln() / (2.0 * f64::from(count))).sqrt();
    let all: Vec<Vec<f64>> = sources(g, g.vertex_count()).into_iter().map(distances).collect();
    let most = all.iter().flatten().copied().filter(|far| far.is_finite()).fold(0.0, f64::max);
    // Computes the means over the other chosen vertices, which are among the vertices that edges lead to.
    let mean = |v: usize, row: &[f64], chosen: &[VertexId]| {
        let found = chosen.iter().filter(|other| other.index() != v).map(|other| row[other.index()]);
        let reached = found.filter(|far| far.is_finite());
        let (reached, sum) = reached.fold((0.0, 0.0), |(n, sum), far| (n + 1.0, sum + far));
        (reached / chosen.len() as f64, sum / chosen.len() as f64)
    };
    let everyone = ClosenessOf::All.sampled(g, Direction::Out).expect("valid");
    let mut missed = 0;
    for seed in 0..rounds {
        let of = ClosenessOf::Sampled { count, seed };
        let chosen = of.sampled(g, Direction::Out).expect("valid");
        let found = run(g, &of, Direction::Out).expect("sound");
        for (v, row) in all.iter().enumerate() {
            let ((share, far), (exact_share, exact)) = (mean(v, row, &chosen), mean(v, row, &everyone));
            missed += u64::from((share - exact_share).abs() > bound || (far - exact).abs() > bound * most);
            let targets = everyone.len() as f64;
            let others = share * targets;
            let score = others / (far * targets) * others / (live - 1.0);
            assert!(far == 0.0 || (score - found[v]).abs() < 1e-9, "the kernel's estimate is made of these");
        }
    }
    assert!((missed as f64) < 2.0 * delta * rounds as f64 * live, "{missed} estimates are off");
}

/// A sample estimates the mean distance and the share of reached vertices. The probability of an error above
/// the bound is less than `δ`.
#[test]
fn the_error_of_samples_keeps_its_bound() {
    let g = random_graph(400, 900, false, 0.0, 7);
    let hops = |v| {
        let far = all::bfs(&g, v, Direction::Out).into_iter();
        far.map(|hops| if hops == UNREACHED { f64::INFINITY } else { hops.into() }).collect()
    };
    check_bound(&g, 60, closeness, hops);
    let g = random(300, 700, false, 7, |rng| rng.unit() * 10.0);
    check_bound(&g, 40, weighted_closeness, |v| all::sssp(&g, v, Direction::Out));
}

#[test]
fn what_cannot_be_is_refused() {
    for (run, _) in [BY_HOPS, BY_WEIGHTS] {
        let g = random_graph(10, 20, true, 1.0, 1);
        let refused = run(&g, &ClosenessOf::Given(vec![VertexId(2)]), Direction::Out);
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
        let none = ClosenessOf::Sampled { count: 0, seed: 1 };
        let refused = run(&g, &none, Direction::Out).expect_err("none");
        assert_eq!(refused.to_string(), "samples must be 1 to 4294967295, found 0");
        assert_eq!(run(&g, &ClosenessOf::All, Direction::Out), Ok(vec![0.0; 10]));
        assert_eq!(run(&plain_graph(0, &[], false), &ClosenessOf::All, Direction::In), Ok(Vec::new()));
        assert_eq!(run(&plain_graph(1, &[(0, 0)], true), &ClosenessOf::All, Direction::In), Ok(vec![0.0]));
    }
}

#[test]
fn weights_that_cannot_be_are_refused_and_infinite_ones_are_not_crossed() {
    let path = |weight: f64| weighted_graph(3, &[(0, 1), (1, 2)], true, move |_| weight);
    for weight in [-1.0, f64::NAN] {
        let refused = weighted_closeness(&path(weight), &ClosenessOf::All, Direction::Out);
        assert!(matches!(refused, Err(KernelError::Weight { .. })), "{refused:?}");
    }
    let uncrossed = weighted_closeness(&path(f64::INFINITY), &ClosenessOf::All, Direction::Out);
    assert_eq!(uncrossed, Ok(vec![0.0; 3]));
    let refused = weighted_closeness(&path(1.0), &ClosenessOf::Given(vec![VertexId(3)]), Direction::Out);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
}
