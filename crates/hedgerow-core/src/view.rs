//! The reads of a graph that analytics need: the one interface between storage and kernels.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use crate::{LocalVertex, SubgraphId, VertexId};

mod edges;
mod neighbors;
mod weighted;

pub use edges::for_each_contained;
pub use neighbors::{Neighbors, SortedNeighbors};
pub use weighted::{WeightedNeighbors, WeightedTopology};

/// The direction of a read: along edges or against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// The direction from source to destination.
    Out = 0,
    /// The direction from destination to source.
    In = 1,
}

/// A fixed graph over the dense domain `0..vertex_bound()`.
///
/// The domain can have holes: ids without a vertex. [`contains`](Topology::contains) is false for them; they
/// have no edges, and they are not counted. Implementations are snapshots: nothing changes while a kernel
/// runs. Any thread may call any method, and no method takes a lock. A method that returns no
/// [`Error`](Topology::Error) is O(1) and works in memory.
///
/// A function of the caller receives neighbours in *runs*: slices that together are the list of a vertex.
/// They are valid while the function runs. So the list may be a slice that is valid while the graph exists
/// ([`Resident`]), a part of a tree, or unpacked from a page that was just read.
pub trait Topology: Sync {
    /// The error of a read of neighbours: [`Infallible`] if all lists are in memory.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The number of vertices of a frontier that one call should visit. If lists are in memory it is low, so
    /// that threads share a frontier evenly. If lists are read from pages it is high, and kernels also sort
    /// the frontier, so that a call reads few pages.
    const VISITED_TOGETHER: usize = 64;
    /// The lists of one subgraph in one direction, looked up once for all its vertices.
    type Block<'a>: Block
    where
        Self: 'a;

    /// Returns the largest id that can be live, plus one.
    fn vertex_bound(&self) -> usize;
    /// Returns the number of live vertices.
    fn vertex_count(&self) -> usize;
    /// Returns the number of edges: directed edges of a directed graph, undirected edges of an undirected
    /// graph.
    fn edge_count(&self) -> u64;
    /// True if edges have a direction; if not, both directions have the same neighbours.
    fn is_directed(&self) -> bool;
    /// True if the lists in `direction` are stored. If not, a kernel finds these neighbours by reading all
    /// lists of the other direction, if it can.
    #[inline]
    fn is_stored(&self, _direction: Direction) -> bool {
        true
    }
    /// True if `v` is a live vertex.
    fn contains(&self, v: VertexId) -> bool;
    /// Estimates the number of neighbours of `v` in `direction` without reading them, for estimates of work.
    /// In memory it is exact for a vertex without corrections. Otherwise it may be the mean of many vertices.
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize;

    /// Calls `f` with each subgraph of a range, ascending, also with those without edges, until `f` breaks.
    /// For reading all vertices: it reads pages in their order, ahead of `f`.
    ///
    /// # Errors
    /// If a subgraph cannot be read; `f` was called for the subgraphs before it.
    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, Self::Block<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;

    /// Calls `f` with the runs of neighbours of each vertex in `frontier`. The runs of one vertex are passed
    /// one after another: at least one, which may be empty. For reading some vertices. It may take several
    /// vertices from `frontier` before the first call of `f`, and may call `f` in another order, so that
    /// pages are read together.
    ///
    /// # Errors
    /// If neighbours cannot be read; `f` was called for some vertices, perhaps with some of their runs.
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Self::Error>;

    /// Starts loading the data that locates the list of `v`: a hint that its neighbours will be visited soon.
    #[inline]
    fn prefetch_place(&self, _v: VertexId, _direction: Direction) {}
    /// Starts loading the record of the list's corrections: the step after
    /// [`prefetch_place`](Self::prefetch_place) for readers of some of the list.
    #[inline]
    fn prefetch_corrections(&self, _v: VertexId, _direction: Direction) {}
    /// Starts loading the list and the record of its corrections: the step after
    /// [`prefetch_place`](Self::prefetch_place).
    #[inline]
    fn prefetch_list(&self, _v: VertexId, _direction: Direction) {}
    /// Starts loading the neighbours added to the list, if any: the step after
    /// [`prefetch_list`](Self::prefetch_list).
    #[inline]
    fn prefetch_added(&self, _v: VertexId, _direction: Direction) {}
}

/// A [`Topology`] in memory whose lists are valid while it exists, for kernels that read two lists at a time.
pub trait Resident: Topology<Error = Infallible> {
    /// Returns the neighbours of `v` in `direction`; empty for an id without a vertex. O(1).
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_>;

    /// Returns the number of neighbours of `v` in `direction`. O(1).
    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.neighbors(v, direction).len()
    }
}

/// A list block: the neighbour lists of one subgraph in one direction.
pub trait Block: Copy {
    /// Returns the number of neighbours of the vertex at `local`.
    fn degree(&self, local: LocalVertex) -> usize;

    /// Calls `f` with the runs of neighbours of the vertex at `local`, until `f` breaks.
    fn for_each_run(
        &self,
        local: LocalVertex,
        f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Returns the first run of the vertex, if it can be found without the others. For searches that usually
    /// end early.
    #[inline]
    fn main(&self, _local: LocalVertex) -> Option<&[VertexId]> {
        None
    }

    /// True if [`main`](Self::main) and [`for_each_added`](Self::for_each_added) together give all neighbours
    /// of the block. If so, loops over whole blocks can read the added neighbours separately, without a check
    /// for each vertex. A graph that never has corrections is additive and adds no neighbours.
    #[inline]
    fn is_additive(&self) -> bool {
        false
    }

    /// Calls `f` with source and destination of every neighbour that is added in this block, sources
    /// ascending. Only for blocks that are [additive](Self::is_additive).
    #[inline]
    fn for_each_added(&self, _f: impl FnMut(LocalVertex, VertexId)) {}
}

/// The list block of a [`Resident`] graph without a look-up per subgraph: it reads each list from the graph.
#[derive(Debug)]
pub struct ByVertex<'a, G> {
    graph: &'a G,
    subgraph: SubgraphId,
    direction: Direction,
}

impl<G> Clone for ByVertex<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for ByVertex<'_, G> {}

impl<'a, G> ByVertex<'a, G> {
    /// Returns the list block of `subgraph` in `graph`.
    #[inline]
    pub fn new(graph: &'a G, subgraph: SubgraphId, direction: Direction) -> Self {
        ByVertex { graph, subgraph, direction }
    }
}

impl<G: Resident> Block for ByVertex<'_, G> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.graph.degree(self.subgraph.vertex(local), self.direction)
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.graph.neighbors(self.subgraph.vertex(local), self.direction).try_for_each_run(f)
    }
}

/// Calls `f` with each of these subgraphs and its list block, until `f` breaks: an implementation of
/// [`Topology::scan`] for blocks in memory.
#[inline]
pub fn scan_blocks<B>(
    subgraphs: Range<SubgraphId>,
    block: impl Fn(SubgraphId) -> B,
    mut f: impl FnMut(SubgraphId, B) -> ControlFlow<()>,
) {
    for subgraph in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
        if f(subgraph, block(subgraph)).is_break() {
            return;
        }
    }
}
