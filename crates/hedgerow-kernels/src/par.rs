//! How kernels share work: ranges of whole subgraphs, taken by whichever thread is free.

use std::sync::atomic::AtomicU32;

use hedgerow_core::{Direction, SUBGRAPH_VERTICES, Topology};

/// Subgraphs per work item. Small enough that a hub's item does not leave the other threads idle at the end of a
/// pass, large enough (1,024 vertices) that taking one costs nothing beside it.
pub(crate) const CHUNK_SUBGRAPHS: usize = 16;

/// Vertices per work item, a whole number of subgraphs: one subgraph is never read by two threads at once.
pub(crate) const CHUNK_VERTICES: usize = CHUNK_SUBGRAPHS * SUBGRAPH_VERTICES;

/// Kernels that visit vertices anywhere in the graph look up so many vertices ahead where lists are.
pub(crate) const PLACES_AHEAD: usize = 12;

/// So many vertices ahead they load the lists.
pub(crate) const LISTS_AHEAD: usize = 6;

/// So many frontier vertices count as few: what [`Topology::VISITED_TOGETHER`] is where lists are in memory.
const FEW: usize = 64;

/// True if a graph reads pages for its lists.
#[inline]
pub(crate) fn is_read_by_the_page<G: Topology>() -> bool {
    G::VISITED_TOGETHER > FEW
}

/// Sorts a frontier for a graph that reads pages for it. Does nothing where lists are in memory: there any order will do.
#[inline]
pub(crate) fn sort_if_read_together<G: Topology, T: Ord + Send>(frontier: &mut [T]) {
    if is_read_by_the_page::<G>() {
        frontier.sort_unstable();
    }
}

/// Returns the other direction.
pub(crate) fn reverse(direction: Direction) -> Direction {
    match direction {
        Direction::Out => Direction::In,
        Direction::In => Direction::Out,
    }
}

/// Plain values of atomics that no thread shares any more; reuses the allocation.
pub(crate) fn into_plain(values: Vec<AtomicU32>) -> Vec<u32> {
    values.into_iter().map(AtomicU32::into_inner).collect()
}
