//! Tests of scores by hops and by weights against the plain formula, the other kinds of PageRank and
//! NetworkX. The tests cover numbers of both widths, the end of the iterations, and arguments out of range.

use hedgerow_core::{Direction, Resident, Topology, VertexId};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, GraphSpec};

use crate::testing::{
    close, csr_of, graphs, known_graph, plain_graph, random_edges, random_graph, sources, weighted_graph,
    with_threads,
};
use hedgerow_kernels::pagerank::{PageRankConfig, pagerank, pagerank_with, verify};
use hedgerow_kernels::{KernelError, personalized_pagerank, weighted_pagerank};

const RELATIVE_BY_WEIGHTS: f64 = 1e-11;

fn config(iterations: u32, tolerance: Option<f64>) -> PageRankConfig {
    PageRankConfig { iterations, tolerance, ..PageRankConfig::default() }
}

#[test]
fn scores_as_computed_plainly() {
    for g in graphs() {
        for iterations in [0, 1, 12] {
            let config = PageRankConfig { iterations, ..PageRankConfig::default() };
            let scores = pagerank(&g, &config).expect("valid");
            close(&scores, &verify::pagerank(&g, 0.85, iterations), 1e-12).expect("the same");
            let sum: f64 = scores.iter().sum();
            assert!(g.vertex_count() == 0 || (sum - 1.0).abs() < 1e-9, "scores sum to {sum}");
        }
    }
}

#[test]
fn tolerance_stops_early_and_single_precision_is_near() {
    let g = random_graph(2000, 20_000, true, 0.1, 3);
    let config = PageRankConfig { iterations: 200, tolerance: Some(1e-12), ..PageRankConfig::default() };
    let scores = pagerank(&g, &config).expect("valid");
    let exact = verify::pagerank(&g, 0.85, 200);
    close(&scores, &exact, 1e-8).expect("converged");
    assert_ne!(scores, pagerank(&g, &PageRankConfig { tolerance: None, ..config }).expect("valid"));
    let single = pagerank_with::<f32, _>(&g, &config).expect("valid");
    let widened: Vec<f64> = single.iter().map(|&s| f64::from(s)).collect();
    close(&widened, &exact, 1e-4).expect("six digits");
}

#[test]
fn damping_and_tolerance_must_be_in_range() {
    let g = plain_graph(3, &[(0, 1)], true);
    let with = |damping, tolerance| {
        pagerank(&g, &PageRankConfig { damping, tolerance, ..PageRankConfig::default() })
    };
    for damping in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(with(damping, None), Err(KernelError::OutOfRange { parameter: "damping", .. })),
            "{damping}"
        );
    }
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(
                with(0.85, Some(tolerance)),
                Err(KernelError::OutOfRange { parameter: "tolerance", .. })
            ),
            "{tolerance}"
        );
    }
    assert!(with(0.0, Some(0.0)).is_ok() && with(1.0, None).is_ok());
}

/// On a long path, scores converge slowly. The test compares them with iterations of the formula without
/// acceleration.
#[test]
fn a_tolerance_bounds_the_error_and_is_reached_soon_along_undirected_edges() {
    let path: Vec<(u32, u32)> =
        (0..3000).map(|v| (v, v + 1)).chain((0..3000).step_by(7).map(|v| (v, v / 3))).collect();
    let tolerance = 1e-6;
    for directed in [false, true] {
        let g = plain_graph(3010, &path, directed);
        let exact = verify::pagerank(&g, 0.85, 400);
        let with = |iterations, tolerance| {
            let config = PageRankConfig { iterations, tolerance, ..PageRankConfig::default() };
            pagerank(&g, &config).expect("valid")
        };
        let error = |scores: &[f64]| -> f64 { scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum() };
        let scores = with(1000, Some(tolerance));
        assert!(error(&scores) <= tolerance / 0.15, "{}", error(&scores));
        assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(scores[3005] > 0.0, "an isolated vertex");
        if !directed {
            let early = with(28, Some(0.0));
            assert!(error(&early) < tolerance / 0.15 && error(&with(28, None)) > 10.0 * error(&early));
        }
        for threads in [1, 3] {
            assert_eq!(with_threads(threads, || with(1000, Some(tolerance))), scores);
        }
    }
}

