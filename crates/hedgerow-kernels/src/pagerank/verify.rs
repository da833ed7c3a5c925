//! PageRank by its formula, pushed along edges.

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the PageRank of the Graphalytics specification: every vertex pushes its share to its
/// out-neighbours.
pub fn pagerank<G: Resident>(g: &G, damping: f64, iterations: u32) -> Vec<f64> {
    let live: Vec<VertexId> = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect();
    let n = live.len() as f64;
    let mut scores = vec![0.0; g.vertex_bound()];
    live.iter().for_each(|v| scores[v.index()] = 1.0 / n);
    for _ in 0..iterations {
        let mut received = vec![0.0; g.vertex_bound()];
        let mut dangling = 0.0;
        for &u in &live {
            let neighbors = g.neighbors(u, Direction::Out);
            if neighbors.is_empty() {
                dangling += scores[u.index()];
            }
            for v in neighbors.iter() {
                received[v.index()] += scores[u.index()] / neighbors.len() as f64;
            }
        }
        for &v in &live {
            scores[v.index()] = (1.0 - damping) / n + damping * (received[v.index()] + dangling / n);
        }
    }
    scores
}
