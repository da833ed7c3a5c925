//! What analytics may ask of a graph: the one interface between storage and kernels.

use crate::{LocalVertex, SubgraphId, VertexId};

mod neighbors;
mod weighted;

pub use neighbors::{Neighbors, SortedNeighbors};
pub use weighted::{WeightedBlock, WeightedNeighbors, WeightedTopology};

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
/// and they are not counted. Implementations are snapshots: nothing changes while a kernel runs. Every method is O(1)
/// except where it says otherwise, takes no lock and may be called from any thread.
pub trait Topology: Sync {
    /// One subgraph in one direction, looked up once for all its vertices.
    type Block<'a>: Block<'a>
    where
        Self: 'a;

    /// The subgraph, for loops over consecutive vertices; with no edges where the graph has no such vertices.
    fn block(&self, subgraph: SubgraphId, direction: Direction) -> Self::Block<'_>;
    /// One more than the largest id that can be live.
    fn vertex_bound(&self) -> usize;
    /// The number of live vertices.
    fn vertex_count(&self) -> usize;
    /// The number of edges: of a directed graph its edges, of an undirected one its undirected edges.
    fn edge_count(&self) -> u64;
    /// Whether edges have a direction; if not, both directions give the same neighbours.
    fn is_directed(&self) -> bool;
    /// Whether `v` is a live vertex.
    fn contains(&self, v: VertexId) -> bool;
    /// The number of neighbours of `v` in `direction`.
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.neighbors(v, direction).len()
    }
    /// About as many as [`degree`](Topology::degree) says, at the cost of one look-up: for estimates of work. A vertex
    /// without corrections is answered exactly.
    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree(v, direction)
    }
    /// A hint that the lists of the subgraph will be read from the beginning soon.
    #[inline]
    fn prefetch(&self, _subgraph: SubgraphId, _direction: Direction) {}
    /// A hint that the neighbours of `v` will be read soon: starts loading what tells where they are.
    #[inline]
    fn prefetch_place(&self, _v: VertexId, _direction: Direction) {}
    /// The step after [`prefetch_place`](Self::prefetch_place): starts loading the list, and what tells its corrections.
    #[inline]
    fn prefetch_list(&self, _v: VertexId, _direction: Direction) {}
    /// The step after [`prefetch_list`](Self::prefetch_list): starts loading what is added to the list, if anything.
    #[inline]
    fn prefetch_added(&self, _v: VertexId, _direction: Direction) {}

    /// The neighbours of `v` in `direction`; empty for an id without a vertex.
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_>;
}

/// The neighbour lists of one subgraph in one direction.
pub trait Block<'a>: Copy {
    /// The neighbours of the vertex at `local`.
    fn neighbors(&self, local: LocalVertex) -> Neighbors<'a>;

    /// The main list of the vertex, if nothing is taken away from it: a part of its neighbours that can be had without
    /// looking for what is added. For searches that usually end early.
    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&'a [VertexId]> {
        let neighbors = self.neighbors(local);
        neighbors.removed.is_empty().then_some(neighbors.main)
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

/// The block of a graph that has nothing to look up per subgraph: each vertex is asked for by itself.
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

impl<'a, G: Topology> Block<'a> for ByVertex<'a, G> {
    #[inline]
    fn neighbors(&self, local: LocalVertex) -> Neighbors<'a> {
        self.graph.neighbors(self.subgraph.vertex(local), self.direction)
    }
}
