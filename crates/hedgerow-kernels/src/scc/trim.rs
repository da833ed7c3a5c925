//! Taking away vertices through which no cycle leads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};
use rayon::prelude::*;

use super::Parts;
use crate::KernelError;
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES, reverse};

/// The number of each vertex's edges in one direction to remaining vertices.
type Counts = Vec<AtomicU32>;

impl<G: Topology> Parts<'_, G> {
    /// Takes away vertices without edges from, or to, the remaining ones, until there are none. A vertex with
    /// an edge to itself stays. Returns the remaining vertex with the largest product of both degrees, the
    /// first of several.
    pub(super) fn trim(&mut self) -> Result<Option<VertexId>, KernelError<G::Error>> {
        let (out, into) = (self.degrees(Direction::Out), self.degrees(Direction::In));
        self.check()?;
        for (counts, direction) in [(&out, Direction::Out), (&into, Direction::In)] {
            let without = self.open.vertices().filter(|v| counts[v.index()].load(Relaxed) == 0);
            let mut going: Vec<VertexId> = without.collect();
            going.iter().for_each(|&v| self.take(v));
            // Their neighbours in the other direction may have no other such edges.
            while !going.is_empty() {
                self.rounds.next(&mut going, &[reverse(direction)], |v, run, found| {
                    for &u in run {
                        let count = &counts[u.index()];
                        if u != v && count.fetch_sub(1, Relaxed) == 1 && self.open.clear(u) {
                            self.put(u, u.0);
                            found.push(u);
                        }
                    }
                });
                self.check()?;
            }
        }
        let product =
            |v: VertexId| u64::from(out[v.index()].load(Relaxed)) * u64::from(into[v.index()].load(Relaxed));
        let best = |best: Option<(u64, VertexId)>, v: VertexId| {
            let of_v = product(v);
            if best.is_none_or(|(most, _)| of_v > most) { Some((of_v, v)) } else { best }
        };
        Ok(self.open.vertices().fold(None, best).map(|(_, v)| v))
    }

    /// Makes a vertex a component of its own.
    fn take(&self, v: VertexId) {
        if self.open.clear(v) {
            self.put(v, v.0);
        }
    }

    fn degrees(&self, direction: Direction) -> Counts {
        let (g, cancel, failure) = (self.rounds.g, self.rounds.cancel, &self.rounds.failure);
        let counts: Counts = (0..self.components.len()).map(|_| AtomicU32::new(0)).collect();
        hedgerow_par::for_each(counts.par_chunks(CHUNK_VERTICES).enumerate(), |(chunk, counts)| {
            if cancel.poll() || failure.is_noted() {
                return;
            }
            let first = (chunk * CHUNK_SUBGRAPHS) as u32;
            let end = first + counts.len().div_ceil(SUBGRAPH_VERTICES) as u32;
            let mut parts = counts.chunks(SUBGRAPH_VERTICES);
            failure.note(g.scan(SubgraphId(first)..SubgraphId(end), direction, |_, block| {
                for (local, count) in parts.next().unwrap_or(&[]).iter().enumerate() {
                    let degree = block.degree(LocalVertex(local as u8));
                    count.store(degree.min(u32::MAX as usize) as u32, Relaxed);
                }
                ControlFlow::Continue(())
            }));
        });
        counts
    }
}
