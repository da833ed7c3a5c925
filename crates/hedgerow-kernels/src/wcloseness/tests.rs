//! Scores against the definition and NetworkX, and against the unweighted kernel; samples and their bound; what cannot be.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{close, graphs, known_graph, plain_graph, sources, weighted_graph, with_threads};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::closeness::{ClosenessOf, closeness};
use hedgerow_kernels::wcloseness::{verify, weighted_closeness};

const RELATIVE: f64 = 1e-12;

fn random(vertices: u64, edges: usize, directed: bool, seed: u64, weight: fn(&mut Rng) -> f64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut any = || (rng.below(vertices) as u32, rng.below(vertices) as u32);
    let edges: Vec<(u32, u32)> = (0..edges).map(|_| any()).collect();
    weighted_graph(vertices as usize, &edges, directed, weight)
}

#[test]
fn without_weights_it_is_closeness() {
    for (at, g) in graphs().into_iter().enumerate() {
        let direction = [Direction::Out, Direction::In][at % 2];
        for of in [ClosenessOf::Given(sources(&g, 2)), ClosenessOf::Sampled { count: 3, seed: 5 }] {
            let expected = closeness(&g, &of, direction).expect("live");
            close(&weighted_closeness(&g, &of, direction).expect("live"), &expected, RELATIVE)
                .expect("the same");
        }
    }
}

#[test]
fn exact_scores_of_all_and_of_some() {
    for seed in 0..60 {
        let weight: fn(&mut Rng) -> f64 = match seed % 3 {
            0 => |rng| rng.below(4) as f64,
            1 => |_| 0.0,
            _ => |rng| rng.unit() * 1e6,
        };
        let vertices = [1, 2, 30, 70][seed as usize % 4];
        let g = random(vertices, vertices as usize * [1, 3][seed as usize % 2], seed % 2 == 0, seed, weight);
        let direction = [Direction::Out, Direction::In][seed as usize / 2 % 2];
        let everyone = sources(&g, 100);
        let expected = verify::weighted_closeness(&g, &everyone, direction);
        for of in [ClosenessOf::All, ClosenessOf::Given(everyone), ClosenessOf::Sampled { count: 99, seed }] {
            let found = with_threads(1 + seed as usize % 3, || weighted_closeness(&g, &of, direction));
            close(&found.expect("sound"), &expected, RELATIVE).expect("the same");
        }
    }
}

/// `closeness_centrality(G, distance="weight")` of NetworkX 3.6, without vertex 4.
#[test]
fn known_scores() {
    let found = weighted_closeness(&known_graph(false), &ClosenessOf::All, Direction::Out).expect("sound");
    let expected = [14.0 / 17.0, 14.0 / 29.0, 2.0 / 3.0, 14.0 / 37.0, 0.0, 14.0 / 13.0];
    close(&found[..6], &expected, RELATIVE).expect("as in NetworkX");
    close(&found[6..], &[14.0 / 17.0, 14.0 / 17.0, 14.0 / 19.0], RELATIVE).expect("as in NetworkX");
    let found = weighted_closeness(&known_graph(true), &ClosenessOf::All, Direction::In).expect("sound");
    let expected = [7.0 / 33.0, 1.0 / 3.0, 7.0 / 33.0, 0.25, 0.0, 2.0 / 9.0, 14.0 / 69.0, 7.0 / 26.0, 0.4375];
    close(&found, &expected, RELATIVE).expect("as in NetworkX");
}

/// The mean distance and the share that is reached, which the sample estimates, are off by more than the bound less often than `δ`.
#[test]
fn the_error_of_samples_keeps_its_bound() {
    let g = random(300, 700, false, 7, |rng| rng.unit() * 10.0);
    let (live, count, delta) = (g.vertex_count() as f64, 40u32, 0.05f64);
    let bound = ((2.0 / delta).ln() / (2.0 * f64::from(count))).sqrt();
    let all: Vec<Vec<Option<f64>>> =
        sources(&g, 300).into_iter().map(|v| verify::distances(&g, v, Direction::Out)).collect();
    let most = all.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let mean = |v: usize, row: &[Option<f64>], chosen: &[VertexId]| {
        let (reached, sum) = chosen
            .iter()
            .filter(|other| other.index() != v)
            .filter_map(|other| row[other.index()])
            .fold((0.0, 0.0), |(n, sum), far| (n + 1.0, sum + far));
        (reached / chosen.len() as f64, sum / chosen.len() as f64)
    };
    let (everyone, rounds) = (ClosenessOf::All.sampled(&g, Direction::Out).expect("valid"), 40u64);
    let mut missed = 0;
    for seed in 0..rounds {
        let of = ClosenessOf::Sampled { count, seed };
        let chosen = of.sampled(&g, Direction::Out).expect("valid");
        let found = weighted_closeness(&g, &of, Direction::Out).expect("sound");
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

#[test]
fn what_cannot_be_is_refused() {
    let path = |weight: f64| weighted_graph(3, &[(0, 1), (1, 2)], true, move |_| weight);
    for weight in [-1.0, f64::NAN] {
        let refused = weighted_closeness(&path(weight), &ClosenessOf::All, Direction::Out);
        assert!(matches!(refused, Err(KernelError::Weight { .. })), "{refused:?}");
    }
    let uncrossed = weighted_closeness(&path(f64::INFINITY), &ClosenessOf::All, Direction::Out);
    assert_eq!(uncrossed, Ok(vec![0.0; 3]));
    let refused = weighted_closeness(&path(1.0), &ClosenessOf::Given(vec![VertexId(3)]), Direction::Out);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    let none = ClosenessOf::Sampled { count: 0, seed: 1 };
    let refused = weighted_closeness(&path(1.0), &none, Direction::Out).expect_err("none");
    assert_eq!(refused.to_string(), "samples must be 1 to 4294967295, found 0");
    assert_eq!(
        weighted_closeness(&plain_graph(0, &[], false), &ClosenessOf::All, Direction::In),
        Ok(Vec::new())
    );
}
