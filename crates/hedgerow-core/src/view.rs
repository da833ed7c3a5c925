//! What analytics may ask of a graph: the one interface between storage and kernels.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use crate::{LocalVertex, SubgraphId, VertexId};

mod edges;
mod neighbors;
mod weighted;

pub use edges::for_each_contained;
pub use neighbors::{Neighbors, SortedNeighbors};
pub use weighted::{WeightedNeighbors, WeightedTopology};

/// Along an edge or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// From source to destination.
    Out = 0,
    /// From destination to source.
    In = 1,
}

/// A fixed graph over the dense domain `0..vertex_bound()`.
///
/// The domain can have holes (ids without a vertex): [`contains`](Topology::contains) tells them, they have no edges,
/// and they are not counted. Implementations are snapshots: nothing changes while a kernel runs. Everything may be called from
/// any thread and takes no lock, and what returns no [`Error`](Topology::Error) is O(1) and in memory.
///
/// Neighbours are given to a function, in *runs*: slices that together are the list of a vertex, and that are there while
/// the function runs. So the list may be a slice that lives as long as the graph ([`Resident`]), a part of a tree, or
/// unpacked from a page that was read for it.
pub trait Topology: Sync {
    /// Why neighbours could not be read: [`Infallible`] where all are in memory.
    type Error: std::error::Error + Send + Sync + 'static;
    /// How many vertices of a frontier are best visited in one call. Few where lists are in memory, so that threads share a frontier
    /// evenly; many where pages are read for them: then kernels sort the frontier too, so that a call meets few pages.
    const VISITED_TOGETHER: usize = 64;
    /// One subgraph in one direction, looked up once for all its vertices.
    type Block<'a>: Block
    where
        Self: 'a;

    /// One more than the largest id that can be live.
    fn vertex_bound(&self) -> usize;
    /// The number of live vertices.
    fn vertex_count(&self) -> usize;
    /// The number of edges: of a directed graph its edges, of an undirected one its undirected edges.
    fn edge_count(&self) -> u64;
    /// Whether edges have a direction; if not, both directions give the same neighbours.
    fn is_directed(&self) -> bool;
    /// Whether neighbours in `direction` can be read by themselves. If not, they are found by reading those of all vertices in the other
    /// one, and kernels do with that where they can.
    #[inline]
    fn is_stored(&self, _direction: Direction) -> bool {
        true
    }
    /// Whether `v` is a live vertex.
    fn contains(&self, v: VertexId) -> bool;
    /// About the number of neighbours of `v` in `direction`, without reading them: for estimates of work. Exact in memory for a
    /// vertex without corrections; else it may be a mean over many vertices.
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize;

    /// Calls `f` with each subgraph of a range, ascending, those without edges among them, until it breaks. The way to read
    /// all vertices: pages are read in their order, ahead of `f`.
    ///
    /// # Errors
    /// Where a subgraph cannot be read, after `f` had those before it.
    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, Self::Block<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;

    /// Calls `f` with the runs of neighbours of each vertex that `frontier` gives: those of one vertex one after another, at
    /// least one, which may be empty. The way to read some vertices. `frontier` may be asked for several vertices before
    /// `f` has the first, and `f` may have them in another order, so that pages are read together.
    ///
    /// # Errors
    /// Where neighbours cannot be read; `f` had those of some vertices, or a part of them.
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Self::Error>;

    /// A hint that the neighbours of `v` will be visited soon: starts loading what tells where they are.
    #[inline]
    fn prefetch_place(&self, _v: VertexId, _direction: Direction) {}
    /// The step after [`prefetch_place`](Self::prefetch_place) for who reads a part of the list: starts loading what tells its
    /// corrections.
    #[inline]
    fn prefetch_corrections(&self, _v: VertexId, _direction: Direction) {}
    /// The step after [`prefetch_place`](Self::prefetch_place): starts loading the list, and what tells its corrections.
    #[inline]
    fn prefetch_list(&self, _v: VertexId, _direction: Direction) {}
    /// The step after [`prefetch_list`](Self::prefetch_list): starts loading what is added to the list, if anything.
    #[inline]
    fn prefetch_added(&self, _v: VertexId, _direction: Direction) {}
}

/// A [`Topology`] in memory that hands out lists for as long as it lives. For kernels that look at two lists at a time.
pub trait Resident: Topology<Error = Infallible> {
    /// The neighbours of `v` in `direction`; empty for an id without a vertex. O(1).
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_>;

    /// The number of neighbours of `v` in `direction`. O(1).
    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.neighbors(v, direction).len()
    }
}

/// The neighbour lists of one subgraph in one direction.
pub trait Block: Copy {
    /// The number of neighbours of the vertex at `local`.
    fn degree(&self, local: LocalVertex) -> usize;

    /// Calls `f` with the runs of neighbours of the vertex at `local`, until it breaks.
    fn for_each_run(
        &self,
        local: LocalVertex,
        f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// The first run of the vertex, if it can be had without looking for the others. For searches that usually end early.
    #[inline]
    fn main(&self, _local: LocalVertex) -> Option<&[VertexId]> {
        None
    }

    /// Whether [`main`](Self::main) and [`for_each_added`](Self::for_each_added) together give all neighbours of the
    /// block. If so, loops over whole blocks can take what is added by itself, and spare each vertex the question. So can
    /// a graph that never has corrections, which adds nothing.
    #[inline]
    fn is_additive(&self) -> bool {
        false
    }

    /// Calls `f` with source and destination of every neighbour that is added in this block, sources ascending. Only
    /// where the block [says so](Self::is_additive).
    #[inline]
    fn for_each_added(&self, _f: impl FnMut(LocalVertex, VertexId)) {}
}

/// The block of a [`Resident`] graph that has nothing to look up per subgraph: each vertex is asked for by itself.
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
    /// The block of `subgraph` in `graph`.
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

/// Calls `f` with each of these subgraphs and its block, until it breaks: what [`Topology::scan`] is where blocks are in
/// memory.
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
