//! Scores against the plain formula, the unweighted kernels and NetworkX; when it stops; what cannot be.

use hedgerow_core::VertexId;
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{close, graphs, known_graph, plain_graph, sources, weighted_graph, with_threads};
use hedgerow_kernels::wpagerank::{verify, weighted_pagerank};
use hedgerow_kernels::{KernelError, PageRankConfig, pagerank, personalized_pagerank};

const RELATIVE: f64 = 1e-11;

fn config(iterations: u32, tolerance: Option<f64>) -> PageRankConfig {
    PageRankConfig { iterations, tolerance, ..PageRankConfig::default() }
}

#[test]
fn without_weights_it_is_pagerank() {
    for (at, g) in graphs().into_iter().enumerate() {
        let config = config([4, 0, 1][at % 3], None);
        let expected = pagerank(&g, &config).expect("valid");
        close(&weighted_pagerank(&g, None, &config).expect("valid"), &expected, RELATIVE).expect("the same");
        let some = sources(&g, 3);
        if !some.is_empty() {
            let expected = personalized_pagerank(&g, &some, &config).expect("live");
            let found = weighted_pagerank(&g, Some(&some), &config).expect("live");
            close(&found, &expected, RELATIVE).expect("the same");
        }
    }
}

fn random(seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let vertices = [1, 5, 60, 1500][seed as usize % 4];
    let mut any = || (rng.below(vertices) as u32, rng.below(vertices) as u32);
    let edges: Vec<(u32, u32)> = (0..vertices * [1, 4][seed as usize / 4 % 2]).map(|_| any()).collect();
    // Half of them weigh nothing; all do; tiny and huge ones side by side.
    let weight: fn(&mut Rng) -> f64 = match seed / 3 % 4 {
        0 => |rng| rng.below(2) as f64,
        1 => |_| 0.0,
        2 => |rng| rng.unit() * 1e300,
        _ => |rng| 10f64.powi(rng.below(40) as i32),
    };
    weighted_graph(vertices as usize, &edges, seed.is_multiple_of(2), weight)
}

#[test]
fn scores_as_computed_plainly() {
    for seed in 0..48 {
        let g = random(seed);
        let mut some = sources(&g, 4);
        // What stands there twice counts once.
        some.push(VertexId(0));
        for of in [None, Some(&some[..])] {
            let expected = verify::weighted_pagerank(&g, of, 0.85, 9);
            let run = || weighted_pagerank(&g, of, &config(9, None));
            let found = with_threads(1 + seed as usize % 3, run).expect("sound");
            close(&found, &expected, RELATIVE).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9, "seed {seed}");
        }
    }
}

/// `pagerank(G, weight="weight")` of NetworkX 3.6, without vertex 4, and with `personalization={1: 1, 3: 1}`.
#[test]
fn known_scores() {
    let sources = [VertexId(3), VertexId(1)];
    let scores = |directed, of| {
        weighted_pagerank(&known_graph(directed), of, &config(1000, Some(1e-14))).expect("sound")
    };
    let check =
        |found: Vec<f64>, expected: [f64; 9]| close(&found, &expected, 1e-10).expect("as in NetworkX");
    check(
        scores(false, None),
        [
            0.102447340696,
            0.094232848219,
            0.191709105194,
            0.056171122577,
            0.0,
            0.220124250452,
            0.095333070166,
            0.136882022480,
            0.103100240217,
        ],
    );
    check(
        scores(false, Some(&sources[..])),
        [
            0.090828675609,
            0.162904570980,
            0.156776871935,
            0.122165362244,
            0.0,
            0.277443307315,
            0.051357474494,
            0.075677133288,
            0.062846604136,
        ],
    );
    check(
        scores(true, None),
        [
            0.114038330684,
            0.112103918452,
            0.152154495454,
            0.121207251798,
            0.0,
            0.053092054676,
            0.100621329029,
            0.122037795124,
            0.224744824784,
        ],
    );
    check(
        scores(true, Some(&sources[..])),
        [
            0.144403774367,
            0.169886793373,
            0.102891059634,
            0.165298944360,
            0.0,
            0.046834700902,
            0.068684265132,
            0.113455420694,
            0.188545041539,
        ],
    );
}

#[test]
fn a_tolerance_bounds_the_error() {
    let g = random(11);
    let exact = verify::weighted_pagerank(&g, None, 0.85, 300);
    let with = |iterations, tolerance| {
        let found = weighted_pagerank(&g, None, &config(iterations, tolerance)).expect("sound");
        found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum::<f64>()
    };
    let error = with(1000, Some(1e-6));
    assert!(error <= 1e-6 / 0.15 && error > 1e-12, "it stops in time, not late: {error}");
    assert!((with(5, Some(0.0)) - with(5, None)).abs() < 1e-12, "at most so many iterations");
}

#[test]
fn what_cannot_be_is_refused() {
    let with = |weights: [f64; 3]| {
        let mut weights = weights.into_iter();
        let g = weighted_graph(3, &[(0, 1), (0, 2), (1, 2)], true, |_| weights.next().expect("three"));
        weighted_pagerank(&g, None, &config(5, None)).map(drop)
    };
    let (from, to) = (VertexId(1), VertexId(2));
    assert_eq!(with([1.0, 1.0, -2.0]), Err(KernelError::Weight { from, to, weight: -2.0 }));
    assert_eq!(
        with([1.0, 1.0, f64::INFINITY]),
        Err(KernelError::NotFinite { from, to, weight: f64::INFINITY })
    );
    let refused = with([f64::NAN, -1.0, -1.0]).expect_err("not a number").to_string();
    assert_eq!(refused, "the edge from vertex 0 to 1 weighs NaN, expected 0 or more");
    let refused = with([f64::MAX, f64::MAX, 1.0]).expect_err("too heavy").to_string();
    assert_eq!(
        refused,
        "the weights of the edges from vertex 0 sum to inf, expected 0 or a number in 2.3e-308..=1.8e308"
    );
    assert_eq!(with([0.0, 1e-310, 1.0]), Err(KernelError::WeightSum { vertex: VertexId(0), sum: 1e-310 }));
    assert_eq!(with([0.0, f64::MIN_POSITIVE, f64::MAX]), Ok(()));
    let g = plain_graph(2, &[(0, 1)], true);
    let refused = weighted_pagerank(&g, Some(&[]), &config(3, None)).expect_err("none").to_string();
    assert_eq!(refused, "sources must be one vertex or more, found 0");
    let refused = weighted_pagerank(&g, Some(&[VertexId(2)]), &config(3, None));
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 2 }));
    let wrong = PageRankConfig { damping: 1.5, ..PageRankConfig::default() };
    assert!(weighted_pagerank(&g, None, &wrong).is_err());
    assert_eq!(weighted_pagerank(&plain_graph(0, &[], false), None, &config(3, None)), Ok(Vec::new()));
}
