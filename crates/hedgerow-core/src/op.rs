//! Operations as the log stores them: only effective ones, with internal ids, so that replay is
//! deterministic.

use crate::{KindId, LabelId, PropertyId, PropertyType, VertexId, VertexKeyRef};

/// One effective operation of a committed transaction.
///
/// A commit's operations contain every change explicitly: also the id given to a new vertex, and each edge
/// that was removed with a vertex. An undirected edge occurs once, for both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op<'a> {
    /// `id` was given to the vertex named `key`. In a dense graph `key` is the number of `id`.
    InsertVertex {
        /// The internal id.
        id: VertexId,
        /// The external id.
        key: VertexKeyRef<'a>,
    },
    /// The vertex `id` was removed; its edges were removed by operations before this one.
    RemoveVertex {
        /// The internal id.
        id: VertexId,
    },
    /// The edge was inserted, or its weight replaced.
    PutEdge {
        /// The label of the edge.
        label: LabelId,
        /// The source.
        src: VertexId,
        /// The destination.
        dst: VertexId,
        /// The weight, in a weighted graph.
        weight: Option<f64>,
    },
    /// The edge was removed.
    RemoveEdge {
        /// The label of the edge.
        label: LabelId,
        /// The source.
        src: VertexId,
        /// The destination.
        dst: VertexId,
    },
    /// Like [`PutEdge`](Op::PutEdge), but for an edge with a rank or with properties. With the label
    /// [`LabelId::VERTICES`] and equal ends, it sets the properties of a vertex.
    PutItem {
        /// The label of the edge.
        label: LabelId,
        /// The source.
        src: VertexId,
        /// The destination.
        dst: VertexId,
        /// The rank; 0 unless the label is `multi`.
        rank: u64,
        /// The weight, in the default label of a weighted graph.
        weight: Option<f64>,
        /// All properties after the operation, in the form of the log; empty for none.
        row: &'a [u8],
    },
    /// Like [`RemoveEdge`](Op::RemoveEdge), but for an edge with a rank.
    RemoveItem {
        /// The label of the edge.
        label: LabelId,
        /// The source.
        src: VertexId,
        /// The destination.
        dst: VertexId,
        /// The rank.
        rank: u64,
    },
    /// A label was defined.
    DefineLabel {
        /// The id of the label.
        label: LabelId,
        /// True if the label's edges have ranks.
        multi: bool,
        /// The kinds of source and destination, if the label states them.
        ends: Option<[KindId; 2]>,
        /// The name of the label.
        name: &'a str,
    },
    /// A kind of vertices was defined.
    DefineKind {
        /// The number of the kind.
        kind: KindId,
        /// True if the kind's keys are strings, false if they are numbers.
        text: bool,
        /// The name of the kind.
        name: &'a str,
    },
    /// A property of a label, or, with [`LabelId::VERTICES`], of the vertices of a kind, was defined.
    DefineProperty {
        /// The label whose edges have the property.
        label: LabelId,
        /// The kind whose vertices have the property; the default kind for a property of edges.
        of: KindId,
        /// The id of the property.
        property: PropertyId,
        /// The type of the property.
        kind: PropertyType,
        /// The name of the property.
        name: &'a str,
    },
}
