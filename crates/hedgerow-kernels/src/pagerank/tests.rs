//! Scores against the plain formula; numbers of both widths; when it stops; what is out of range.

use super::{PageRankConfig, pagerank, pagerank_with, verify};
use crate::KernelError;
use crate::testing::{close, graphs, plain_graph, random_graph, with_threads};
use hedgerow_core::Topology;

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