/// Returns the change of the scores by one iteration of the formula, pushed along edges.
fn plain_change(g: &impl Resident, scores: &[f64], damping: f64) -> f64 {
    let n = g.vertex_count() as f64;
    let live = |v: &VertexId| g.contains(*v);
    let (mut received, mut dangling) = (vec![0.0; scores.len()], 0.0);
    for u in (0..scores.len() as u32).map(VertexId).filter(live) {
        let neighbors = g.neighbors(u, Direction::Out);
        dangling += if neighbors.is_empty() { scores[u.index()] } else { 0.0 };
        neighbors.for_each(|v| received[v.index()] += scores[u.index()] / neighbors.len() as f64);
    }
    let formula = |v: VertexId| (1.0 - damping) / n + damping * (received[v.index()] + dangling / n);
    let all = (0..scores.len() as u32).map(VertexId).filter(live);
    all.map(|v| (formula(v) - scores[v.index()]).abs()).sum()
}

/// The bound holds on every kind of graph: with holes, sinks, loops, repeated edges, one chunk, or several
/// stages. The plain formula determines the error, and one plain iteration the change.
#[test]
fn a_tolerance_bounds_change_and_error_on_all_graphs() {
    for (i, g) in graphs().iter().enumerate() {
        for (damping, tolerance) in [(0.85, 1e-4), (0.5, 1e-9), (0.85, 1e-8), (0.1, 1e-3), (0.02, 1e-5)] {
            let config = PageRankConfig { damping, iterations: 300, tolerance: Some(tolerance) };
            let scores = pagerank(g, &config).expect("valid");
            if g.vertex_count() == 0 {
                continue;
            }
            let change = plain_change(g, &scores, damping);
            assert!(change < tolerance, "graph {i}: {change:e} is not below {tolerance:e}");
            let exact = verify::pagerank(g, damping, 170);
            let error: f64 = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum();
            assert!(error <= tolerance / (1.0 - damping) + 1e-11, "graph {i}: {error:e} with {tolerance:e}");
            let (sum, least) = (scores.iter().sum::<f64>(), scores.iter().copied().fold(1.0, f64::min));
            assert!((sum - 1.0).abs() < 1e-9 && least >= 0.0, "graph {i}: {sum} {least}");
        }
    }
}

/// Chunks of one stage must not see new scores of other chunks, with any number of threads.
#[test]
fn scores_with_a_tolerance_are_the_same_bits_for_any_number_of_threads() {
    let local: Vec<(u32, u32)> =
        (0..60_000).flat_map(|v| [(v, v + 1), (v, (v * 7 + 5) % 60_000), (v, v / 2 + 1)]).collect();
    for directed in [false, true] {
        for g in [plain_graph(60_001, &local, directed), random_graph(40_000, 300_000, directed, 0.1, 5)] {
            let config =
                PageRankConfig { iterations: 60, tolerance: Some(1e-10), ..PageRankConfig::default() };
            let alone = with_threads(1, || pagerank(&g, &config)).expect("valid");
            for threads in [2, 3, 7] {
                let together = with_threads(threads, || pagerank(&g, &config)).expect("valid");
                assert!(alone == together, "{threads} threads");
            }
        }
    }
}

/// The sweeps are compared with iterations of the formula. The test fails if sweeps see old scores, begin
/// with other scores, or are not extrapolated.
#[test]
fn a_tolerance_is_reached_in_few_sweeps() {
    let ring: Vec<(u32, u32)> =
        (0..20_000).flat_map(|v| [(v, (v + 1) % 20_000), (v, (v + 3) % 20_000 / 7)]).collect();
    let kron =
        GraphSpec::Kron { scale: 14, edge_factor: 16 }.load().expect("generated").expect("no data needed");
    let loops: Vec<(u32, u32)> = (0..20_000).flat_map(|v| [(v, v), (v, v ^ 1), (v, v / 3)]).collect();
    let graphs = [
        ("kron", 0.82, csr_of(&kron)),
        ("ring", 0.75, plain_graph(20_000, &ring, false)),
        ("loops", 0.7, plain_graph(20_000, &loops, true)),
    ];
    for (name, share, g) in graphs {
        let needed = |tolerance| {
            let change = |&iterations: &u32| {
                let config = PageRankConfig { iterations, tolerance, ..PageRankConfig::default() };
                plain_change(&g, &pagerank(&g, &config).expect("valid"), 0.85)
            };
            (1..200).find(|iterations| change(iterations) < 1e-5).expect("reached")
        };
        let (sweeps, iterations) = (needed(Some(0.0)), needed(None));
        assert!(f64::from(sweeps) <= share * f64::from(iterations), "{name}: {sweeps} for {iterations}");
    }
}

