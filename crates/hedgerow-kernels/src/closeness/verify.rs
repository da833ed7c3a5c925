//! Closeness by a search from each vertex.

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::estimate::Estimated;
use crate::lengths::{Hops, Lengths, Weights};
use crate::par::reverse;
use crate::sources::Sources;
use crate::{Cancel, KernelError};

/// Returns the closeness of some vertices by its definition; 0 for the others.
fn of_given<G: Resident>(
    g: &G,
    given: &[VertexId],
    direction: Direction,
    lengths: impl Lengths<G>,
) -> Vec<f64> {
    let mut scores = vec![0.0; g.vertex_bound()];
    for &v in given {
        let far = lengths.distances(g, v, direction);
        let reached: Vec<f64> = far.into_iter().filter(|far| far.is_finite()).collect();
        let (others, sum) = (reached.len() as f64 - 1.0, reached.iter().sum::<f64>());
        if sum > 0.0 {
            scores[v.index()] = (others / sum) * (others / (g.vertex_count() as f64 - 1.0));
        }
    }
    scores
}

/// Returns the estimate for all vertices by their distances to sampled ones. Sums over the sampled vertices
/// are multiplied by `scale`.
fn of_sampled<G: Resident>(
    g: &G,
    sampled: &[VertexId],
    scale: f64,
    direction: Direction,
    lengths: impl Lengths<G>,
) -> Vec<f64> {
    let (mut reached, mut sum) = (vec![0u64; g.vertex_bound()], vec![0.0; g.vertex_bound()]);
    for &source in sampled {
        let far = lengths.distances(g, source, reverse(direction));
        for (v, far) in far.into_iter().enumerate().filter(|(_, far)| far.is_finite()) {
            reached[v] += u64::from(v != source.index());
            sum[v] += far;
        }
    }
    let live = g.vertex_count() as f64;
    let estimate = |(&others, &sum): (&u64, &f64)| {
        let (others, sum) = (others as f64 * scale, sum * scale);
        if sum == 0.0 { 0.0 } else { others.powi(2) / sum / (live - 1.0) }
    };
    reached.iter().zip(&sum).map(estimate).collect()
}

/// Returns the scores of the vertices that `of` chooses, and the extent of the sample.
pub(super) fn estimated<G: Resident>(
    g: &G,
    of: &Sources,
    direction: Direction,
    lengths: impl Lengths<G>,
) -> Result<Estimated, KernelError> {
    let targets = of.choose(g, reverse(direction), &Cancel::new())?;
    let scores = match targets.are_given() {
        true => of_given(g, &targets.vertices, direction, lengths),
        false => of_sampled(g, &targets.vertices, targets.scale(), direction, lengths),
    };
    Ok((scores, targets.estimate()))
}

/// Returns the closeness of some vertices by its definition; 0 for the others.
pub fn closeness<G: Resident>(g: &G, given: &[VertexId], direction: Direction) -> Vec<f64> {
    of_given(g, given, direction, Hops)
}

/// Returns the estimate for all vertices by their distances to sampled ones. Sums over the sampled vertices
/// are multiplied by `scale`.
pub fn closeness_to<G: Resident>(g: &G, sampled: &[VertexId], scale: f64, direction: Direction) -> Vec<f64> {
    of_sampled(g, sampled, scale, direction, Hops)
}

/// Returns the closeness of some vertices by weights; 0 for the others.
pub fn weighted_closeness<G: WeightedTopology + Resident>(
    g: &G,
    given: &[VertexId],
    direction: Direction,
) -> Vec<f64> {
    of_given(g, given, direction, Weights)
}

/// Returns the estimate by weights for all vertices, like [`closeness_to`].
pub fn weighted_closeness_to<G: WeightedTopology + Resident>(
    g: &G,
    sampled: &[VertexId],
    scale: f64,
    direction: Direction,
) -> Vec<f64> {
    of_sampled(g, sampled, scale, direction, Weights)
}
