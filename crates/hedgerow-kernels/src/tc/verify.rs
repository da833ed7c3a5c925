//! Triangles by a test of every pair of neighbours.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the number of triangles: tests for every two neighbours of every vertex if they are joined.
/// O(vertices · degree²).
pub fn triangle_count<G: Resident>(g: &G) -> u64 {
    let joined = |u: VertexId, v: VertexId| {
        g.neighbors(u, Direction::Out).contains(v) || g.neighbors(v, Direction::Out).contains(u)
    };
    let mut found = 0;
    for u in (0..g.vertex_bound() as u32).map(VertexId) {
        let both = g.neighbors(u, Direction::Out).iter().chain(g.neighbors(u, Direction::In).iter());
        let later: Vec<VertexId> = both.filter(|&v| v > u).collect::<BTreeSet<_>>().into_iter().collect();
        for (i, &v) in later.iter().enumerate() {
            found += later[i + 1..].iter().filter(|&&w| joined(v, w)).count() as u64;
        }
    }
    found
}
