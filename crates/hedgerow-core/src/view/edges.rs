//! Look-ups of many edges in lists that are in memory.

use super::{Direction, Neighbors, Resident};
use crate::{InterpolationHint, VertexId};

/// The distance in edges between a step and the next one.
const STEP: usize = 8;

/// Calls `f` with the index in `edges` of each edge that the graph has, ascending. An entry has the two ends
/// of an edge, or is `None` if that edge cannot exist.
///
/// A look-up waits for three cache misses, one after another: for the data that locates the list, for the
/// record of its corrections, and for the searched part of the list. So it is made in steps. Each step begins
/// to load the memory that the next step reads, and is some edges ahead of it (Chen, Gibbons, Mowry,
/// "Improving hash join performance through prefetching", 2004). O(edges log degree).
#[inline]
pub fn for_each_contained<G: Resident>(
    graph: &G,
    edges: &[Option<(VertexId, VertexId)>],
    hint: InterpolationHint,
    mut f: impl FnMut(usize),
) {
    let at = |i: usize, steps: usize| edges.get(i.wrapping_sub(steps * STEP)).copied().flatten();
    let mut lists = [Neighbors::default(); STEP];
    for i in 0..edges.len() + 3 * STEP {
        if let Some((src, _)) = at(i, 0) {
            graph.prefetch_place(src, Direction::Out);
        }
        if let Some((src, _)) = at(i, 1) {
            graph.prefetch_corrections(src, Direction::Out);
        }
        let list = &mut lists[i % STEP];
        if let Some((_, dst)) = at(i, 3)
            && list.contains_near(dst, hint)
        {
            f(i - 3 * STEP);
        }
        if let Some((src, dst)) = at(i, 2) {
            *list = graph.neighbors(src, Direction::Out);
            list.prefetch_near(dst, hint);
        }
    }
}
