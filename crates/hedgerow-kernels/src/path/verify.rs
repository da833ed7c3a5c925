//! A shortest path by relaxing edges until nothing improves (Bellman and Ford's method).

use std::collections::VecDeque;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::lengths::{Hops, Lengths, Weights};
use crate::paths::Paths;

/// Returns the path: before each vertex is the vertex that improved its distance last. Edges with a negative
/// length are not crossed.
fn path<G: Resident>(
    g: &G,
    source: VertexId,
    target: VertexId,
    direction: Direction,
    lengths: impl Lengths<G>,
) -> Paths {
    let mut best: Vec<Option<(f64, VertexId)>> = vec![None; g.vertex_bound()];
    let mut queue = VecDeque::from([source]);
    best[source.index()] = Some((0.0, source));
    while let Some(u) = queue.pop_front() {
        let reached = best[u.index()].map_or(f64::INFINITY, |(distance, _)| distance);
        lengths.each(g, u, direction, |v, length| {
            let through_u = reached + length;
            let is_better = best[v.index()].is_none_or(|(known, _)| through_u < known);
            if length >= 0.0 && through_u.is_finite() && is_better {
                best[v.index()] = Some((through_u, u));
                queue.push_back(v);
            }
        });
    }
    let mut paths = Paths::new();
    if let Some((length, _)) = best[target.index()] {
        let mut path = vec![target];
        while let Some(&u) = path.last().filter(|&&u| u != source) {
            path.extend(best[u.index()].map(|(_, before)| before));
        }
        path.reverse();
        paths.push(&path, length);
    }
    paths
}

/// Returns a path with the fewest edges.
pub fn shortest_path<G: Resident>(g: &G, source: VertexId, target: VertexId, direction: Direction) -> Paths {
    path(g, source, target, direction, Hops)
}

/// Returns a path with the least sum of weights.
pub fn shortest_weighted_path<G: WeightedTopology + Resident>(
    g: &G,
    source: VertexId,
    target: VertexId,
    direction: Direction,
) -> Paths {
    path(g, source, target, direction, Weights)
}
