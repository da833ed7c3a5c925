//! How a graph differs from what it was: what answers that are kept up to date start from.

use crate::id::VertexId;
use crate::view::Resident;

/// What two snapshots of a graph see differently in one label, in the order of ids.
///
/// It says what is different and not what happened: an edge that came and went between the two is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The vertices that came, `true`, or went, `false`.
    pub vertices: Vec<(VertexId, bool)>,
    /// The entries of outgoing lists that differ. An edge of an undirected graph stands in the lists of both its ends, so it is here twice, unless it is a
    /// loop. Of a vertex that came or went all edges are here.
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
    /// The weight that the later snapshot sees, 1 in a graph without; of an edge that went 0.
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

    /// Adds what differs between two lists of a vertex, with weights, both ascending. Of several edges to one neighbor, in the order of their ranks,
    /// each is compared with the one in its place. O(lengths).
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

    /// Adds what `later` says of vertices behind those that are spoken of here.
    pub fn append(&mut self, mut later: Changes) {
        self.vertices.append(&mut later.vertices);
        self.edges.append(&mut later.edges);
    }
}

/// A state of a graph that others come after, of which it is known what they see differently.
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

    /// What this state sees differently from an `earlier` one.
    ///
    /// # Errors
    /// Where the other one is of another graph, or later; where one of them cannot be read.
    fn changes_since(&self, earlier: &Self) -> Result<Changes, Self::Error>;

    /// Whether `earlier` is a state of the same graph, and not later than this one.
    fn comes_after(&self, earlier: &Self) -> bool;
}

/// A graph that has states one after another.
pub trait Changeable {
    /// One of them.
    type Snapshot: Changing;
}
