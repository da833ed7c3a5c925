//! Matchings pair by pair, and checks of matchings.

use std::collections::{BTreeSet, VecDeque};

use hedgerow_core::{Direction, Resident, VertexId};

use crate::NO_VERTEX;

/// Returns the neighbours of each vertex, directions ignored.
fn lists<G: Resident>(g: &G) -> Vec<BTreeSet<VertexId>> {
    let mut lists = vec![BTreeSet::new(); g.vertex_bound()];
    for u in (0..g.vertex_bound() as u32).map(VertexId) {
        for v in g.neighbors(u, Direction::Out).iter() {
            lists[u.index()].insert(v);
            lists[v.index()].insert(u);
        }
    }
    lists
}

/// Returns a maximal matching: takes edges in the order of their ends, along their directions, and makes an
/// edge a pair if neither end is in a pair yet.
pub fn maximal<G: Resident>(g: &G) -> Vec<u32> {
    let mut mates = vec![NO_VERTEX; g.vertex_bound()];
    for u in (0..g.vertex_bound() as u32).map(VertexId) {
        let mut list: Vec<VertexId> = g.neighbors(u, Direction::Out).iter().collect();
        list.sort_unstable();
        for v in list {
            if u != v && mates[u.index()] == NO_VERTEX && mates[v.index()] == NO_VERTEX {
                (mates[u.index()], mates[v.index()]) = (v.0, u.0);
            }
        }
    }
    mates
}

/// Returns a mark for each vertex, by a search of each component: true if it is on the first side.
///
/// # Errors
/// Returns an edge within a side.
fn sides(lists: &[BTreeSet<VertexId>]) -> Result<Vec<bool>, (VertexId, VertexId)> {
    let mut side: Vec<Option<bool>> = vec![None; lists.len()];
    for root in 0..lists.len() {
        if side[root].is_some() {
            continue;
        }
        side[root] = Some(true);
        let mut queue = VecDeque::from([VertexId(root as u32)]);
        while let Some(u) = queue.pop_front() {
            let other = side[u.index()].map(|side| !side);
            for &v in &lists[u.index()] {
                match side[v.index()] {
                    None => {
                        side[v.index()] = other;
                        queue.push_back(v);
                    }
                    known if known != other => return Err((u, v)),
                    _ => {}
                }
            }
        }
    }
    Ok(side.into_iter().map(|side| side == Some(true)).collect())
}

/// Returns a maximum matching: searches from each vertex of the first side for a way to a free one, pair
/// after pair.
///
/// # Errors
/// Returns an edge that closes an odd cycle, if the graph is not bipartite.
pub fn maximum<G: Resident>(g: &G) -> Result<Vec<u32>, (VertexId, VertexId)> {
    let lists = lists(g);
    let first = sides(&lists)?;
    let mut mates = vec![NO_VERTEX; lists.len()];
    for root in (0..lists.len()).filter(|&u| first[u]) {
        // The vertex before each vertex of the second side on the way.
        let mut before = std::collections::BTreeMap::new();
        let mut queue = VecDeque::from([root]);
        let mut end = None;
        while let Some(u) = queue.pop_front().filter(|_| end.is_none()) {
            for v in lists[u].iter().map(|v| v.index()) {
                if before.contains_key(&v) {
                    continue;
                }
                before.insert(v, u);
                if mates[v] == NO_VERTEX {
                    end = Some(v);
                    break;
                }
                queue.push_back(mates[v] as usize);
            }
        }
        while let Some(v) = end {
            let u = before[&v];
            let was = mates[u];
            (mates[u], mates[v]) = (v as u32, u as u32);
            end = (was != NO_VERTEX).then_some(was as usize);
        }
    }
    Ok(mates)
}

/// Returns the number of pairs if `mates` is a matching: each vertex is the mate of its mate, and an edge
/// joins both.
pub fn count_pairs<G: Resident>(g: &G, mates: &[u32]) -> Option<usize> {
    let mut pairs = 0;
    for (u, &mate) in (0..).map(VertexId).zip(mates).filter(|(_, mate)| **mate != NO_VERTEX) {
        let v = VertexId(mate);
        let is_edge =
            g.neighbors(u, Direction::Out).contains(v) || g.neighbors(v, Direction::Out).contains(u);
        if u == v || mates.get(v.index()) != Some(&u.0) || !is_edge {
            return None;
        }
        pairs += usize::from(u < v);
    }
    Some(pairs)
}
