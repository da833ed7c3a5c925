//! Arguments that make no sense get a typed error.

use hedgerow_core::VertexId;
use hedgerow_kernels::{BfsConfig, KernelError, PageRankConfig, bfs, pagerank};

use crate::{plain_graph, random_graph};

#[test]
fn sources_must_be_live() {
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = bfs(&g, VertexId(3), &BfsConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    let all_holes = random_graph(10, 0, false, 1.0, 1);
    assert!(bfs(&all_holes, VertexId(2), &BfsConfig::default()).is_err());
    assert!(bfs(&plain_graph(0, &[], false), VertexId(0), &BfsConfig::default()).is_err());
    assert!(refused.unwrap_err().to_string().contains("vertex 3"));
}

#[test]
fn damping_and_tolerance_must_be_in_range() {
    let g = plain_graph(3, &[(0, 1)], true);
    let with = |damping, tolerance| {
        pagerank(&g, &PageRankConfig { damping, tolerance, ..PageRankConfig::default() })
    };
    for damping in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(with(damping, None), Err(KernelError::Damping { .. })), "{damping}");
    }
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(with(0.85, Some(tolerance)), Err(KernelError::Tolerance { .. })), "{tolerance}");
    }
    assert!(with(0.0, Some(0.0)).is_ok() && with(1.0, None).is_ok());
}
