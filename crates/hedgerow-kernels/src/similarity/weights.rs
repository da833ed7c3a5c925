//! The weights of shared vertices.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::{Direction, Topology, VertexId};

use super::measure::Measure;
use crate::KernelError;
use crate::cancel::Cancel;
use crate::lists::{Lists, for_each_list_of_all};
use crate::par::reverse;

/// The weight of a vertex whose degree is not known yet.
const UNKNOWN: u64 = u64::MAX;

/// The weights of vertices by their degrees, each found at its first use. Each weight is independent of the
/// others, and the same from each thread.
pub(super) struct Weights {
    measure: Measure,
    is_directed: bool,
    /// The direction from a vertex to the vertices that share it.
    direction: Direction,
    /// The weights by id; none for a measure with the same weight for all vertices.
    known: Vec<AtomicU64>,
}

impl Weights {
    /// Makes the weights. If the graph does not store this direction, finds all weights at once, by reading
    /// all lists of the other direction.
    pub(super) fn new<G: Topology>(
        g: &G,
        measure: Measure,
        direction: Direction,
        cancel: &Cancel,
    ) -> Result<Weights, KernelError<G::Error>> {
        let count = if measure == Measure::Jaccard { 0 } else { g.vertex_bound() };
        let is_stored = g.is_stored(direction);
        let first = if is_stored { UNKNOWN } else { 0 };
        let mut known: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(first)).collect();
        if !is_stored && count > 0 {
            for_each_list_of_all(g, reverse(direction), cancel, |_, list| {
                list.iter().for_each(|w| *known[w.index()].get_mut() += 1);
                ControlFlow::Continue(())
            })?;
            known
                .iter_mut()
                .map(AtomicU64::get_mut)
                .for_each(|known| *known = measure.weight(*known as usize));
        }
        Ok(Weights { measure, is_directed: g.is_directed(), direction, known })
    }

    /// Returns the weight of a vertex, if it is known.
    #[inline]
    pub(super) fn get(&self, w: VertexId) -> Option<u64> {
        let known = self.known.get(w.index()).map_or(1, |known| known.load(Relaxed));
        Some(known).filter(|&known| known != UNKNOWN)
    }

    /// Finds the weights of `vertices`, which ascend.
    pub(super) fn find<G: Topology>(
        &self,
        vertices: impl Iterator<Item = VertexId>,
        lists: &Lists<'_, G>,
    ) -> Result<(), KernelError<G::Error>> {
        let unknown: Vec<VertexId> = vertices.filter(|&w| self.get(w).is_none()).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let find = |w: VertexId, list: &[VertexId]| {
            // An undirected loop has both its ends at this vertex, so it counts twice.
            let loops = usize::from(!self.is_directed && list.binary_search(&w).is_ok());
            self.known[w.index()].store(self.measure.weight(list.len() + loops), Relaxed);
        };
        lists.map(&unknown, self.direction, find).map(drop)
    }
}
