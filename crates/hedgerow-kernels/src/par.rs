//! The division of a kernel's work: ranges of whole subgraphs, which idle threads take.

use std::ops::Range;
use std::sync::atomic::AtomicU32;

use hedgerow_core::{Direction, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};

/// The subgraphs per work item. Few enough that a hub's item does not leave the other threads idle at the end
/// of a pass; enough (1,024 vertices) that taking an item costs nothing in comparison.
pub(crate) const CHUNK_SUBGRAPHS: usize = 16;

/// The vertices per work item, a whole number of subgraphs: no two threads ever read one subgraph at once.
pub(crate) const CHUNK_VERTICES: usize = CHUNK_SUBGRAPHS * SUBGRAPH_VERTICES;

/// The number of vertices ahead for which kernels with scattered visits prefetch the places of lists.
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

/// Sorts a frontier for a graph that reads pages for it. Does nothing if lists are in memory, where any order
/// will do.
#[inline]
pub(crate) fn sort_if_read_together<G: Topology, T: Ord + Send>(frontier: &mut [T]) {
    if is_read_by_the_page::<G>() {
        frontier.sort_unstable();
    }
}

/// Returns the subgraphs of a work item with `vertices` vertices.
pub(crate) fn subgraphs_of(chunk: usize, vertices: usize) -> Range<SubgraphId> {
    let first = (chunk * CHUNK_SUBGRAPHS) as u32;
    SubgraphId(first)..SubgraphId(first + vertices.div_ceil(SUBGRAPH_VERTICES) as u32)
}

/// Returns the ids of a work item in a domain of `bound` ids.
pub(crate) fn ids_of(chunk: usize, bound: usize) -> Range<u32> {
    let first = chunk * CHUNK_VERTICES;
    first as u32..(first + CHUNK_VERTICES).min(bound) as u32
}

/// Returns the places of the bits that are set, ascending.
#[inline]
pub(crate) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(at)
    })
}

/// Returns the vertices, and prefetches the places and lists of the next ones meanwhile.
#[inline]
pub(crate) fn ahead<'a, G: Topology>(
    g: &'a G,
    vertices: &'a [VertexId],
    direction: Direction,
) -> impl Iterator<Item = VertexId> + 'a {
    ahead_with(g, vertices, direction, |_| {})
}

/// Like [`ahead`], but also calls `near` with each vertex whose list it prefetches.
#[inline]
pub(crate) fn ahead_with<'a, G: Topology>(
    g: &'a G,
    vertices: &'a [VertexId],
    direction: Direction,
    near: impl Fn(VertexId) + 'a,
) -> impl Iterator<Item = VertexId> + 'a {
    vertices.iter().enumerate().map(move |(i, &v)| {
        if let Some(&far) = vertices.get(i + PLACES_AHEAD) {
            g.prefetch_place(far, direction);
        }
        if let Some(&next) = vertices.get(i + LISTS_AHEAD) {
            g.prefetch_list(next, direction);
            near(next);
        }
        v
    })
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
