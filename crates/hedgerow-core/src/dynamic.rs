//! What graphs that change have in common: the abstraction under which containers, and the store, are compared.
//!
//! Su et al., "Revisiting the design of in-memory dynamic graph storage", section 3. A write query is a transaction, a sequence of
//! [`Update`]s with one timestamp; a read query works on a [snapshot](DynamicGraph::snapshot), which is a
//! [`Topology`](crate::Topology), so that kernels run on it unchanged.
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
    /// The vertex exists from now on.
    InsertVertex(VertexId),
    /// The vertex and all its edges are gone from now on.
    RemoveVertex(VertexId),
    /// The edge exists from now on, with this weight, and so do its ends. The weight means nothing in a graph without weights.
    InsertEdge(VertexId, VertexId, f64),
    /// The edge is gone from now on; its ends stay.
    RemoveEdge(VertexId, VertexId),
}

/// What a transaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Its place in the order of commits; of one that changed nothing, one at which that was so.
    pub timestamp: Timestamp,
    /// How many more vertices there are.
    pub vertices: i64,
    /// How many more edges there are: of an undirected graph undirected ones.
    pub edges: i64,
}

/// What a container may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Updates of any kind; [`write`](DynamicGraph::write) is an error without them.
    Updates,
    /// Writes beside snapshots that are held; without it a write waits until all snapshots are dropped.
    Versions,
    /// Several writers at a time, which wait for one another only where they touch the same part of the graph.
    ParallelWriters,
}

/// A graph that changes, used by any number of threads.
///
/// Write transactions are serializable in the order of their timestamps; a snapshot sees exactly those up to its own timestamp. A
/// transaction that has returned is seen by every snapshot opened later.
pub trait DynamicGraph: Sync {
    /// Why something was refused.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The graph at one timestamp, unchanged for as long as it is held; it keeps of the container what it needs.
    type Snapshot: GraphSnapshot + Send + 'static;

    /// What this container cannot do.
    const LACKS: &'static [Capability] = &[];

    /// Makes these updates, in their order, as one transaction: all become visible at once, or none does.
    ///
    /// # Errors
    /// Where the container cannot hold one of them, or does not take [updates](Capability::Updates); nothing is changed then.
    fn write(&self, updates: &[Update]) -> Result<Written, Self::Error>;

    /// The graph as the last transactions left it.
    ///
    /// # Errors
    /// Where the container can serve no further reader.
    fn snapshot(&self) -> Result<Self::Snapshot, Self::Error>;

    /// Gives back the memory of versions that no snapshot needs, as far as writers have not done it. May take as long as a pass over
    /// the graph.
    ///
    /// # Errors
    /// Where the container has failed.
    fn reclaim(&self) -> Result<(), Self::Error>;

    /// The bytes that the graph holds, with its indexes, versions, and room to grow; without what snapshots hold. Up to a pass over the
    /// graph.
    fn memory_bytes(&self) -> usize;

    /// Inserts a vertex. Returns whether it was new.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    fn insert_vertex(&self, v: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::InsertVertex(v)])?.vertices > 0)
    }

    /// Removes a vertex and all its edges. Returns whether it existed.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    fn remove_vertex(&self, v: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::RemoveVertex(v)])?.vertices < 0)
    }

    /// Inserts an edge, and its ends where absent; the weight of an existing edge becomes `weight`. Returns whether it was new.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    fn insert_edge(&self, src: VertexId, dst: VertexId, weight: f64) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::InsertEdge(src, dst, weight)])?.edges > 0)
    }

    /// Inserts edges with their weights as one transaction, as [`insert_edge`](Self::insert_edge) does each.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    fn insert_edges(&self, edges: &[(VertexId, VertexId, f64)]) -> Result<(), Self::Error> {
        let updates: Vec<Update> =
            edges.iter().map(|&(src, dst, weight)| Update::InsertEdge(src, dst, weight)).collect();
        self.write(&updates).map(drop)
    }

    /// Removes an edge. Returns whether it existed.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    fn remove_edge(&self, src: VertexId, dst: VertexId) -> Result<bool, Self::Error> {
        Ok(self.write(&[Update::RemoveEdge(src, dst)])?.edges < 0)
    }
}

/// A [`DynamicGraph`] at one timestamp.
pub trait GraphSnapshot: Resident + WeightedTopology {
    /// The last transaction that is seen.
    fn timestamp(&self) -> Timestamp;

    /// The weight of the edge, if there is one; 1 in a graph without weights.
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64>;
}
