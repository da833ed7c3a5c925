//! Closeness by a search from each vertex.

use std::collections::VecDeque;

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the distance in edges of each vertex that a search from `source` reaches. O(vertices + edges).
pub fn hops<G: Resident>(g: &G, source: VertexId, direction: Direction) -> Vec<Option<u64>> {
    let mut distance = vec![None; g.vertex_bound()];
    distance[source.index()] = Some(0);
    let mut queue = VecDeque::from([source]);
    while let Some(u) = queue.pop_front() {
        for v in g.neighbors(u, direction).iter() {
            if distance[v.index()].is_none() {
                distance[v.index()] = distance[u.index()].map(|far| far + 1);
                queue.push_back(v);
            }
        }
    }
    distance
}

/// Returns the closeness of some vertices by its definition; 0 for the others.
pub fn closeness<G: Resident>(g: &G, given: &[VertexId], direction: Direction) -> Vec<f64> {
    let mut scores = vec![0.0; g.vertex_bound()];
    for &v in given {
        let reached: Vec<u64> = hops(g, v, direction).into_iter().flatten().collect();
        let (others, sum) = (reached.len() as f64 - 1.0, reached.iter().sum::<u64>() as f64);
        if others > 0.0 {
            scores[v.index()] = (others / sum) * (others / (g.vertex_count() as f64 - 1.0));
        }
    }
    scores
}

/// Returns the estimate for all vertices by their distances to sampled ones. Sums over these are multiplied
/// by `scale`.
pub fn closeness_to<G: Resident>(g: &G, sampled: &[VertexId], scale: f64, direction: Direction) -> Vec<f64> {
    let against = if direction == Direction::Out { Direction::In } else { Direction::Out };
    let (mut reached, mut sum) = (vec![0u64; g.vertex_bound()], vec![0u64; g.vertex_bound()]);
    for &source in sampled {
        for (v, far) in hops(g, source, against).into_iter().enumerate() {
            reached[v] += u64::from(far.is_some() && v != source.index());
            sum[v] += far.unwrap_or(0);
        }
    }
    let live = g.vertex_count() as f64;
    let estimate = |(&others, &sum): (&u64, &u64)| {
        let (others, sum) = (others as f64 * scale, sum as f64 * scale);
        if sum == 0.0 { 0.0 } else { others.powi(2) / sum / (live - 1.0) }
    };
    reached.iter().zip(&sum).map(estimate).collect()
}
