//! How to search breadth-first.

use hedgerow_core::Direction;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfsConfig {
    /// Follow edges along or against their direction; without effect on undirected graphs.
    pub direction: Direction,
    /// Go bottom-up once the frontier has more than 1 / `alpha` of the unexplored edges; 0 never does.
    pub alpha: u32,
    /// Go back top-down once a shrinking frontier has at most 1 / `beta` of the vertices.
    pub beta: u32,
}

impl Default for BfsConfig {
    fn default() -> Self {
        BfsConfig { direction: Direction::Out, alpha: 15, beta: 18 }
    }
}
