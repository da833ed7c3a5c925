//! The division of a kernel's work: ranges of whole subgraphs, which idle threads take.

use std::sync::atomic::AtomicU32;

use hedgerow_core::{Direction, SUBGRAPH_VERTICES, Topology};

/// The subgraphs per work item. Few enough that a hub's item does not leave the other threads idle at the end
/// of a pass; enough (1,024 vertices) that taking an item costs nothing in comparison.
pub(crate) const CHUNK_SUBGRAPHS: usize = 16;

/// The vertices per work item, a whole number of subgraphs: no two threads ever read one subgraph at once.
pub(crate) const CHUNK_VERTICES: usize = CHUNK_SUBGRAPHS * SUBGRAPH_VERTICES;

/// The number of vertices ahead for which kernels that visit vertices anywhere prefetch the places of lists.
pub(crate) const PLACES_AHEAD: usize = 12;

/// The number of vertices ahead for which these kernels prefetch the lists.
pub(crate) const LISTS_AHEAD: usize = 6;

/// The value of [`Topology::VISITED_TOGETHER`] of graphs whose lists are in memory.
const FEW: usize = 64;

/// True if a graph reads pages for its lists.
#[inline]
pub(crate) fn is_read_by_the_page<G: Topology>() -> bool {
    G::VISITED_TOGETHER > FEW
}

/// Sorts a frontier for a graph that reads pages for it. Does nothing if lists are in memory: there any order
/// will do.
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

/// Turns atomics that no thread shares any more into plain values; reuses the allocation.
pub(crate) fn into_plain(values: Vec<AtomicU32>) -> Vec<u32> {
    values.into_iter().map(AtomicU32::into_inner).collect()
}
