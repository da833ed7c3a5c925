//! Operations on edges and vertices: in commits, and as entries of a delta.
//!
//! Only effective operations are represented: insertions of absent edges, and removals of existing ones.

use hedgerow_core::{LocalVertex, RowRef, Timestamp, VertexId};

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EdgeOp {
    /// The insertion of an edge that did not exist.
    Insert = 0,
    /// The removal of an existing edge.
    Remove = 1,
    /// New weight or new properties of an existing edge.
    Update = 2,
    /// An operation on the vertex itself: inserted if the destination field is 1, removed if it is 0.
    Vertex = 3,
}

impl EdgeOp {
    #[inline]
    pub(crate) fn from_tag(tag: u8) -> EdgeOp {
        EdgeOp::from_bits(tag >> 6)
    }

    /// Returns the operation whose discriminant is `bits`, 0 to 3.
    #[inline]
    pub(crate) fn from_bits(bits: u8) -> EdgeOp {
        match bits {
            0 => EdgeOp::Insert,
            1 => EdgeOp::Remove,
            2 => EdgeOp::Update,
            _ => EdgeOp::Vertex,
        }
    }

    /// Returns the number of edges by which a list grows.
    #[inline]
    pub fn growth(self) -> i64 {
        match self {
            EdgeOp::Insert => 1,
            EdgeOp::Remove => -1,
            EdgeOp::Update | EdgeOp::Vertex => 0,
        }
    }
}

/// An unpacked entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The vertex, by its number in the subgraph.
    pub(crate) local: LocalVertex,
    /// The operation.
    pub(crate) op: EdgeOp,
    /// The other endpoint. In an [`EdgeOp::Vertex`] entry 1 for inserted, 0 for removed.
    pub(crate) dst: VertexId,
    /// The commit timestamp.
    pub(crate) ts: Timestamp,
    /// The weight of an inserted or updated edge; 1 in a graph without weights.
    pub(crate) weight: f64,
}

/// An effective operation at one copy of an edge, or on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOp {
    /// The vertex, by its number in the subgraph.
    pub local: LocalVertex,
    /// The operation.
    pub op: EdgeOp,
    /// The other endpoint; for [`EdgeOp::Vertex`] 1 to insert, 0 to remove.
    pub dst: VertexId,
    /// The weight, in a weighted graph.
    pub weight: f64,
}

/// Rank and properties of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// All properties of this copy of the edge after the operation.
    pub row: RowRef<'a>,
}

impl Attributes<'_> {
    /// Neither rank nor properties.
    pub const NONE: Attributes<'static> = Attributes { rank: 0, row: RowRef::Empty };

    /// True if the edge has neither rank nor properties.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.rank == 0 && matches!(self.row, RowRef::Empty)
    }
}

/// The operations of one commit on one chain. If no operation has attributes, as is usual, none are stored or
/// read.
#[derive(Clone, Copy, Debug)]
pub struct Ops<'a> {
    ops: &'a [LocalOp],
    /// Parallel to the operations, or empty if no operation has attributes.
    attributes: &'a [Attributes<'a>],
}

impl<'a> Ops<'a> {
    /// Makes operations on edges without ranks and properties, and on vertices.
    #[inline]
    pub fn plain(ops: &'a [LocalOp]) -> Ops<'a> {
        Ops { ops, attributes: &[] }
    }

    /// Makes operations with the attributes of each; `attributes` may be empty.
    ///
    /// # Panics
    /// If `attributes` is not empty and has another length than `ops`.
    #[inline]
    pub fn with(ops: &'a [LocalOp], attributes: &'a [Attributes<'a>]) -> Ops<'a> {
        assert!(attributes.is_empty() || attributes.len() == ops.len(), "attributes of each operation");
        Ops { ops, attributes }
    }

    /// Returns the number of operations.
    #[inline]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// True if there is no operation.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Returns the operation at `at`.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> LocalOp {
        self.ops[at]
    }

    /// True if the operations may have attributes.
    #[inline]
    pub(crate) fn have_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// True if some edge has a rank.
    pub(crate) fn has_ranks(&self) -> bool {
        self.attributes.iter().any(|attributes| attributes.rank != 0)
    }

    /// True if some edge has properties.
    pub(crate) fn has_rows(&self) -> bool {
        self.attributes.iter().any(|attributes| !matches!(attributes.row, RowRef::Empty))
    }

    /// Returns the rows of the operations; none if no operation has attributes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowRef<'a>> + use<'a> {
        self.attributes.iter().map(|attributes| attributes.row)
    }

    /// Returns the operations without their attributes.
    #[inline]
    pub(crate) fn iter(&self) -> std::slice::Iter<'a, LocalOp> {
        self.ops.iter()
    }

    /// Returns the attributes of the operation at `at`, if it has any.
    #[inline]
    pub(crate) fn attributes(&self, at: usize) -> Option<&'a Attributes<'a>> {
        self.attributes.get(at).filter(|attributes| !attributes.is_none())
    }
}

/// Entries in commit order, as merges read them: the entries of a delta, or these followed by operations.
pub(crate) trait Entries {
    fn entry(&self, at: usize) -> Entry;

    /// True if some entry has a rank.
    fn has_ranks(&self) -> bool;

    /// True if some entry has properties.
    fn has_rows(&self) -> bool;

    fn rank(&self, at: usize) -> u64;

    fn row(&self, at: usize) -> RowRef<'_>;
}
