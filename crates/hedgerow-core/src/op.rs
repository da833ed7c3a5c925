//! Operations as the log stores them: effective, under internal ids, so that replay is deterministic.

use crate::{LabelId, VertexId, VertexKeyRef};

/// One effective operation of a committed transaction.
///
/// A commit's operations name every change explicitly: the id given to a new vertex, and each edge that the removal
/// of a vertex took with it. An undirected edge appears once and stands for both directions.
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
}
