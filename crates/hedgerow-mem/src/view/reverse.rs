//! The incoming side of a graph that stores only outgoing edges: made from these, by counting.

use std::sync::Arc;

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::{CHUNK_SUBGRAPHS, DirectionView, Shape};
use crate::arena::Arena;

impl DirectionView {
    /// Returns the same edges from their other ends. O(vertices + edges) of time and memory. Lists ascend
    /// because it visits sources in ascending order.
    pub fn reversed(&self, shape: Shape) -> DirectionView {
        let bound = shape.vertex_bound.next_multiple_of(SUBGRAPH_VERTICES);
        let account = self.arena.account();
        let counts = 2 * (bound + 1) * size_of::<usize>();
        let _counts = Charge::new(account, Purpose::Views, counts);
        let mut ends = vec![0usize; bound + 1];
        self.for_each(bound, |_, dst, _| ends[dst.index() + 1] += 1);
        for v in 0..bound {
            ends[v + 1] += ends[v];
        }
        let mut next = ends.clone();
        let each = size_of::<VertexId>() + if shape.weighted { size_of::<f64>() } else { 0 };
        let _gathered = Charge::new(account, Purpose::Views, ends[bound] * each);
        let mut sources = vec![VertexId(0); ends[bound]];
        let mut weights = vec![1.0; if shape.weighted { ends[bound] } else { 0 }];
        self.for_each(bound, |src, dst, weight| {
            let at = next[dst.index()];
            next[dst.index()] += 1;
            sources[at] = src;
            if let Some(place) = weights.get_mut(at) {
                *place = weight;
            }
        });
        let arena = Arena::default();
        let mut side = DirectionView::charging(account.clone());
        for (i, chunk) in side.chunks_mut(bound).iter_mut().enumerate() {
            let chunk = Arc::make_mut(chunk);
            let first = i * CHUNK_SUBGRAPHS;
            for subgraph in first..(first + CHUNK_SUBGRAPHS).min(bound / SUBGRAPH_VERTICES) {
                let from = subgraph * SUBGRAPH_VERTICES;
                let range = ends[from]..ends[from + SUBGRAPH_VERTICES];
                let offsets = std::array::from_fn(|local| (ends[from + local] - range.start) as u32);
                let weights = weights.get(range.clone()).map(|weights| arena.copy(weights));
                chunk.set(subgraph - first, offsets, arena.copy(&sources[range]), weights);
            }
        }
        side.charge_lists();
        side
    }

    fn for_each(&self, bound: usize, mut f: impl FnMut(VertexId, VertexId, f64)) {
        for subgraph in (0..(bound / SUBGRAPH_VERTICES) as u32).map(SubgraphId) {
            let (block, weighted) = (self.block(subgraph), self.weighted_block(subgraph));
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                if !block.neighbors(local).is_empty() {
                    let of_local = weighted.weighted_neighbors(local);
                    of_local.for_each_sorted(|dst, weight| f(subgraph.vertex(local), dst, weight));
                }
            }
        }
    }
}
