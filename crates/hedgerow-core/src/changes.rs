//! The differences between two states of a graph.

use crate::id::VertexId;
use crate::view::Resident;

/// The differences between two snapshots of a graph in one label, ascending by id.
///
/// An edge that was inserted and removed again between the two snapshots is not in this list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The vertices that were inserted (`true`) or removed (`false`).
    pub vertices: Vec<(VertexId, bool)>,
    /// The entries of outgoing lists that differ. An undirected edge is in the lists of both ends: its change
    /// occurs twice here, unless it is a self-loop. The edges of inserted and removed vertices are included.
    pub edges: Vec<EdgeChange>,
}

/// An entry of an outgoing list that differs between the snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeChange {
    /// The vertex whose list has the entry.
    pub src: VertexId,
    /// The neighbor.
    pub dst: VertexId,
    /// The kind of change.
    pub kind: EdgeChangeKind,
    /// The weight in the later snapshot, 1 in a graph without weights; 0 for a removed edge.
    pub weight: f64,
}

/// The kind of change of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeChangeKind {
    /// Only the later snapshot has the edge.
    Inserted,
    /// Only the earlier snapshot has the edge.
    Removed,
    /// Both snapshots have the edge: with different weights, or written again with the same weight.
    Reweighted,
}

impl Changes {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }

    /// Adds the differences between two lists of a vertex, with weights, both ascending. Compares several
    /// edges to one neighbor in the order of their ranks, one by one. O(lengths).
    pub fn add_difference(&mut self, src: VertexId, before: &[(VertexId, f64)], after: &[(VertexId, f64)]) {
        let (mut old, mut new) = (before.iter().copied().peekable(), after.iter().copied().peekable());
        loop {
            let (kind, (dst, weight)) = match (old.peek().copied(), new.peek().copied()) {
                (Some(was), Some(is)) if was.0 == is.0 => {
                    old.next();
                    new.next();
                    if was.1.to_bits() == is.1.to_bits() {
                        continue;
                    }
                    (EdgeChangeKind::Reweighted, is)
                }
                (Some(was), is) if is.is_none_or(|is| was.0 < is.0) => {
                    old.next();
                    (EdgeChangeKind::Removed, (was.0, 0.0))
                }
                (_, Some(is)) => {
                    new.next();
                    (EdgeChangeKind::Inserted, is)
                }
                (_, None) => return,
            };
            self.edges.push(EdgeChange { src, dst, kind, weight });
        }
    }

    /// Adds the differences of `later`, which concern vertices with larger ids.
    pub fn append(&mut self, mut later: Changes) {
        self.vertices.append(&mut later.vertices);
        self.edges.append(&mut later.edges);
    }
}

/// A state of a graph that can be compared with other states of it.
pub trait Changing: Clone {
    /// The graph as kernels read it.
    type View: Resident;
    /// The error of a state that cannot be read.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Returns the graph as kernels read it. The first call makes it.
    ///
    /// # Errors
    /// If the state cannot be read.
    fn view(&self) -> Result<&Self::View, Self::Error>;

    /// Returns the differences between an `earlier` state and this one.
    ///
    /// # Errors
    /// If `earlier` is a state of another graph or a later state, or if one of the two cannot be read.
    fn changes_since(&self, earlier: &Self) -> Result<Changes, Self::Error>;

    /// Returns the same state without its view. It can still be compared. O(1).
    fn without_view(&self) -> Self;

    /// True if `earlier` is a state of the same graph and no later than this one.
    fn comes_after(&self, earlier: &Self) -> bool;
}
