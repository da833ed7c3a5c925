//! The configuration of breadth-first search.

use hedgerow_core::{Direction, Topology};

use crate::par::reverse;

/// The depth of a vertex that the source does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// The mark of no vertex, in a result that has a vertex for each.
pub const NO_VERTEX: u32 = u32::MAX;

/// The configuration of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfsConfig {
    /// The direction in which edges are followed; without effect on undirected graphs.
    pub direction: Direction,
    /// The search goes bottom-up once the frontier has more than 1 / `alpha` of the unexplored edges; with 0
    /// never.
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
    /// True if the next level is found bottom-up, from a frontier with `frontier_edges` edges. Edges against
    /// the direction that are not stored are never followed; if those along it are not stored, every level is
    /// found bottom-up.
    pub(super) fn goes_bottom_up<G: Topology>(&self, g: &G, frontier_edges: u64, unexplored: u64) -> bool {
        let (forward, backward) = (self.direction, reverse(self.direction));
        match (g.is_stored(forward), g.is_stored(backward)) {
            (true, false) => false,
            (false, true) => true,
            _ => frontier_edges.saturating_mul(u64::from(self.alpha)) > unexplored,
        }
    }
}
