//! Personalised PageRank by its formula, pushed along edges.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the scores: every vertex pushes its share to its out-neighbours. The score of jumps, and that of
/// vertices without out-neighbours, goes to the sources. All 0 if there is no source.
pub fn personalized_pagerank<G: Resident>(
    g: &G,
    sources: &[VertexId],
    damping: f64,
    iterations: u32,
) -> Vec<f64> {
    let sources: BTreeSet<usize> = sources.iter().map(|v| v.index()).collect();
    let mut scores = vec![0.0; g.vertex_bound()];
    sources.iter().for_each(|&v| scores[v] = 1.0 / sources.len() as f64);
    for _ in 0..iterations {
        let mut next = vec![0.0; g.vertex_bound()];
        let mut back = 1.0 - damping;
        for (u, score) in scores.iter().enumerate() {
            let neighbors = g.neighbors(VertexId(u as u32), Direction::Out);
            if neighbors.is_empty() {
                back += damping * score;
            }
            for v in neighbors.iter() {
                next[v.index()] += damping * score / neighbors.len() as f64;
            }
        }
        sources.iter().for_each(|&v| next[v] += back / sources.len() as f64);
        scores = next;
    }
    scores
}
