//! The vertices that share a neighbour with a source.

use std::ops::{ControlFlow, Range};

use hedgerow_core::{Topology, VertexId};
use rayon::prelude::*;

use super::source::{Comparison, Source};
use crate::KernelError;
use crate::par::is_read_by_the_page;

/// The number of ranges of ids per thread: a thread that has finished a range takes another one.
const RANGES_OF_A_THREAD: usize = 2;

/// The sums of the weights that vertices of a range of ids share with the source, and the vertices whose sum
/// is not 0.
struct Sums<'s> {
    first: u32,
    sums: &'s mut [u128],
    found: Vec<VertexId>,
}

impl Sums<'_> {
    fn ids(&self) -> Range<u32> {
        self.first..self.first + self.sums.len() as u32
    }

    /// Adds the weight of `w` to the sum that `v` shares with the source.
    #[inline]
    fn add(&mut self, own: VertexId, v: VertexId, w: VertexId, weight: u64) {
        if v == own || v == w || w == own || weight == 0 {
            return;
        }
        let sum = &mut self.sums[(v.0 - self.first) as usize];
        if *sum == 0 {
            self.found.push(v);
        }
        *sum += u128::from(weight);
    }
}

/// Returns the vertices that share a neighbour with the source, in any order. Adds the weights of the shared
/// neighbours to `sums`, which must be 0 for each id. Threads take ranges of ids: each thread reads the lists
/// of all neighbours of the source, but from each list only the ids of its range. If the graph does not store
/// edges against the direction, each thread reads the lists of the ids of its range.
pub(super) fn candidates<G: Topology>(
    source: &Source<'_, '_, G>,
    sums: &mut [u128],
) -> Result<Vec<VertexId>, KernelError<G::Error>> {
    let Comparison { g, ref lists, .. } = *source.with;
    let against = source.with.against();
    // If a graph reads pages for its lists, it would read them again for each range.
    let is_shared = if g.is_stored(against) {
        !is_read_by_the_page::<G>() && lists.are_shared(&source.neighbors, against)
    } else {
        lists.is_shared()
    };
    let ranges = if is_shared { hedgerow_par::threads() * RANGES_OF_A_THREAD } else { 1 };
    let length = sums.len().div_ceil(ranges).max(1);
    if !is_shared {
        return of_range(source, Sums { first: 0, sums, found: Vec::new() });
    }
    let parts = hedgerow_par::map(sums.par_chunks_mut(length).enumerate(), |(at, sums)| {
        of_range(source, Sums { first: (at * length) as u32, sums, found: Vec::new() })
    });
    let mut found = Vec::new();
    for part in parts {
        found.append(&mut part?);
    }
    Ok(found)
}

/// Returns the candidates of a range of ids.
fn of_range<G: Topology>(
    source: &Source<'_, '_, G>,
    mut sums: Sums<'_>,
) -> Result<Vec<VertexId>, KernelError<G::Error>> {
    let (with, own, ids, mut buffer) = (source.with, source.vertex, sums.ids(), Vec::new());
    if with.g.is_stored(with.against()) {
        let neighbors = source.neighbors.iter().copied();
        let within = Some(&ids).filter(|ids| ids.len() < with.g.vertex_bound());
        with.lists.each(&mut buffer, neighbors, with.against(), within, |w, list| {
            let weight = source.weight(w).unwrap_or_default();
            list.iter().for_each(|&v| sums.add(own, v, w, weight));
            ControlFlow::Continue(())
        })?;
    } else {
        with.lists.each(&mut buffer, ids.map(VertexId), with.direction, None, |v, list| {
            list.iter().for_each(|&w| sums.add(own, v, w, source.weight(w).unwrap_or_default()));
            ControlFlow::Continue(())
        })?;
    }
    Ok(sums.found)
}
