//! The operations of a transaction, with the transaction's own handles of keys.

use std::sync::Arc;

use hedgerow_core::{Cells, Columns, LabelId, PropertyId, Row, RowRef, Value, simd};

use super::names::TxnKey;

/// The kind of an operation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    /// Make sure that the vertex `src` exists.
    InsertVertex,
    /// Remove the vertex `src` with its edges.
    RemoveVertex,
    /// Make sure that the edge exists with this weight.
    Put,
    /// Make sure that the edge exists; leave an existing one as it is.
    Insert,
    /// Make sure that the edge does not exist.
    Remove,
    /// Set the given properties of the edge, if it exists, and keep its others.
    Update,
    /// Set the given properties and keep the others, if any.
    Merge,
}

/// An edge with the handles of one transaction as keys.
#[derive(Clone, Copy)]
pub(super) struct EdgeRef {
    pub(super) label: LabelId,
    pub(super) src: TxnKey,
    pub(super) dst: TxnKey,
    pub(super) rank: u64,
}

impl EdgeRef {
    /// True for an edge of the default label.
    pub(super) fn is_plain(&self) -> bool {
        self.label == LabelId::DEFAULT && self.rank == 0
    }
}

impl OpKind {
    /// Returns the state of the edge after an operation of this kind; all code takes this rule from here. `S`
    /// is a known state, the weight with or without properties. `new` makes the operation's own state.
    /// `laid_over` applies the operation's properties to the state before, if any.
    #[inline]
    pub(crate) fn makes<S>(
        self,
        before: Option<S>,
        new: impl FnOnce() -> S,
        laid_over: impl FnOnce(Option<S>) -> S,
    ) -> Option<S> {
        match self {
            OpKind::Put => Some(new()),
            OpKind::Insert => Some(before.unwrap_or_else(new)),
            OpKind::Update => before.map(|before| laid_over(Some(before))),
            OpKind::Merge => Some(laid_over(before)),
            OpKind::Remove | OpKind::InsertVertex | OpKind::RemoveVertex => None,
        }
    }
}

/// Rank and properties of an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpAttributes {
    pub(crate) rank: u64,
    properties: Properties,
}

/// The properties that an operation was given.
#[derive(Clone, Debug, Default)]
enum Properties {
    #[default]
    None,
    /// All properties of the edge that [`OpKind::Put`] and [`OpKind::Insert`] make.
    Row(Row),
    /// The same, for many edges or vertices whose properties come by the column: a place in these columns, at
    /// which some property has a value.
    Place(Arc<Columns>, u32),
    /// The values that [`OpKind::Update`] and [`OpKind::Merge`] set; a null removes.
    Patch(Box<[(PropertyId, Value)]>),
}

// A batch has one `OpAttributes` for each vertex with properties, and for each edge with several, or with
// text.
const _: () = assert!(size_of::<OpAttributes>() == 40);

impl OpAttributes {
    /// Stores a rank and the given cells in the form that an operation of this kind needs.
    pub(crate) fn new(kind: OpKind, rank: u64, cells: Cells) -> OpAttributes {
        let properties = match kind {
            OpKind::Update | OpKind::Merge => Properties::Patch(cells.into_boxed_slice()),
            _ => Row::new(cells).map_or(Properties::None, Properties::Row),
        };
        OpAttributes { rank, properties }
    }

    /// Stores the properties of an operation that makes an edge without a rank.
    #[inline]
    pub(crate) fn of_row(row: Row) -> OpAttributes {
        OpAttributes { rank: 0, properties: Properties::Row(row) }
    }

    /// Stores the properties of an operation that makes a vertex: the values at a place of columns, where
    /// some property has a value.
    #[inline]
    pub(crate) fn of_place(columns: &Arc<Columns>, at: u32) -> OpAttributes {
        OpAttributes { rank: 0, properties: Properties::Place(columns.clone(), at) }
    }

    /// Returns the properties of the edge that [`OpKind::Put`] and [`OpKind::Insert`] make.
    #[inline]
    pub(crate) fn row(&self) -> RowRef<'_> {
        match &self.properties {
            Properties::Row(row) => RowRef::Row(row),
            Properties::Place(columns, at) => RowRef::Columns(columns, *at as usize),
            Properties::None | Properties::Patch(_) => RowRef::Empty,
        }
    }

    /// Returns the lengths of texts and bytes.
    pub(crate) fn variable_bytes(&self) -> usize {
        let patch = self.patch().iter().map(|(_, value)| value.as_ref().variable_bytes());
        self.row().variable_bytes() + patch.sum::<usize>()
    }

    /// Returns the values that [`OpKind::Update`] and [`OpKind::Merge`] set; a null removes.
    #[inline]
    pub(crate) fn patch(&self) -> &[(PropertyId, Value)] {
        match &self.properties {
            Properties::Patch(patch) => patch,
            Properties::None | Properties::Row(_) | Properties::Place(..) => &[],
        }
    }

    /// Prefetches the properties.
    #[inline]
    pub(crate) fn prefetch(&self) {
        simd::prefetch(&raw const self.properties);
    }

    /// Returns the properties.
    #[inline]
    pub(crate) fn given(&self) -> Given<'_> {
        Given { row: self.row(), patch: self.patch() }
    }

    /// No rank and no properties.
    pub(crate) const NONE: &'static OpAttributes = &OpAttributes { rank: 0, properties: Properties::None };
}

