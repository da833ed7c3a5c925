//! Events, the parts of a stream.

use hedgerow_core::VertexKey;

/// The events per transaction, for data without transactions of its own.
pub const EVENTS_PER_TRANSACTION: usize = 64;

/// One change. Weights count events: an edge's weight is the number of upserts from its last insertion on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Inserts missing endpoints; adds 1 to the weight of the edge, which is inserted with weight 1 if
    /// absent.
    Upsert {
        /// The source.
        src: VertexKey,
        /// The destination.
        dst: VertexKey,
    },
    /// Inserts the vertex; no effect if it is there.
    InsertVertex {
        /// The vertex.
        vertex: VertexKey,
    },
    /// Removes the edge and leaves its endpoints; no effect if it is absent.
    RemoveEdge {
        /// The source.
        src: VertexKey,
        /// The destination.
        dst: VertexKey,
    },
    /// Removes the vertex and every edge from or to it, if it is there.
    RemoveVertex {
        /// The vertex.
        vertex: VertexKey,
        /// The vertex that removes it, if no earlier event names that vertex. It is inserted first, as by
        /// [`InsertVertex`](Event::InsertVertex).
        by: Option<VertexKey>,
    },
}

impl Event {
    /// Returns the one or two vertices that the event names.
    pub fn vertices(&self) -> impl Iterator<Item = &VertexKey> {
        let (first, second) = match self {
            Event::Upsert { src, dst } | Event::RemoveEdge { src, dst } => (src, Some(dst)),
            Event::InsertVertex { vertex } => (vertex, None),
            Event::RemoveVertex { vertex, by } => (vertex, by.as_ref()),
        };
        std::iter::once(first).chain(second)
    }
}
