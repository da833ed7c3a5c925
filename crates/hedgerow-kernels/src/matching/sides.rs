//! The two sides of a bipartite graph.

use std::ops::ControlFlow;

use hedgerow_core::{Direction, Topology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::lists::for_each_list_of_all;

/// Returns a mark for each vertex: true if it is on the same side as the least vertex of its component.
pub(super) fn first_side<G: Topology>(g: &G, cancel: &Cancel) -> Result<Vec<bool>, KernelError<G::Error>> {
    let direction = if g.is_stored(Direction::Out) { Direction::Out } else { Direction::In };
    let (mut sets, mut odd) = (Sets::new(g.vertex_bound()), None);
    for_each_list_of_all(g, direction, cancel, |u, list| {
        odd = list.iter().find(|&&v| !sets.join(u.0, v.0)).map(|&v| (u, v));
        if odd.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    match odd {
        Some((from, to)) => Err(KernelError::NotBipartite { from, to }),
        None => Ok((0..g.vertex_bound() as u32).map(|v| !sets.root(v).1).collect()),
    }
}

/// Sets of vertices whose sides are known relative to each other.
struct Sets {
    /// The parent of each vertex in its set; a root is its own parent.
    parent: Vec<u32>,
    /// True for a vertex that is on the other side than its parent.
    crosses: Vec<bool>,
}

impl Sets {
    fn new(count: usize) -> Sets {
        Sets { parent: (0..count as u32).collect(), crosses: vec![false; count] }
    }

    /// Returns the root of the set of `v`, and true if `v` is on the other side than the root. Moves vertices
    /// on the way nearer to the root.
    fn root(&mut self, v: u32) -> (u32, bool) {
        let (mut v, mut crossed) = (v as usize, false);
        loop {
            let parent = self.parent[v] as usize;
            if parent == v {
                return (v as u32, crossed);
            }
            self.crosses[v] ^= self.crosses[parent];
            self.parent[v] = self.parent[parent];
            crossed ^= self.crosses[v];
            v = self.parent[v] as usize;
        }
    }

    /// Puts `u` and `v` on different sides; false if they are on the same side.
    fn join(&mut self, u: u32, v: u32) -> bool {
        let ((of_u, u_crosses), (of_v, v_crosses)) = (self.root(u), self.root(v));
        if of_u == of_v {
            return u_crosses != v_crosses;
        }
        // The lesser root stays, so that the first side has the least vertex.
        let (low, high) = (of_u.min(of_v), of_u.max(of_v));
        self.parent[high as usize] = low;
        self.crosses[high as usize] = u_crosses == v_crosses;
        true
    }
}
