//! A shortest path by one search from the source.

use hedgerow_core::{Direction, Resident, VertexId};

use crate::paths::Paths;

/// Returns a shortest path: finds the vertex before each, level by level, until none is left.
pub fn shortest_path<G: Resident>(g: &G, source: VertexId, target: VertexId, direction: Direction) -> Paths {
    let mut before: Vec<Option<VertexId>> = vec![None; g.vertex_bound()];
    let mut queue = vec![source];
    before[source.index()] = Some(source);
    let mut at = 0;
    while let Some(&u) = queue.get(at) {
        for v in g.neighbors(u, direction).iter() {
            if before[v.index()].is_none() {
                before[v.index()] = Some(u);
                queue.push(v);
            }
        }
        at += 1;
    }
    let mut paths = Paths::new();
    if before[target.index()].is_some() {
        let mut path = vec![target];
        while let Some(&u) = path.last().filter(|&&u| u != source) {
            path.extend(before[u.index()]);
        }
        path.reverse();
        paths.push(&path, (path.len() - 1) as f64);
    }
    paths
}
