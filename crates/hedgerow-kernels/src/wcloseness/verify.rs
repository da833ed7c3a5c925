//! Closeness by weights, by a search from each vertex.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

/// Returns the distance of each vertex that a search from `source` reaches, by Dijkstra's algorithm. Edges
/// with a negative weight are not crossed. O(edges · log vertices).
pub fn distances<G: WeightedTopology + Resident>(
    g: &G,
    source: VertexId,
    direction: Direction,
) -> Vec<Option<f64>> {
    let mut settled = vec![None; g.vertex_bound()];
    // The bits of numbers that are not negative have the same order as the numbers.
    let mut open = BinaryHeap::from([Reverse((0f64.to_bits(), source.0))]);
    while let Some(Reverse((bits, u))) = open.pop() {
        if settled[u as usize].is_some() {
            continue;
        }
        let far = f64::from_bits(bits);
        settled[u as usize] = Some(far);
        let Ok(()) = g.visit_weighted([VertexId(u)], direction, |_, run, weights| {
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            let further = run.iter().zip(weights).map(|(v, weight)| (v.0, weight, far + weight));
            let further = further.filter(|(_, weight, far)| *weight >= 0.0 && far.is_finite());
            open.extend(further.map(|(v, _, far)| Reverse((far.to_bits(), v))));
        });
    }
    settled
}

/// Returns the closeness of some vertices by its definition; 0 for the others.
pub fn weighted_closeness<G: WeightedTopology + Resident>(
    g: &G,
    given: &[VertexId],
    direction: Direction,
) -> Vec<f64> {
    let mut scores = vec![0.0; g.vertex_bound()];
    for &v in given {
        let reached: Vec<f64> = distances(g, v, direction).into_iter().flatten().collect();
        let (others, sum) = (reached.len() as f64 - 1.0, reached.iter().sum::<f64>());
        if sum > 0.0 {
            scores[v.index()] = (others / sum) * (others / (g.vertex_count() as f64 - 1.0));
        }
    }
    scores
}

/// Returns the estimate for all vertices by their distances to sampled ones. Sums over these are multiplied
/// by `scale`.
pub fn weighted_closeness_to<G: WeightedTopology + Resident>(
    g: &G,
    sampled: &[VertexId],
    scale: f64,
    direction: Direction,
) -> Vec<f64> {
    let against = if direction == Direction::Out { Direction::In } else { Direction::Out };
    let (mut reached, mut sum) = (vec![0u64; g.vertex_bound()], vec![0.0; g.vertex_bound()]);
    for &source in sampled {
        for (v, far) in distances(g, source, against).into_iter().enumerate() {
            reached[v] += u64::from(far.is_some() && v != source.index());
            sum[v] += far.unwrap_or(0.0);
        }
    }
    let live = g.vertex_count() as f64;
    let estimate = |(&others, &sum): (&u64, &f64)| {
        let (others, sum) = (others as f64 * scale, sum * scale);
        if sum == 0.0 { 0.0 } else { others.powi(2) / sum / (live - 1.0) }
    };
    reached.iter().zip(&sum).map(estimate).collect()
}
