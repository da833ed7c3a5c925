//! Shortest paths by Dijkstra's algorithm.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

/// Returns distances by Dijkstra's algorithm, with the vertices that were reached in a set ordered by
/// distance. Edges with a negative weight are not crossed. All infinite if `source` is not live.
pub fn sssp<G: WeightedTopology + Resident>(g: &G, source: VertexId, direction: Direction) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; g.vertex_bound()];
    // The bits of distances have the same order as the distances.
    let mut open = BTreeSet::new();
    if source.index() < distance.len() && g.contains(source) {
        distance[source.index()] = 0.0;
        open.insert((0u64, source));
    }
    while let Some((bits, u)) = open.pop_first() {
        let mut offer = |v: VertexId, weight: f64| {
            let through_u = f64::from_bits(bits) + weight;
            let known = &mut distance[v.index()];
            if weight >= 0.0 && through_u < *known {
                open.remove(&(known.to_bits(), v));
                *known = through_u;
                open.insert((through_u.to_bits(), v));
            }
        };
        let Ok(()) = g.visit_weighted([u], direction, |_, run, weights| {
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            run.iter().zip(weights).for_each(|(&v, weight)| offer(v, weight));
        });
    }
    distance
}
