//! Degrees by counting.

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the degree of each vertex by counting its neighbours. O(vertices + edges).
pub fn vertex_degrees<G: Resident>(g: &G, direction: Direction) -> Vec<u32> {
    (0..g.vertex_bound() as u32).map(|v| g.neighbors(VertexId(v), direction).iter().count() as u32).collect()
}
