//! Looks for many edges in lists that are in memory.

use super::{Direction, Neighbors, Resident};
use crate::{InterpolationHint, VertexId};

/// How many edges each step is ahead of the next one.
const STEP: usize = 8;

/// Calls `f` with the place of each of `edges` that there is, ascending. Of an edge two vertices are given, or none where there
/// cannot be one.
///
/// A look waits for three cache misses, one after another: for where the list is, for what tells its corrections or for the part of
/// the list that is searched. So it is made in steps, each of which begins to load what the next one reads, and each step runs some
/// edges ahead of the next (Chen, Gibbons, Mowry, "Improving hash join performance through prefetching", 2004).
/// O(edges log degree).
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
