//! How to search breadth-first.

use hedgerow_core::{Direction, Topology};

use crate::par::reverse;

/// The depth of a vertex that the source does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfsConfig {
    /// Follow edges along or against their direction; without effect on undirected graphs.
    pub direction: Direction,
    /// Go bottom-up once the frontier has more than 1 / `alpha` of the unexplored edges; 0 never does.
    pub alpha: u32,
    /// Go back top-down once a shrinking frontier has at most 1 / `beta` of the vertices.
    pub beta: u32,
    /// Go so many hops at most.
    pub hops: u32,
}

impl Default for BfsConfig {
    fn default() -> Self {
        BfsConfig { direction: Direction::Out, alpha: 15, beta: 18, hops: u32::MAX }
    }
}

impl BfsConfig {
    /// Whether the next level is found bottom-up, from a frontier with so many edges. Never against edges that are not stored, always
    /// in place of following such edges.
    pub(super) fn goes_bottom_up<G: Topology>(&self, g: &G, frontier_edges: u64, unexplored: u64) -> bool {
        let (forward, backward) = (self.direction, reverse(self.direction));
        match (g.is_stored(forward), g.is_stored(backward)) {
            (true, false) => false,
            (false, true) => true,
            _ => frontier_edges.saturating_mul(u64::from(self.alpha)) > unexplored,
        }
    }
}
