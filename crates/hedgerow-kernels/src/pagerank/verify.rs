//! PageRank by its formula, pushed along edges.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::lengths::{Hops, Lengths, Weights};

/// Returns the scores: every vertex pushes its share along each edge. The score of jumps, and the score of
/// vertices whose weights sum to 0, goes to the sources, or to all vertices. All scores are 0 if there is no
/// source. Weights are finite and 0 or more.
fn scores<G: Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    damping: f64,
    iterations: u32,
    weights: impl Lengths<G>,
) -> Vec<f64> {
    let ids = (0..g.vertex_bound() as u32).map(VertexId);
    let total = |u| {
        let mut total = 0.0;
        weights.each(g, u, Direction::Out, |_, weight| total += weight);
        total
    };
    let totals: Vec<f64> = ids.clone().map(total).collect();
    let every: Vec<VertexId> = ids.filter(|&v| g.contains(v)).collect();
    let jumped_to: BTreeSet<usize> = sources.unwrap_or(&every).iter().map(|v| v.index()).collect();
    let mut scores = vec![0.0; g.vertex_bound()];
    jumped_to.iter().for_each(|&v| scores[v] = 1.0 / jumped_to.len() as f64);
    for _ in 0..iterations {
        let mut next = vec![0.0; g.vertex_bound()];
        let mut back = 1.0 - damping;
        for ((u, score), total) in (0..).map(VertexId).zip(&scores).zip(&totals) {
            if *total == 0.0 {
                back += damping * score;
            } else {
                let push = |v: VertexId, weight| next[v.index()] += damping * score * (weight / total);
                weights.each(g, u, Direction::Out, push);
            }
        }
        jumped_to.iter().for_each(|&v| next[v] += back / jumped_to.len() as f64);
        scores = next;
    }
    scores
}

/// Returns the PageRank of the Graphalytics specification.
pub fn pagerank<G: Resident>(g: &G, damping: f64, iterations: u32) -> Vec<f64> {
    scores(g, None, damping, iterations, Hops)
}

/// Returns the PageRank of a surfer who jumps to the sources.
pub fn personalized_pagerank<G: Resident>(
    g: &G,
    sources: &[VertexId],
    damping: f64,
    iterations: u32,
) -> Vec<f64> {
    scores(g, Some(sources), damping, iterations, Hops)
}

/// Returns the PageRank by weights of a surfer who jumps to the sources, or anywhere.
pub fn weighted_pagerank<G: WeightedTopology + Resident>(
    g: &G,
    sources: Option<&[VertexId]>,
    damping: f64,
    iterations: u32,
) -> Vec<f64> {
    scores(g, sources, damping, iterations, Weights)
}
