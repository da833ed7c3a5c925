//! The search for a connection of two vertices: bidirectional, until its halves meet or one half has visited
//! a whole component.

use std::collections::HashMap;
use std::ops::ControlFlow;

use hedgerow_core::{Resident, VertexId};

use crate::cancel::Meter;
use crate::frontier::all_ways;
use crate::paths::joined;
use crate::{Cancel, KernelError};

/// The result of a search for a connection.
pub(super) enum Connection {
    /// A path that connects both.
    Path(Vec<VertexId>),
    /// The two are not connected.
    Separate {
        /// The whole component of one of them, each vertex with its parent in the search; the root is its own
        /// parent.
        component: Vec<(VertexId, VertexId)>,
        /// The other vertex.
        other: VertexId,
    },
}

/// One half of a bidirectional search, breadth first.
struct HalfSearch {
    root: VertexId,
    /// The vertices visited, in order; the lists from `next` on are unread.
    visited: Vec<VertexId>,
    next: usize,
    /// The parent of each vertex visited.
    parents: HashMap<VertexId, VertexId>,
    /// The total length of the lists read.
    edges_read: usize,
}

impl HalfSearch {
    fn new(root: VertexId) -> HalfSearch {
        let parents = HashMap::from([(root, root)]);
        HalfSearch { root, visited: vec![root], next: 0, parents, edges_read: 0 }
    }

    /// Returns the vertices visited, each with its parent.
    fn tree(&self) -> Vec<(VertexId, VertexId)> {
        self.visited.iter().map(|v| (*v, self.parents.get(v).copied().unwrap_or(*v))).collect()
    }

    /// Returns the path from `v` to the root, both included.
    fn path_to_root(&self, mut v: VertexId) -> Vec<VertexId> {
        let mut path = vec![v];
        while let Some(&parent) = self.parents.get(&v).filter(|&&parent| parent != v) {
            path.push(parent);
            v = parent;
        }
        path
    }

    /// Reads the lists of the next vertex. Returns a neighbor that the other half has visited, if there is
    /// one.
    fn step<G: Resident>(
        &mut self,
        g: &G,
        other: &HalfSearch,
        meter: &mut Meter<'_>,
    ) -> Result<Option<VertexId>, KernelError> {
        let Some(&v) = self.visited.get(self.next) else { return Ok(None) };
        self.next += 1;
        for &direction in all_ways(g) {
            let list = g.neighbors(v, direction);
            if !meter.spend(list.len().min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                return Err(KernelError::Cancelled);
            }
            self.edges_read += list.len();
            let found = list.try_for_each(|u| {
                if other.parents.contains_key(&u) {
                    self.parents.entry(u).or_insert(v);
                    return ControlFlow::Break(u);
                }
                self.parents.entry(u).or_insert_with(|| {
                    self.visited.push(u);
                    v
                });
                ControlFlow::Continue(())
            });
            if let ControlFlow::Break(u) = found {
                return Ok(Some(u));
            }
        }
        Ok(None)
    }

    /// True if the whole component of the root was visited.
    fn is_done(&self) -> bool {
        self.next == self.visited.len()
    }
}

/// Searches from `a` and `b` at once, each step in the half that has read fewer edges.
pub(super) fn connection<G: Resident>(
    g: &G,
    a: VertexId,
    b: VertexId,
    cancel: &Cancel,
) -> Result<Connection, KernelError> {
    if a == b {
        return Ok(Connection::Path(Vec::new()));
    }
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    if let Some(path) = short_path(g, a, b) {
        return Ok(Connection::Path(path));
    }
    let (mut from_a, mut from_b) = (HalfSearch::new(a), HalfSearch::new(b));
    loop {
        for (half, other) in [(&from_a, &from_b), (&from_b, &from_a)] {
            if half.is_done() {
                return Ok(Connection::Separate { component: half.tree(), other: other.root });
            }
        }
        let cost = |half: &HalfSearch| {
            half.edges_read + half.visited.get(half.next).map_or(0, |&v| total_degree(g, v))
        };
        let (half, other) =
            if cost(&from_a) <= cost(&from_b) { (&mut from_a, &from_b) } else { (&mut from_b, &from_a) };
        if let Some(meeting) = half.step(g, other, &mut meter)? {
            return Ok(Connection::Path(joined(half.path_to_root(meeting), other.path_to_root(meeting))));
        }
    }
}

/// Returns a path of one or two edges, if there is one: looks up each neighbor of the end with the shorter
/// lists in the lists of the other end. Most ends of an edge have a common neighbor.
fn short_path<G: Resident>(g: &G, a: VertexId, b: VertexId) -> Option<Vec<VertexId>> {
    let (shorter, longer) = if total_degree(g, a) <= total_degree(g, b) { (a, b) } else { (b, a) };
    let is_beside_longer =
        |v: VertexId| all_ways(g).iter().any(|&direction| g.neighbors(longer, direction).contains(v));
    if is_beside_longer(shorter) {
        return Some(vec![a, b]);
    }
    all_ways(g).iter().find_map(|&direction| {
        let found =
            g.neighbors(shorter, direction).try_for_each(|v| match v != shorter && is_beside_longer(v) {
                true => ControlFlow::Break(v),
                false => ControlFlow::Continue(()),
            });
        found.break_value().map(|v| vec![a, v, b])
    })
}

fn total_degree<G: Resident>(g: &G, v: VertexId) -> usize {
    all_ways(g).iter().map(|&direction| g.degree(v, direction)).sum()
}
