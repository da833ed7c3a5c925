//! The differences between two states of a graph.

use crate::id::VertexId;
use crate::view::Resident;

/// The differences between two snapshots of a graph in one label, in the order of ids.
///
/// An edge that was inserted and removed again between the two is not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The vertices that were inserted (`true`) or removed (`false`).
    pub vertices: Vec<(VertexId, bool)>,
    /// The entries of outgoing lists that differ. An undirected edge stands in the lists of both ends, so it is here twice unless it is a
    /// loop. All edges of inserted and removed vertices are here.
    pub edges: Vec<EdgeChange>,
}

/// An entry of an outgoing list that differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeChange {
    /// Whose list it is.
    pub src: VertexId,
    /// The neighbor.
    pub dst: VertexId,
    /// What happened to it.
    pub kind: EdgeChangeKind,
    /// The weight in the later snapshot, 1 in a graph without weights; 0 for a removed edge.
    pub weight: f64,
}

/// What happened to an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeChangeKind {
    /// The later snapshot alone has it.
    Inserted,
    /// The earlier snapshot alone has it.
    Removed,
    /// Both have it, with other weights, or it was written again with the same.
    Reweighted,
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.edges.is_empty()
    }

    /// Adds the differences between two lists of a vertex, with weights, both ascending. Compares several edges to one neighbor in the order of their ranks,
    /// place by place. O(lengths).
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

/// One of several states of a graph whose differences can be told.
pub trait Changing: Clone {
    /// The graph as kernels read it.
    type View: Resident;
    /// Why it cannot be read.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The graph as kernels read it, made where it was not made before.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn view(&self) -> Result<&Self::View, Self::Error>;

    /// The differences between an `earlier` state and this one.
    ///
    /// # Errors
    /// Where the other one is of another graph, or later; where one of them cannot be read.
    fn changes_since(&self, earlier: &Self) -> Result<Changes, Self::Error>;

    /// The same state, from which changes can be told, without the graph as kernels read it. O(1).
    fn without_view(&self) -> Self;

    /// Whether `earlier` is a state of the same graph and no later than this one.
    fn comes_after(&self, earlier: &Self) -> bool;
}

/// A graph that has states one after another.
pub trait Changeable {
    /// One of them.
    type Snapshot: Changing;
}
