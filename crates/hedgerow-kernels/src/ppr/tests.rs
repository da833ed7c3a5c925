//! Scores against the plain formula; where they are known; when it stops; what cannot be.

use hedgerow_core::{Topology, VertexId};

use crate::testing::{close, graphs, plain_graph, random_graph, sources};
use hedgerow_kernels::ppr::{personalized_pagerank, verify};
use hedgerow_kernels::{KernelError, PageRankConfig, pagerank};

fn config(iterations: u32, tolerance: Option<f64>) -> PageRankConfig {
    PageRankConfig { iterations, tolerance, ..PageRankConfig::default() }
}

#[test]
fn scores_as_computed_plainly() {
    for g in graphs() {
        for (count, iterations) in [(1, 12), (3, 1), (7, 0)] {
            let mut from = sources(&g, count);
            // What stands there twice counts once.
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
fn a_tolerance_bounds_the_error() {
    for directed in [false, true] {
        let g = random_graph(2000, 10_000, directed, 0.1, 3);
        let from = sources(&g, 2);
        let exact = verify::personalized_pagerank(&g, &from, 0.85, 300);
        let with = |iterations, tolerance| {
            let found = personalized_pagerank(&g, &from, &config(iterations, tolerance)).expect("live");
            found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum::<f64>()
        };
        let error = with(1000, Some(1e-6));
        assert!(error <= 1e-6 / 0.15 && error > 1e-12, "it stops in time, not late: {error}");
        assert!((with(5, Some(0.0)) - with(5, None)).abs() < 1e-12, "at most so many iterations");
    }
}

#[test]
fn who_cannot_be_reached_has_nothing() {
    let g = plain_graph(6, &[(0, 1), (1, 0), (1, 2), (4, 0), (4, 5)], true);
    let found = personalized_pagerank(&g, &[VertexId(0)], &config(50, None)).expect("live");
    assert!(found[3] == 0.0 && found[4] == 0.0 && found[5] == 0.0 && found[2] > 0.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let g = random_graph(10, 20, true, 1.0, 1);
    let refused = personalized_pagerank(&g, &[VertexId(2)], &config(3, None));
    assert_eq!(
        refused,
        Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: g.vertex_bound() })
    );
    let refused = personalized_pagerank(&g, &[], &config(3, None)).expect_err("none").to_string();
    assert_eq!(refused, "sources must be one vertex or more, found 0");
    let wrong = PageRankConfig { damping: 1.5, ..PageRankConfig::default() };
    let g = plain_graph(3, &[(0, 1)], true);
    assert!(personalized_pagerank(&g, &[VertexId(0)], &wrong).is_err());
}