#[test]
fn personal_scores_as_computed_plainly() {
    for g in graphs() {
        for (count, iterations) in [(1, 12), (3, 1), (7, 0)] {
            let mut from = sources(&g, count);
            // A repeated source counts once.
            from.extend(from.first().copied());
            if from.is_empty() {
                continue;
            }
            let expected = verify::personalized_pagerank(&g, &from, 0.85, iterations);
            let found = personalized_pagerank(&g, &from, &config(iterations, None)).expect("live");
            close(&found, &expected, 1e-12).expect("the same");
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn from_all_vertices_it_is_pagerank() {
    for directed in [false, true] {
        let g = random_graph(500, 3000, directed, 0.2, 8);
        let found = personalized_pagerank(&g, &sources(&g, 500), &config(10, None)).expect("live");
        close(&found, &pagerank(&g, &config(10, None)).expect("valid"), 1e-10).expect("the same");
    }
}

#[test]
fn without_weights_it_is_pagerank() {
    for (at, g) in graphs().into_iter().enumerate() {
        let config = config([4, 0, 1][at % 3], None);
        let expected = pagerank(&g, &config).expect("valid");
        close(&weighted_pagerank(&g, None, &config).expect("valid"), &expected, RELATIVE_BY_WEIGHTS)
            .expect("the same");
        let some = sources(&g, 3);
        if !some.is_empty() {
            let expected = personalized_pagerank(&g, &some, &config).expect("live");
            let found = weighted_pagerank(&g, Some(&some), &config).expect("live");
            close(&found, &expected, RELATIVE_BY_WEIGHTS).expect("the same");
        }
    }
}

fn random(seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let vertices = [1, 5, 60, 1500][seed as usize % 4];
    let edges = random_edges(&mut rng, vertices, vertices * [1, 4][seed as usize / 4 % 2]);
    // The kinds of weights: half of them 0; all 0; huge ones; tiny and huge ones together.
    let weight: fn(&mut Rng) -> f64 = match seed / 3 % 4 {
        0 => |rng| rng.below(2) as f64,
        1 => |_| 0.0,
        2 => |rng| rng.unit() * 1e300,
        _ => |rng| 10f64.powi(rng.below(40) as i32),
    };
    weighted_graph(vertices, &edges, seed.is_multiple_of(2), weight)
}

#[test]
fn scores_by_weights_as_computed_plainly() {
    for seed in 0..48 {
        let g = random(seed);
        let mut some = sources(&g, 4);
        // A repeated source counts once.
        some.push(VertexId(0));
        for of in [None, Some(&some[..])] {
            let expected = verify::weighted_pagerank(&g, of, 0.85, 9);
            let run = || weighted_pagerank(&g, of, &config(9, None));
            let found = with_threads(1 + seed as usize % 3, run).expect("sound");
            close(&found, &expected, RELATIVE_BY_WEIGHTS)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9, "seed {seed}");
        }
    }
}

const SOURCES: Option<&[VertexId]> = Some(&[VertexId(3), VertexId(1)]);

/// The direction flag of the graph, the sources, and the scores.
type Known = (bool, Option<&'static [VertexId]>, [f64; 9]);

/// The results of `pagerank(G, weight="weight")` in NetworkX 3.6, without vertex 4, with and without
/// `personalization={1: 1, 3: 1}`.
#[rustfmt::skip]
const KNOWN: [Known; 4] = [
    (false, None, [
        0.102447340696, 0.094232848219, 0.191709105194, 0.056171122577, 0.0,
        0.220124250452, 0.095333070166, 0.136882022480, 0.103100240217,
    ]),
    (false, SOURCES, [
        0.090828675609, 0.162904570980, 0.156776871935, 0.122165362244, 0.0,
        0.277443307315, 0.051357474494, 0.075677133288, 0.062846604136,
    ]),
    (true, None, [
        0.114038330684, 0.112103918452, 0.152154495454, 0.121207251798, 0.0,
        0.053092054676, 0.100621329029, 0.122037795124, 0.224744824784,
    ]),
    (true, SOURCES, [
        0.144403774367, 0.169886793373, 0.102891059634, 0.165298944360, 0.0,
        0.046834700902, 0.068684265132, 0.113455420694, 0.188545041539,
    ]),
];

#[test]
fn known_scores_by_weights() {
    for (directed, sources, expected) in KNOWN {
        let found = weighted_pagerank(&known_graph(directed), sources, &config(1000, Some(1e-14)));
        close(&found.expect("sound"), &expected, 1e-10).expect("as in NetworkX");
    }
}

/// Checks that iterations end once the tolerance is reached, and not later than their limit.
fn check_tolerance(exact: &[f64], run: impl Fn(&PageRankConfig) -> Result<Vec<f64>, KernelError>) {
    let with = |iterations, tolerance| {
        let found = run(&config(iterations, tolerance)).expect("sound");
        found.iter().zip(exact).map(|(a, b)| (a - b).abs()).sum::<f64>()
    };
    let error = with(1000, Some(1e-6));
    assert!(error <= 1e-6 / 0.15 && error > 1e-12, "it stops in time, not late: {error}");
    assert!((with(5, Some(0.0)) - with(5, None)).abs() < 1e-12, "five iterations at most");
}

#[test]
fn a_tolerance_bounds_the_error() {
    for directed in [false, true] {
        let g = random_graph(2000, 10_000, directed, 0.1, 3);
        let from = sources(&g, 2);
        let exact = verify::personalized_pagerank(&g, &from, 0.85, 300);
        check_tolerance(&exact, |config| personalized_pagerank(&g, &from, config));
    }
    let g = random(11);
    let exact = verify::weighted_pagerank(&g, None, 0.85, 300);
    check_tolerance(&exact, |config| weighted_pagerank(&g, None, config));
}

#[test]
fn who_cannot_be_reached_has_nothing() {
    let g = plain_graph(6, &[(0, 1), (1, 0), (1, 2), (4, 0), (4, 5)], true);
    let found = personalized_pagerank(&g, &[VertexId(0)], &config(50, None)).expect("live");
    assert!(found[3] == 0.0 && found[4] == 0.0 && found[5] == 0.0 && found[2] > 0.0);
}

#[test]
fn what_cannot_be_is_refused() {
    type Run = fn(&Csr, &[VertexId], &PageRankConfig) -> Result<Vec<f64>, KernelError>;
    let by_weights: Run = |g, sources, config| weighted_pagerank(g, Some(sources), config);
    for run in [personalized_pagerank, by_weights] {
        let g = random_graph(10, 20, true, 1.0, 1);
        let refused = run(&g, &[VertexId(2)], &config(3, None));
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
        let refused = run(&g, &[], &config(3, None)).expect_err("none").to_string();
        assert_eq!(refused, "sources must be one vertex or more, found 0");
        let wrong = PageRankConfig { damping: 1.5, ..PageRankConfig::default() };
        assert!(run(&plain_graph(3, &[(0, 1)], true), &[VertexId(0)], &wrong).is_err());
    }
}

#[test]
fn weights_that_cannot_be_are_refused() {
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
    let wrong = PageRankConfig { damping: 1.5, ..PageRankConfig::default() };
    assert!(weighted_pagerank(&plain_graph(2, &[(0, 1)], true), None, &wrong).is_err());
    assert_eq!(weighted_pagerank(&plain_graph(0, &[], false), None, &config(3, None)), Ok(Vec::new()));
}
