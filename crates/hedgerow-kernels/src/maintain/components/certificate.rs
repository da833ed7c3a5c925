//! A part of the edges with the same components as all of them.

use std::collections::HashSet;

use hedgerow_core::{Resident, VertexId};

use super::super::directions;
use crate::{Cancel, KernelError};

/// Stands for no vertex.
const NONE: u32 = u32::MAX;
/// Once more than this share of as many edges as there are vertices was added, the forest is made anew.
const MOST_ADDED: usize = 4;

/// Undirected edges: a forest, less the edges removed from it, and edges added since.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// The parent of each vertex in the forest; a root is its own.
    parents: Vec<u32>,
    added: HashSet<(u32, u32)>,
}

fn ordered(a: VertexId, b: VertexId) -> (u32, u32) {
    (a.0.min(b.0), a.0.max(b.0))
}

impl Certificate {
    /// A forest of all of `g`, breadth first. O(vertices + edges), on this thread.
    pub(super) fn forest<G: Resident>(g: &G, cancel: &Cancel) -> Result<Certificate, KernelError> {
        let bound = g.vertex_bound();
        let (mut parents, mut frontier) = (vec![NONE; bound], Vec::new());
        let directions = directions(g);
        for root in (0..bound as u32).map(VertexId) {
            if parents[root.index()] != NONE || !g.contains(root) {
                continue;
            }
            // Its own parent, so that it counts as reached.
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

    pub(super) fn add(&mut self, a: VertexId, b: VertexId) {
        if self.parent(a) != b.0 && self.parent(b) != a.0 {
            self.added.insert(ordered(a, b));
        }
    }

    /// Adds the edges of a path.
    pub(super) fn add_path(&mut self, path: &[VertexId]) {
        path.iter().zip(path.iter().skip(1)).for_each(|(&u, &v)| self.add(u, v));
    }

    /// Gives each vertex of `tree` its parent there.
    pub(super) fn set_tree(&mut self, tree: &[(VertexId, VertexId)]) {
        for &(v, tree_parent) in tree {
            if let Some(parent) = self.parents.get_mut(v.index()) {
                *parent = tree_parent.0;
            }
        }
    }

    /// Removes an edge; returns whether the certificate had it.
    pub(super) fn remove(&mut self, a: VertexId, b: VertexId) -> bool {
        let mut was_there = self.added.remove(&ordered(a, b));
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

    /// Whether so much was added that a new forest is due.
    pub(super) fn is_scattered(&self) -> bool {
        self.added.len() > self.parents.len() / MOST_ADDED + 1024
    }
}
