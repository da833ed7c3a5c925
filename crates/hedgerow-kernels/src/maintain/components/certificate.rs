//! A part of the edges with the same components as all of them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hedgerow_core::{Resident, VertexId};

use crate::frontier::all_ways;
use crate::{Cancel, KernelError};

/// The mark of no vertex.
const NONE: u32 = u32::MAX;
/// The most edges that a walk to a root follows: trees of graphs with long paths are deep.
const MOST_STEPS: usize = 48;
/// The most neighbors that a search reads for a vertex that was cut off.
const MOST_NEIGHBORS: usize = 32;
/// The forest is made anew once more than one edge per `MOST_ADDED` vertices was added.
const MOST_ADDED: usize = 4;

/// Undirected edges: a forest without the edges removed from it, and the edges added later.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// The parent of each vertex in the forest; a root is its own parent.
    parents: Vec<u32>,
    added: HashSet<(u32, u32)>,
}

fn ordered(a: VertexId, b: VertexId) -> (u32, u32) {
    (a.0.min(b.0), a.0.max(b.0))
}

impl Certificate {
    /// Returns a forest of all of `g`, breadth first. O(vertices + edges), on this thread.
    pub(super) fn forest<G: Resident>(g: &G, cancel: &Cancel) -> Result<Certificate, KernelError> {
        let bound = g.vertex_bound();
        let (mut parents, mut frontier) = (vec![NONE; bound], Vec::new());
        let directions = all_ways(g);
        for root in (0..bound as u32).map(VertexId) {
            if parents[root.index()] != NONE || !g.contains(root) {
                continue;
            }
            // A root is its own parent, so that it counts as reached.
            parents[root.index()] = root.0;
            frontier.push(root);
            let mut at = 0;
            let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
            while let Some(&v) = frontier.get(at) {
                at += 1;
                for &direction in directions {
                    let list = g.neighbors(v, direction);
                    if !meter.spend(list.len().min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                        return Err(KernelError::Cancelled);
                    }
                    list.for_each(|u| {
                        if parents[u.index()] == NONE {
                            parents[u.index()] = v.0;
                            frontier.push(u);
                        }
                    });
                }
            }
            frontier.clear();
        }
        Ok(Certificate { parents, added: HashSet::new() })
    }

    /// Makes room for vertices up to `bound`.
    pub(super) fn resize(&mut self, bound: usize) {
        self.parents.resize(bound, NONE);
    }

    /// Adds the edge between two vertices that the certificate did not connect.
    pub(super) fn join(&mut self, a: VertexId, b: VertexId) {
        if !self.hang(a, b) && !self.hang(b, a) {
            self.added.insert(ordered(a, b));
        }
    }

    /// Adds the edges of a path that connect trees.
    pub(super) fn add_path(&mut self, path: &[VertexId]) {
        for (&u, &v) in path.iter().zip(path.iter().skip(1)) {
            match (self.root(u), self.root(v)) {
                (Some(of_u), Some(of_v)) if of_u == of_v => {}
                (Some(_), Some(_)) => self.join(u, v),
                _ => _ = self.added.insert(ordered(u, v)),
            }
        }
    }

    /// Makes `v` the root of its tree and `parent` its parent, which must be in another tree. False, and no
    /// change, if the way to the root is long.
    fn hang(&mut self, v: VertexId, parent: VertexId) -> bool {
        if self.root(v).is_none() {
            return false;
        }
        let (mut at, mut above) = (v.0, parent.0);
        while let Some(slot) = self.parents.get_mut(at as usize) {
            let next = std::mem::replace(slot, above);
            if next == at || next == NONE {
                break;
            }
            (above, at) = (at, next);
        }
        true
    }

    /// Returns the root of the tree of `v`, unless the way there is long.
    fn root(&self, v: VertexId) -> Option<u32> {
        let mut at = v.0;
        for _ in 0..MOST_STEPS {
            match self.parent(VertexId(at)) {
                NONE => return Some(at),
                parent if parent == at => return Some(at),
                parent => at = parent,
            }
        }
        None
    }

    /// True if one tree is known to have both vertices.
    pub(super) fn connects(&self, a: VertexId, b: VertexId) -> bool {
        self.root(a).is_some_and(|root| self.root(b) == Some(root))
    }

    /// Replaces `removed` edges by others, after all of them were removed. Edges whose ends are not connected
    /// yet stay in `removed`.
    pub(super) fn relink<G: Resident>(&mut self, g: &G, removed: &mut Vec<(VertexId, VertexId)>) {
        // If an edge nearer to the root was removed, both ends may be in a tree that was cut off. In the next
        // round this tree may be attached again.
        loop {
            let before = removed.len();
            removed.retain(|&(a, b)| !self.relink_one(g, a, b));
            if removed.is_empty() || removed.len() == before {
                return;
            }
        }
    }

    /// Connects both ends of a removed edge by an edge from one of them to a neighbor in the tree of the
    /// other. True if they are connected afterwards.
    fn relink_one<G: Resident>(&mut self, g: &G, a: VertexId, b: VertexId) -> bool {
        let (Some(of_a), Some(of_b)) = (self.root(a), self.root(b)) else { return false };
        if of_a == of_b {
            return true;
        }
        // The end that was cut off is a root now.
        let (child, root) = if of_a == a.0 { (a, of_b) } else { (b, of_a) };
        let mut left = MOST_NEIGHBORS;
        for &direction in all_ways(g) {
            let found = g.neighbors(child, direction).try_for_each(|v| {
                left = left.saturating_sub(1);
                match self.root(v) == Some(root) {
                    true => ControlFlow::Break(Some(v)),
                    false if left == 0 => ControlFlow::Break(None),
                    false => ControlFlow::Continue(()),
                }
            });
            if let ControlFlow::Break(Some(v)) = found {
                self.join(child, v);
                return true;
            }
        }
        false
    }

    /// Sets the parent of each vertex of `tree` to its parent in `tree`.
    pub(super) fn set_tree(&mut self, tree: &[(VertexId, VertexId)]) {
        for &(v, tree_parent) in tree {
            if let Some(parent) = self.parents.get_mut(v.index()) {
                *parent = tree_parent.0;
            }
        }
    }

    /// Removes an edge; returns whether the certificate had it.
    pub(super) fn remove(&mut self, a: VertexId, b: VertexId) -> bool {
        let mut was_there = !self.added.is_empty() && self.added.remove(&ordered(a, b));
        for (child, parent) in [(a, b), (b, a)] {
            if self.parent(child) == parent.0 {
                self.parents[child.index()] = NONE;
                was_there = true;
            }
        }
        was_there
    }

    fn parent(&self, v: VertexId) -> u32 {
        self.parents.get(v.index()).copied().unwrap_or(NONE)
    }

    /// True if the added edges are too many, so that a new forest is due.
    pub(super) fn is_scattered(&self) -> bool {
        self.added.len() > self.parents.len() / MOST_ADDED + 1024
    }
}
