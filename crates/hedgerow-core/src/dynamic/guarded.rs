//! A graph behind a guard.

use std::ops::{ControlFlow, Deref, Range};

use super::GraphSnapshot;
use crate::{Direction, Neighbors, Resident, SubgraphId, Timestamp, Topology, VertexId, WeightedTopology};

/// A guard that keeps a graph unchanged: a counted reference, or a snapshot that owns its view.
pub trait GraphGuard: Deref<Target: Topology> + Send + Sync + 'static {
    /// Returns the timestamp of the last transaction that the graph contains.
    fn timestamp(&self) -> Timestamp;

    /// Returns the weight of an edge, like [`GraphSnapshot::search_edge`].
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64>;
}

/// The graph behind a guard; forwards every call to that graph.
#[derive(Debug)]
pub struct Guarded<H>(pub H);

impl<H: GraphGuard> Topology for Guarded<H> {
    type Error = <H::Target as Topology>::Error;
    type Block<'a> = <H::Target as Topology>::Block<'a>;
    const VISITED_TOGETHER: usize = <H::Target as Topology>::VISITED_TOGETHER;

    #[inline]
    fn vertex_bound(&self) -> usize {
        self.0.vertex_bound()
    }

    #[inline]
    fn vertex_count(&self) -> usize {
        self.0.vertex_count()
    }

    #[inline]
    fn edge_count(&self) -> u64 {
        self.0.edge_count()
    }

    #[inline]
    fn is_directed(&self) -> bool {
        self.0.is_directed()
    }

    #[inline]
    fn is_stored(&self, direction: Direction) -> bool {
        self.0.is_stored(direction)
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.0.contains(v)
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.0.degree_estimate(v, direction)
    }

    #[inline]
    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, Self::Block<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error> {
        self.0.scan(subgraphs, direction, f)
    }

    #[inline]
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Self::Error> {
        self.0.visit(frontier, direction, f)
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId, direction: Direction) {
        self.0.prefetch_place(v, direction);
    }

    #[inline]
    fn prefetch_corrections(&self, v: VertexId, direction: Direction) {
        self.0.prefetch_corrections(v, direction);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        self.0.prefetch_list(v, direction);
    }

    #[inline]
    fn prefetch_added(&self, v: VertexId, direction: Direction) {
        self.0.prefetch_added(v, direction);
    }
}

impl<H: GraphGuard<Target: Resident>> Resident for Guarded<H> {
    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        self.0.neighbors(v, direction)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.0.degree(v, direction)
    }
}

impl<H: GraphGuard<Target: WeightedTopology>> WeightedTopology for Guarded<H> {
    #[inline]
    fn has_weights(&self) -> bool {
        self.0.has_weights()
    }

    #[inline]
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Self::Error> {
        self.0.visit_weighted(frontier, direction, f)
    }

    #[inline]
    fn prefetch_weights(&self, v: VertexId, direction: Direction) {
        self.0.prefetch_weights(v, direction);
    }
}

impl<H: GraphGuard<Target: Resident + WeightedTopology>> GraphSnapshot for Guarded<H> {
    #[inline]
    fn timestamp(&self) -> Timestamp {
        self.0.timestamp()
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.0.search_edge(src, dst)
    }
}
