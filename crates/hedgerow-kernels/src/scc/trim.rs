//! Taking away vertices through which no cycle leads.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Direction, Topology, VertexId};

use super::Parts;
use crate::KernelError;
use crate::degrees::vertex_degrees_until;
use crate::par::reverse;

/// The number of each vertex's edges in one direction to remaining vertices.
type Counts = Vec<AtomicU32>;

impl<G: Topology> Parts<'_, G> {
    /// Takes away vertices without edges from, or to, the remaining ones, until each remaining vertex has
    /// edges of both directions. A vertex with an edge to itself stays. Returns the first remaining vertex
    /// with the largest product of both degrees.
    pub(super) fn trim(&mut self) -> Result<Option<VertexId>, KernelError<G::Error>> {
        let (out, into) = (self.degrees(Direction::Out)?, self.degrees(Direction::In)?);
        for (counts, direction) in [(&out, Direction::Out), (&into, Direction::In)] {
            let without = self.open.vertices().filter(|v| counts[v.index()].load(Relaxed) == 0);
            let mut going: Vec<VertexId> = without.collect();
            going.iter().for_each(|&v| self.take(v));
            // Neighbours in the other direction may have had such edges only from or to these vertices.
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
                self.rounds.watch.check()?;
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

    fn degrees(&self, direction: Direction) -> Result<Counts, KernelError<G::Error>> {
        let degrees = vertex_degrees_until(self.rounds.g, direction, &self.rounds.watch.cancel.of_part())?;
        Ok(degrees.into_iter().map(AtomicU32::new).collect())
    }
}
