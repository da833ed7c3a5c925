//! Shortest paths by Dijkstra's algorithm.

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::lengths::{Lengths, Weights};

/// Returns distances by Dijkstra's algorithm. Edges with a negative weight are not crossed. All infinite if
/// `source` is not live.
pub fn sssp<G: WeightedTopology + Resident>(g: &G, source: VertexId, direction: Direction) -> Vec<f64> {
    Weights.distances(g, source, direction)
}
