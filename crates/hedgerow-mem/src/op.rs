//! Operations on edges and vertices: as commits bring them, and as entries of a delta.
//!
//! Only effective operations come here: an insertion of what was not there, a removal of what was.

use hedgerow_core::{LocalVertex, Row, Timestamp, VertexId};

/// What an entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EdgeOp {
    /// An edge that was not there.
    Insert = 0,
    /// An edge that was there is gone.
    Remove = 1,
    /// An edge that was there has a new weight.
    Update = 2,
    /// The vertex itself: inserted if the destination field is 1, removed if it is 0.
    Vertex = 3,
}

impl EdgeOp {
    #[inline]
    pub(crate) fn from_tag(tag: u8) -> EdgeOp {
        EdgeOp::from_bits(tag >> 6)
    }

    /// The operation whose discriminant is `bits`, 0 to 3.
    #[inline]
    pub(crate) fn from_bits(bits: u8) -> EdgeOp {
        match bits {
            0 => EdgeOp::Insert,
            1 => EdgeOp::Remove,
            2 => EdgeOp::Update,
            _ => EdgeOp::Vertex,
        }
    }
}

/// One entry, unpacked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The vertex, by its place in the subgraph.
    pub(crate) local: LocalVertex,
    /// What happened.
    pub(crate) op: EdgeOp,
    /// The other endpoint; of an [`EdgeOp::Vertex`] entry 1 for inserted, 0 for removed.
    pub(crate) dst: VertexId,
    /// The commit timestamp.
    pub(crate) ts: Timestamp,
    /// The weight of an inserted or updated edge in a weighted graph, else 0.
    pub(crate) weight: f64,
}

/// An effective operation on one side of an edge, or on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOp {
    /// The vertex, by its place in the subgraph.
    pub local: LocalVertex,
    /// What to do.
    pub op: EdgeOp,
    /// The other endpoint; for [`EdgeOp::Vertex`] 1 to insert, 0 to remove.
    pub dst: VertexId,
    /// The weight, in a weighted graph.
    pub weight: f64,
}

impl LocalOp {
    /// The operation as a delta entry of the commit `ts`.
    pub(crate) fn entry(&self, ts: Timestamp) -> Entry {
        Entry { local: self.local, op: self.op, dst: self.dst, ts, weight: self.weight }
    }
}

/// An effective operation on one side of an edge with all that an edge can have.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemOp {
    /// The operation as on a plain edge.
    pub op: LocalOp,
    /// The rank; 0 unless the label is `multi`.
    pub rank: u64,
    /// All properties after the operation.
    pub row: Option<Row>,
}

/// A delta entry with rank and row.
pub(crate) struct ItemEntry<'a> {
    pub(crate) entry: Entry,
    pub(crate) rank: u64,
    pub(crate) row: Option<&'a Row>,
}

impl ItemOp {
    /// The operation as a delta entry of the commit `ts`.
    pub(crate) fn entry(&self, ts: Timestamp) -> ItemEntry<'_> {
        ItemEntry { entry: self.op.entry(ts), rank: self.rank, row: self.row.as_ref() }
    }
}
