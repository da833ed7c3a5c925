//! Parents of a search that takes the vertices of each level in ascending order.

use hedgerow_core::{Direction, Resident, VertexId};

use super::NO_VERTEX;

/// Returns parents: that of a vertex is the first vertex of the level before that has an edge to it.
pub fn bfs_parents<G: Resident>(g: &G, source: VertexId, direction: Direction) -> Vec<u32> {
    let mut parents = vec![NO_VERTEX; g.vertex_bound()];
    parents[source.index()] = source.0;
    let mut level = vec![source];
    while !level.is_empty() {
        let mut next = Vec::new();
        for u in level {
            for v in g.neighbors(u, direction).iter() {
                if parents[v.index()] == NO_VERTEX {
                    parents[v.index()] = u.0;
                    next.push(v);
                }
            }
        }
        next.sort_unstable();
        level = next;
    }
    parents
}

/// Checks that these are parents of a search with these depths, like the GAP benchmark does. The source is
/// its own parent. Every other vertex with a parent has an edge from it and is one level deeper. A vertex has
/// a parent if it has a depth.
///
/// # Errors
/// Returns the first vertex that is wrong.
pub fn check_parents<G: Resident>(
    g: &G,
    source: VertexId,
    direction: Direction,
    depth: &[u32],
    parents: &[u32],
) -> Result<(), VertexId> {
    for v in (0..g.vertex_bound() as u32).map(VertexId) {
        let (parent, depth_of) = (parents[v.index()], |u: u32| depth.get(u as usize).copied());
        let is_sound = match depth_of(v.0) {
            Some(crate::UNREACHED) | None => parent == NO_VERTEX,
            Some(0) => v == source && parent == source.0,
            Some(own) => {
                depth_of(parent) == Some(own - 1) && g.neighbors(VertexId(parent), direction).contains(v)
            }
        };
        if !is_sound {
            return Err(v);
        }
    }
    Ok(())
}
