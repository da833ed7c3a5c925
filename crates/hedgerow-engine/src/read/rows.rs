//! The edges and vertices that scans pass to their callbacks.

use hedgerow_core::{KindId, LabelId, PropertyId, ValueRef, VertexId};
use hedgerow_mem::ItemRef;

use crate::state::chosen_edges::ChosenLabel;

/// An edge that a read passes to its callback: [`EdgeScan`](crate::EdgeScan),
/// [`Snapshot::for_each_edge`](crate::Snapshot::for_each_edge), [`Expansion`](crate::Expansion).
#[derive(Clone, Copy)]
pub struct EdgeRow<'a> {
    chosen: &'a ChosenLabel,
    pub(crate) src: VertexId,
    pub(crate) item: ItemRef<'a>,
}

impl<'a> EdgeRow<'a> {
    /// Returns a chosen edge of a label.
    pub(super) fn of(chosen: &'a ChosenLabel, src: VertexId, item: ItemRef<'a>) -> EdgeRow<'a> {
        EdgeRow { chosen, src, item }
    }

    /// Returns the label.
    pub fn label(&self) -> LabelId {
        self.chosen.label
    }

    /// Returns the source; in an undirected graph the endpoint with the smaller id, or in an
    /// [`Expansion`](crate::Expansion) the given vertex.
    pub fn src(&self) -> VertexId {
        self.src
    }

    /// Returns the destination.
    pub fn dst(&self) -> VertexId {
        self.item.dst
    }

    /// Returns the rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.item.rank
    }

    /// Returns the weight that the [selection](crate::EdgeSelection::weighted_by) gives the edge; by default
    /// the stored one: 1 in a graph without weights, and for labels other than the default one. NaN if the
    /// property that is the weight has no value.
    pub fn weight(&self) -> f64 {
        self.chosen.weight_of(&self.item).unwrap_or(f64::NAN)
    }

    /// Returns the value of a property; null if the edge has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.row.get(property)
    }
}

/// A vertex that a scan passes to its callback: [`VertexScan`](crate::VertexScan).
#[derive(Clone, Copy)]
pub struct VertexRow<'a> {
    pub(super) id: VertexId,
    pub(super) kind: KindId,
    pub(super) item: Option<ItemRef<'a>>,
}

impl<'a> VertexRow<'a> {
    /// Returns the vertex id.
    pub fn id(&self) -> VertexId {
        self.id
    }

    /// Returns the kind of the vertex.
    pub fn kind(&self) -> KindId {
        self.kind
    }

    /// Returns the value of a property; null if the vertex has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.map_or(ValueRef::Null, |item| item.row.get(property))
    }
}
