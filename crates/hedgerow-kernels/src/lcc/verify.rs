//! Clustering by a test of every two neighbours.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the coefficient of each vertex: tests for every pair of its neighbours, in order, if an edge leads
/// from the one to the other. O(vertices · degree² · log degree).
pub fn local_clustering<G: Resident>(g: &G) -> Vec<f64> {
    let coefficient = |v: VertexId| {
        let both = g.neighbors(v, Direction::Out).iter().chain(g.neighbors(v, Direction::In).iter());
        let around: BTreeSet<VertexId> = both.filter(|&u| u != v).collect();
        if around.len() < 2 {
            return 0.0;
        }
        let leads = |&(a, b): &(VertexId, VertexId)| a != b && g.neighbors(a, Direction::Out).contains(b);
        let pairs = around.iter().flat_map(|&a| around.iter().map(move |&b| (a, b)));
        pairs.filter(leads).count() as f64 / (around.len() as f64 * (around.len() - 1) as f64)
    };
    (0..g.vertex_bound() as u32).map(|v| coefficient(VertexId(v))).collect()
}
