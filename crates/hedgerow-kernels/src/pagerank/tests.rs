//! Scores against the plain formula; numbers of both widths; when it stops; what is out of range.

use crate::testing::{close, csr_of, graphs, plain_graph, random_graph, with_threads};
use hedgerow_core::{Direction, Resident, Topology, VertexId};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::pagerank::{PageRankConfig, pagerank, pagerank_with, verify};
use hedgerow_workload::GraphSpec;

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

/// On a long path scores settle slowly. Compared with iterations of the formula, in which nothing is accelerated.
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

/// By how much one iteration of the formula, pushed along edges, would change the scores.
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

/// The bound, on every kind of graph: holes, sinks, loops, repeated edges, one chunk and several stages. Scores of the plain formula tell the error,
/// and one plain iteration the change.
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

/// Chunks of one stage must not see each other's new scores, however many threads take them.
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

/// Against iterations of the formula. Fails where sweeps see old scores, begin elsewhere or are not extrapolated.
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
