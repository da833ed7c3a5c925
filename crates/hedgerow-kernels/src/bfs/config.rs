//! The configuration of breadth-first search.

use hedgerow_core::{Direction, Topology};

use crate::par::reverse;

/// The depth of a vertex that the source does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// The number that means no vertex, in results that have one vertex for each vertex.
pub const NO_VERTEX: u32 = u32::MAX;

/// The configuration of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfsConfig {
    /// The direction in which edges are followed; without effect on undirected graphs.
    pub direction: Direction,
    /// The search goes bottom-up once the frontier has more than 1 / `alpha` of the unexplored edges. With 0
    /// it never goes bottom-up.
    pub alpha: u32,
    /// The search goes back top-down once a shrinking frontier has at most 1 / `beta` of the vertices.
    pub beta: u32,
    /// The most hops from the source.
    pub hops: u32,
}

impl Default for BfsConfig {
    fn default() -> Self {
        BfsConfig { direction: Direction::Out, alpha: 15, beta: 18, hops: u32::MAX }
    }
}

impl BfsConfig {
    /// True if the next level is found bottom-up, from a frontier with `frontier_edges` edges. If edges
    /// against the direction are not stored, no level is; if edges along the direction are not stored, every
    /// level is.
    pub(super) fn goes_bottom_up<G: Topology>(&self, g: &G, frontier_edges: u64, unexplored: u64) -> bool {
        let (forward, backward) = (self.direction, reverse(self.direction));
        match (g.is_stored(forward), g.is_stored(backward)) {
            (true, false) => false,
            (false, true) => true,
            _ => frontier_edges.saturating_mul(u64::from(self.alpha)) > unexplored,
        }
    }
}
