//! Breadth-first search by one queue; hops by one set after another; parents of a search that takes the
//! vertices of each level in ascending order.

use std::collections::{BTreeSet, VecDeque};

use hedgerow_core::{Direction, Resident, VertexId};

use super::config::{NO_VERTEX, UNREACHED};

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

/// Returns hops: each set has the neighbours of the set before that are in no earlier set. All [`UNREACHED`]
/// if `source` is not live.
pub fn k_hop_neighborhood<G: Resident>(g: &G, source: VertexId, hops: u32, direction: Direction) -> Vec<u32> {
    let mut found = vec![UNREACHED; g.vertex_bound()];
    let is_live = source.index() < g.vertex_bound() && g.contains(source);
    let mut ring: BTreeSet<VertexId> = is_live.then_some(source).into_iter().collect();
    let mut distance = 0;
    while !ring.is_empty() && distance <= hops {
        ring.iter().for_each(|v| found[v.index()] = distance);
        let around = ring.iter().flat_map(|&v| g.neighbors(v, direction).iter().collect::<Vec<_>>());
        ring = around.filter(|v| found[v.index()] == UNREACHED).collect();
        distance += 1;
    }
    found
}

/// Returns parents: the parent of a vertex is the first vertex of the previous level with an edge to it.
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
            Some(UNREACHED) | None => parent == NO_VERTEX,
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
