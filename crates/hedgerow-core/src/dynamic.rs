//! The common abstraction of graphs that change, by which containers and the store are compared.
//!
//! Su et al., "Revisiting the design of in-memory dynamic graph storage", section 3. A write query is a
//! transaction: a sequence of [`Update`]s with one timestamp. A read query works on a
//! [snapshot](DynamicGraph::snapshot), which is a [`Topology`](crate::Topology), so that kernels run on it
//! unchanged.
//!
//! | operation of the study | here |
//! | --- | --- |
//! | InsVtx, InsEdge | [`insert_vertex`](DynamicGraph::insert_vertex), [`insert_edge`](DynamicGraph::insert_edge) |
//! | their removals and batches | [`remove_vertex`](DynamicGraph::remove_vertex), [`remove_edge`](DynamicGraph::remove_edge), [`write`](DynamicGraph::write) |
//! | SearchVtx, SearchEdge | [`Topology::contains`](crate::Topology::contains), [`GraphSnapshot::search_edge`] |
//! | ScanVtx, ScanNbr | [`Topology::scan`](crate::Topology::scan), [`Topology::visit`](crate::Topology::visit) |

use crate::{Resident, Timestamp, VertexId, WeightedTopology};

mod guarded;

pub use guarded::{GraphGuard, Guarded};

/// One change that a transaction makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    /// The vertex is inserted.
    InsertVertex(VertexId),
    /// The vertex and all its edges are removed.
    RemoveVertex(VertexId),
    /// The edge is inserted with this weight, and its ends if they are missing. A graph without weights
    /// ignores the weight.
    InsertEdge(VertexId, VertexId, f64),
    /// The edge is removed; its ends stay.
    RemoveEdge(VertexId, VertexId),
}

/// The effects of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The transaction's place in the order of commits. A transaction that changed nothing has a timestamp at
    /// which it would change nothing.
    pub timestamp: Timestamp,
    /// The increase in the number of vertices.
    pub vertices: i64,
    /// The increase in the number of edges; an undirected edge counts once.
    pub edges: i64,
}

/// An ability that a container may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Updates of any kind; without them [`write`](DynamicGraph::write) is an error.
    Updates,
    /// Writes while snapshots exist. Without this, a write waits until all snapshots are dropped.
    Versions,
    /// Several writers at a time, which wait for one another only if they touch the same part of the graph.
    ParallelWriters,
}

/// A graph that changes, used by any number of threads.
///
/// Write transactions are serializable in the order of their timestamps; a snapshot sees exactly the
/// transactions up to its own timestamp. A snapshot sees every transaction that returned before the snapshot
/// was opened.
pub trait DynamicGraph: Sync {
    /// The error of a refused operation.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The graph at one timestamp. It does not change while it exists, and keeps the data that it needs
    /// alive.
    type Snapshot: GraphSnapshot + Send + 'static;

    /// The abilities that this container lacks.
    const LACKS: &'static [Capability] = &[];

    /// Applies these updates, in order, as one transaction: all become visible at once, or none.
    ///
    /// # Errors
    /// If the container cannot store one of them, or supports no [updates](Capability::Updates). Then nothing
    /// is changed.
    fn write(&self, updates: &[Update]) -> Result<Written, Self::Error>;

    /// Returns the graph after the last transactions.
    ///
    /// # Errors
    /// If the container can serve no further reader.
    fn snapshot(&self) -> Result<Self::Snapshot, Self::Error>;

    /// Frees the versions that no snapshot needs, as far as writers have not freed them yet. May take as long
    /// as a pass over the graph.
    ///
    /// # Errors
    /// If the container has failed.
    fn reclaim(&self) -> Result<(), Self::Error>;

    /// Returns the bytes of the graph with its indexes, versions, and free capacity, without the memory of
    /// snapshots. May take a pass over the graph.
    fn memory_bytes(&self) -> usize;

    /// Inserts a vertex. True if it was new.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    fn insert_vertex(&self, v: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::InsertVertex(v)])?.vertices > 0)
    }

    /// Removes a vertex and all its edges. True if it existed.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    fn remove_vertex(&self, v: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::RemoveVertex(v)])?.vertices < 0)
    }

    /// Inserts an edge, and its ends if they are missing; the weight of an existing edge becomes `weight`.
    /// True if the edge was new.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    fn insert_edge(&self, src: VertexId, dst: VertexId, weight: f64) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::InsertEdge(src, dst, weight)])?.edges > 0)
    }

    /// Inserts edges with their weights as one transaction, each like [`insert_edge`](Self::insert_edge).
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    fn insert_edges(&self, edges: &[(VertexId, VertexId, f64)]) -> Result<(), Self::Error> {
        let updates: Vec<Update> =
            edges.iter().map(|&(src, dst, weight)| Update::InsertEdge(src, dst, weight)).collect();
        self.write(&updates).map(drop)
    }

    /// Removes an edge. True if it existed.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    fn remove_edge(&self, src: VertexId, dst: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::RemoveEdge(src, dst)])?.edges < 0)
    }
}

/// A [`DynamicGraph`] at one timestamp.
pub trait GraphSnapshot: Resident + WeightedTopology {
    /// Returns the timestamp of the last transaction that the snapshot sees.
    fn timestamp(&self) -> Timestamp;

    /// Returns the weight of the edge, if it exists; 1 in a graph without weights.
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64>;
}
