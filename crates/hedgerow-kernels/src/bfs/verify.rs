//! Breadth-first search by one queue.

use std::collections::VecDeque;

use hedgerow_core::{Direction, Resident, VertexId};

use super::UNREACHED;

/// Returns depths found by one queue; all [`UNREACHED`] if `source` is not live.
pub fn bfs<G: Resident>(g: &G, source: VertexId, direction: Direction) -> Vec<u32> {
    let mut depth = vec![UNREACHED; g.vertex_bound()];
    let mut queue = VecDeque::new();
    if source.index() < depth.len() && g.contains(source) {
        depth[source.index()] = 0;
        queue.push_back(source);
    }
    while let Some(u) = queue.pop_front() {
        for v in g.neighbors(u, direction).iter() {
            if depth[v.index()] == UNREACHED {
                depth[v.index()] = depth[u.index()] + 1;
                queue.push_back(v);
            }
        }
    }
    depth
}
