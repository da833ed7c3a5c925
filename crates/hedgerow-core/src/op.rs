//! Operations as the log stores them: effective, under internal ids, so that replay is deterministic.

use crate::{KindId, LabelId, PropertyId, PropertyType, VertexId, VertexKeyRef};

/// One effective operation of a committed transaction.
///
/// A commit's operations name every change explicitly: the id given to a new vertex, and each edge that the
/// removal of a vertex took with it. An undirected edge appears once and stands for both directions.
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
    /// Like [`PutEdge`](Op::PutEdge), but for an edge with a rank or with properties. Under
    /// [`LabelId::VERTICES`], with equal ends, it stands for the properties of a vertex.
    PutItem {
        /// The label of the edge.
        label: LabelId,
        /// The source.
        src: VertexId,
        /// The destination.
        dst: VertexId,
        /// The rank; 0 unless the label is `multi`.
        rank: u64,
        /// The weight, under the default label of a weighted graph.
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
        /// Its id.
        label: LabelId,
        /// True if its edges have ranks.
        multi: bool,
        /// The kinds of source and destination, if the label states them.
        ends: Option<[KindId; 2]>,
        /// Its name.
        name: &'a str,
    },
    /// A kind of vertices was defined.
    DefineKind {
        /// Its number.
        kind: KindId,
        /// True if its keys are strings; else they are numbers.
        text: bool,
        /// Its name.
        name: &'a str,
    },
    /// A property of a label, or under [`LabelId::VERTICES`] of the vertices of a kind, was defined.
    DefineProperty {
        /// The label that has it.
        label: LabelId,
        /// The kind of the vertices that have it; the default one for a property of edges.
        of: KindId,
        /// Its id.
        property: PropertyId,
        /// Its type.
        kind: PropertyType,
        /// Its name.
        name: &'a str,
    },
}
