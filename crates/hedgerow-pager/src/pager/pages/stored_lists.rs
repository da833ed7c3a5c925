//! Lists as they were read from files.

use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, VertexId};
use hedgerow_mem::ItemRef;
use hedgerow_tier::AdjacencyPart;

use crate::sources::item_of;

/// The lists of a subgraph in one direction, as they were read from files. They were checked: each vertex has
/// an ascending list of neighbors below the bound.
#[derive(Debug)]
pub struct StoredLists(pub(super) AdjacencyPart);

impl StoredLists {
    /// Returns the direction of the lists.
    pub fn direction(&self) -> Direction {
        self.0.direction
    }

    /// Returns the number of entries of all lists.
    pub fn entries(&self) -> usize {
        self.0.neighbors.len()
    }

    /// Returns the neighbors of a vertex, ascending.
    pub fn neighbors(&self, local: LocalVertex) -> &[VertexId] {
        self.0.neighbors_of(local.index())
    }

    /// Returns the neighbors of a vertex and the weights of the edges to them; no weights if all edges weigh
    /// 1.
    pub fn list(&self, local: LocalVertex) -> (&[VertexId], &[f64]) {
        let range = self.0.range_of(local.index());
        let weights = self.0.weights.as_ref().and_then(|weights| weights.get(range));
        (self.neighbors(local), weights.unwrap_or(&[]))
    }

    /// Calls `f` with the edges of a vertex, ascending.
    pub fn for_each_item(&self, local: LocalVertex, f: impl FnMut(ItemRef<'_>)) {
        self.0.range_of(local.index()).filter_map(|at| item_of(&self.0, at)).for_each(f);
    }

    /// Returns the bytes of memory that the lists take.
    pub fn bytes(&self) -> usize {
        let AdjacencyPart { neighbors, weights, ranks, columns, .. } = &self.0;
        let numbers = weights.as_ref().map_or(0, Vec::capacity) + ranks.as_ref().map_or(0, Vec::capacity);
        neighbors.capacity() * size_of::<VertexId>() + numbers * size_of::<u64>() + columns.bytes()
    }

    /// Returns the offsets of the lists, their neighbors, and their weights, which are empty if all edges
    /// weigh 1. Copies nothing.
    pub fn into_arrays(self) -> ([u32; SUBGRAPH_VERTICES + 1], Vec<VertexId>, Vec<f64>) {
        let AdjacencyPart { offsets, neighbors, weights, .. } = self.0;
        (offsets, neighbors, weights.unwrap_or_default())
    }
}