/// The properties of one operation, borrowed.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The properties of an operation that makes an edge.
    pub(crate) row: RowRef<'a>,
    /// The values that the operation sets while it keeps other properties; a null removes.
    pub(crate) patch: &'a [(PropertyId, Value)],
}

impl<'a> Given<'a> {
    /// Wraps the properties of the edge that [`OpKind::Put`] and [`OpKind::Insert`] make.
    #[inline]
    pub(crate) fn row(row: RowRef<'a>) -> Given<'a> {
        Given { row, patch: &[] }
    }

    /// Wraps the values that [`OpKind::Update`] and [`OpKind::Merge`] set.
    #[inline]
    pub(crate) fn patch(patch: &'a [(PropertyId, Value)]) -> Given<'a> {
        Given { row: RowRef::Empty, patch }
    }

    pub(crate) const NONE: Given<'static> = Given { row: RowRef::Empty, patch: &[] };

    /// [`NONE`](Self::NONE), as a function.
    #[inline]
    pub(crate) fn none() -> Given<'static> {
        Given::NONE
    }

    /// Copies the properties for the table of a transaction.
    pub(crate) fn to_attributes(self, rank: u64) -> OpAttributes {
        let properties = match self.row.to_row() {
            Some(row) => Properties::Row(row),
            None if self.patch.is_empty() => Properties::None,
            None => Properties::Patch(self.patch.into()),
        };
        OpAttributes { rank, properties }
    }
}

/// One operation of a transaction, in program order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TxnOp {
    pub(crate) kind: OpKind,
    /// The label of the edge, or [`LabelId::VERTICES`], with equal keys, for the properties of a vertex.
    pub(crate) label: LabelId,
    /// The handle of rank and properties in the table of the transaction; 0 if it has neither.
    pub(crate) attributes: u32,
    pub(crate) src: TxnKey,
    pub(crate) dst: TxnKey,
    pub(crate) weight: f64,
}

impl TxnOp {
    /// Makes an operation on a plain edge of the default label, or on a vertex.
    pub(crate) fn plain(kind: OpKind, src: TxnKey, dst: TxnKey, weight: f64) -> TxnOp {
        TxnOp { kind, label: LabelId::DEFAULT, attributes: 0, src, dst, weight }
    }

    /// True if the operation puts, inserts or removes an edge of the default label, so that the short way may
    /// commit it.
    pub(crate) fn is_default_edge(&self) -> bool {
        self.label == LabelId::DEFAULT && matches!(self.kind, OpKind::Put | OpKind::Insert | OpKind::Remove)
    }

    /// True if the batch way supports the operation: it makes sure of a vertex or of its properties, or puts,
    /// inserts or removes an edge.
    pub(crate) fn is_batched(&self) -> bool {
        match self.kind {
            OpKind::InsertVertex | OpKind::Put => true,
            OpKind::Insert | OpKind::Remove => self.label != LabelId::VERTICES,
            OpKind::RemoveVertex | OpKind::Update | OpKind::Merge => false,
        }
    }

    pub(crate) fn is_edge(&self) -> bool {
        !matches!(self.kind, OpKind::InsertVertex | OpKind::RemoveVertex)
    }
}

#[cfg(test)]
mod tests {
    use super::OpKind;

    #[test]
    fn each_kind_makes_of_an_edge_what_it_says() {
        let makes = |kind: OpKind, before| kind.makes(before, || 5, |old: Option<i32>| old.unwrap_or(1) * 10);
        let table = [
            (OpKind::Put, Some(5), Some(5)),
            (OpKind::Insert, Some(5), Some(2)),
            (OpKind::Remove, None, None),
            (OpKind::Update, None, Some(20)),
            (OpKind::Merge, Some(10), Some(20)),
        ];
        for (kind, where_absent, where_there) in table {
            assert_eq!((makes(kind, None), makes(kind, Some(2))), (where_absent, where_there), "{kind:?}");
        }
    }
}
