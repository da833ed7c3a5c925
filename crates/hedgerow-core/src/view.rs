//! What analytics may ask of a graph: the one interface between storage and kernels.

use std::ops::ControlFlow;

use crate::{LocalVertex, SubgraphId, VertexId};

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

/// The neighbours of one vertex: a sorted main list, corrected by two short sorted lists.
///
/// The result is `(main \ removed) ∪ added`; `removed` is a subset of `main`, `added` and `main \ removed` share
/// nothing. For a settled vertex, and for a CSR, both corrections are empty and `main` is the whole answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbors<'a> {
    /// The neighbours in the main part, ascending.
    pub main: &'a [VertexId],
    /// Neighbours that the delta adds, ascending.
    pub added: &'a [VertexId],
    /// Neighbours of `main` that the delta takes away, ascending.
    pub removed: &'a [VertexId],
}

impl<'a> Neighbors<'a> {
    /// Neighbours without corrections.
    #[inline]
    pub fn from_slice(main: &'a [VertexId]) -> Self {
        Neighbors { main, added: &[], removed: &[] }
    }

    /// The number of neighbours. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.main.len() + self.added.len() - self.removed.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The neighbours as one slice where no correction applies.
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [VertexId]> {
        (self.added.is_empty() && self.removed.is_empty()).then_some(self.main)
    }

    /// Calls `f` for each neighbour: those of the main part ascending, then the added ones ascending.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(VertexId)) {
        if self.removed.is_empty() {
            self.main.iter().for_each(|&v| f(v));
        } else {
            for_each_except(self.main, self.removed, &mut f);
        }
        self.added.iter().for_each(|&v| f(v));
    }

    /// As [`for_each`](Self::for_each), until `f` breaks.
    #[inline]
    pub fn try_for_each<B>(self, mut f: impl FnMut(VertexId) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.removed.is_empty() {
            self.main.iter().try_for_each(|&v| f(v))?;
        } else {
            let mut removed = self.removed;
            for &v in self.main {
                if removed.first() == Some(&v) {
                    removed = &removed[1..];
                } else {
                    f(v)?;
                }
            }
        }
        self.added.iter().try_for_each(|&v| f(v))
    }

    /// Whether `v` is a neighbour. O(log degree).
    pub fn contains(&self, v: VertexId) -> bool {
        self.added.binary_search(&v).is_ok()
            || (self.main.binary_search(&v).is_ok() && self.removed.binary_search(&v).is_err())
    }

    /// All neighbours, ascending.
    pub fn iter(self) -> SortedNeighbors<'a> {
        SortedNeighbors { rest: self }
    }
}

// Inlined although rarely taken: behind a call, what the closure captures would have to live in memory also in the
// loop over plain lists.
#[inline]
fn for_each_except(main: &[VertexId], mut removed: &[VertexId], f: &mut impl FnMut(VertexId)) {
    for &v in main {
        if removed.first() == Some(&v) {
            removed = &removed[1..];
        } else {
            f(v);
        }
    }
}

impl<'a> IntoIterator for Neighbors<'a> {
    type Item = VertexId;
    type IntoIter = SortedNeighbors<'a>;

    fn into_iter(self) -> SortedNeighbors<'a> {
        self.iter()
    }
}

/// Neighbours in ascending order, merged from main and corrections.
#[derive(Clone, Debug)]
pub struct SortedNeighbors<'a> {
    rest: Neighbors<'a>,
}

impl Iterator for SortedNeighbors<'_> {
    type Item = VertexId;

    fn next(&mut self) -> Option<VertexId> {
        let rest = &mut self.rest;
        while let (Some(m), Some(r)) = (rest.main.first(), rest.removed.first()) {
            if m != r {
                break;
            }
            rest.main = &rest.main[1..];
            rest.removed = &rest.removed[1..];
        }
        match (rest.main.first(), rest.added.first()) {
            (Some(&m), Some(&a)) if a < m => {
                rest.added = &rest.added[1..];
                Some(a)
            }
            (Some(&m), _) => {
                rest.main = &rest.main[1..];
                Some(m)
            }
            (None, Some(&a)) => {
                rest.added = &rest.added[1..];
                Some(a)
            }
            (None, None) => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl ExactSizeIterator for SortedNeighbors<'_> {}
