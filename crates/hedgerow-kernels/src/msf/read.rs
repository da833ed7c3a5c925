//! Reading edges into batches.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use super::batch::Batch;
use super::edge::Edge;
use crate::KernelError;
use crate::cancel::Cancel;
use crate::par::CHUNK_VERTICES;
use crate::sssp::for_each_neighbor;

/// The edges of a graph. Each thread takes the edges of a range of vertices at a time.
pub(super) struct Edges<'g, G> {
    g: &'g G,
    /// The number of batches.
    batches: usize,
    /// The first vertex whose edges no thread has taken.
    next: AtomicUsize,
    cancel: &'g Cancel,
}

impl<'g, G: WeightedTopology> Edges<'g, G> {
    pub(super) fn new(g: &'g G, batches: usize, cancel: &'g Cancel) -> Self {
        Edges { g, batches, next: AtomicUsize::new(0), cancel }
    }

    /// Takes ranges of vertices until none is left; returns the forest of their edges, or an error with the
    /// first edge that it refuses.
    pub(super) fn forest(&self) -> Result<Vec<Edge>, KernelError<G::Error>> {
        let bound = self.g.vertex_bound();
        let mut batch: Option<Batch<'_>> = None;
        let length = CHUNK_VERTICES.max(G::VISITED_TOGETHER);
        loop {
            let first = self.next.fetch_add(length, Relaxed);
            if first >= bound {
                break;
            }
            let batch = batch
                .get_or_insert_with(|| Batch::new(bound, self.g.edge_count(), self.batches, self.cancel));
            let last = (first + length).min(bound);
            if let Err(error) = self.read(first as u32, last as u32, batch) {
                // Earlier ranges are already taken.
                self.next.store(bound, Relaxed);
                return Err(error);
            }
            self.cancel.step((last - first) as u64);
        }
        Ok(batch.map(Batch::into_forest).unwrap_or_default())
    }

    /// Adds the edges of a range of vertices.
    fn read(&self, first: u32, last: u32, batch: &mut Batch<'_>) -> Result<(), KernelError<G::Error>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        let (mut refused, is_over) = (None, Cell::new(false));
        let all = (first..last).map(VertexId).take_while(|_| !is_over.get());
        let undirected = !self.g.is_directed();
        let visited = self.g.visit_weighted(all, Direction::Out, |u, run, weights| {
            for_each_neighbor(run, weights, &mut meter, |v, weight| {
                if !weight.is_finite() {
                    refused = refused.or(Some((u, v, weight)));
                }
                // An undirected edge is in the lists of both ends.
                if u != v && !(undirected && u > v) {
                    batch.add(Edge::new(u, v, weight));
                }
            });
            is_over.set(refused.is_some() || meter.is_over());
        });
        visited.map_err(KernelError::Topology)?;
        self.cancel.check()?;
        refused.map_or(Ok(()), |(from, to, weight)| Err(KernelError::NotFinite { from, to, weight }))
    }
}
