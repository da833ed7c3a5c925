//! Edges that a read lends to its caller.

use hedgerow_catalog::label::Label;
use hedgerow_core::{RowRef, ValueRef, VertexId};

use crate::read::at_vertex::EdgeOf;
use crate::state::edge_key::WEIGHT;

/// An edge at a vertex, lent by a read of the vertex's list. It refers to memory of the store.
#[derive(Clone, Copy, Debug)]
pub struct LentEdge<'a> {
    other: VertexId,
    rank: u64,
    weight: Option<f64>,
    properties: Source<'a>,
}

/// The source of an edge's properties.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// The list of the edge; the label has the names of the properties.
    Row(RowRef<'a>, Option<&'a Label>),
    /// A copy, with the weight among the properties.
    Copied(&'a EdgeOf),
}

impl<'a> LentEdge<'a> {
    /// Returns an edge that refers to its list.
    pub(crate) fn lent(
        (rank, other): (u64, VertexId),
        weight: Option<f64>,
        row: RowRef<'a>,
        label: Option<&'a Label>,
    ) -> LentEdge<'a> {
        LentEdge { other, rank, weight, properties: Source::Row(row, label) }
    }

    /// Returns an edge whose properties were copied.
    pub(crate) fn copied((rank, other): (u64, VertexId), edge: &'a EdgeOf) -> LentEdge<'a> {
        LentEdge { other, rank, weight: None, properties: Source::Copied(edge) }
    }

    /// Returns the id of the other endpoint; the number of its key if keys are
    /// [`Dense`](hedgerow_core::KeyKind::Dense).
    pub fn other(&self) -> VertexId {
        self.other
    }

    /// Returns the rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// Returns the value of a property; null if the edge has no property of this name. In a weighted graph
    /// the weight is the property `weight`. O(properties of the label).
    pub fn property(&self, name: &str) -> ValueRef<'a> {
        match self.properties {
            Source::Row(..) if name == WEIGHT && self.weight.is_some() => {
                self.weight.map_or(ValueRef::Null, ValueRef::F64)
            }
            Source::Row(row, label) => label
                .and_then(|label| label.property(name))
                .map_or(ValueRef::Null, |found| row.get(found.id())),
            Source::Copied(edge) => {
                let found = edge.properties.iter().find(|(property, _)| &**property == name);
                found.map_or(ValueRef::Null, |(_, value)| value.as_ref())
            }
        }
    }
}
