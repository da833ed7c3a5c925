//! PageRank by weights by its formula, pushed along edges.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

/// Returns the scores: every vertex pushes its share along each edge. The score of jumps, and that of
/// vertices without weights, goes to the sources, or to all. All 0 if there is no source. Weights are finite
/// and 0 or more.
pub fn weighted_pagerank<G: WeightedTopology + Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    damping: f64,
    iterations: u32,
) -> Vec<f64> {
    let ids = 0..g.vertex_bound() as u32;
    let mut lists: Vec<Vec<(usize, f64)>> = vec![Vec::new(); g.vertex_bound()];
    let Ok(()) = g.visit_weighted(ids.clone().map(VertexId), Direction::Out, |u, run, weights| {
        let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
        lists[u.index()].extend(run.iter().map(|v| v.index()).zip(weights));
    });
    let every: Vec<VertexId> = ids.map(VertexId).filter(|&v| g.contains(v)).collect();
    let jumped_to: BTreeSet<usize> = sources.unwrap_or(&every).iter().map(|v| v.index()).collect();
    let mut scores = vec![0.0; g.vertex_bound()];
    jumped_to.iter().for_each(|&v| scores[v] = 1.0 / jumped_to.len() as f64);
    for _ in 0..iterations {
        let mut next = vec![0.0; g.vertex_bound()];
        let mut back = 1.0 - damping;
        for (list, score) in lists.iter().zip(&scores) {
            let total: f64 = list.iter().map(|(_, weight)| weight).sum();
            if total == 0.0 {
                back += damping * score;
            } else {
                list.iter().for_each(|&(v, weight)| next[v] += damping * score * (weight / total));
            }
        }
        jumped_to.iter().for_each(|&v| next[v] += back / jumped_to.len() as f64);
        scores = next;
    }
    scores
}
