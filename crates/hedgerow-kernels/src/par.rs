//! How kernels share work: ranges of whole subgraphs, taken by whichever thread is free.

use std::sync::atomic::AtomicU32;

use hedgerow_core::{Direction, SUBGRAPH_VERTICES};

/// Subgraphs per work item. Small enough that a hub's item does not leave the other threads idle at the end of a
/// pass, large enough (1,024 vertices) that taking one costs nothing beside it.
pub(crate) const CHUNK_SUBGRAPHS: usize = 16;

/// Vertices per work item, a whole number of subgraphs: one subgraph is never read by two threads at once.
pub(crate) const CHUNK_VERTICES: usize = CHUNK_SUBGRAPHS * SUBGRAPH_VERTICES;

/// Kernels that visit vertices anywhere in the graph look up so many vertices ahead where lists are.
pub(crate) const PLACES_AHEAD: usize = 12;

/// So many vertices ahead they load the lists.
pub(crate) const LISTS_AHEAD: usize = 6;

/// The other direction.
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
