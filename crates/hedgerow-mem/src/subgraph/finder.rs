//! Many looks for edges of one chain, in ascending order.

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId, lower_bound_near, simd};

use super::Latched;
use crate::version::Version;

/// Lists up to this long are loaded whole, and searched by halving.
const SHORT: usize = 32;

/// Looks for edges of one chain of a latched subgraph, everything applied included. Made by [`Latched::finder`].
///
/// Edges are asked for in ascending order of vertex and destination: each look goes on where the last one ended. In a long
/// list it begins where the vertex is likely to stand.
pub struct Finder<'a> {
    head: Option<&'a Version>,
    hint: InterpolationHint,
    /// Where the last look ended: the vertex and a place in the main part.
    local: LocalVertex,
    at: usize,
}

impl Latched<'_> {
    /// For looks for edges.
    #[inline]
    pub fn finder(&self, direction: Direction, hint: InterpolationHint) -> Finder<'_> {
        let head = self.writer.heads[direction as usize].as_deref();
        Finder { head, hint, local: LocalVertex(0), at: 0 }
    }

    /// Starts loading what a look for the edge reads of the list of `local`; the head version should be here.
    #[inline]
    pub fn prefetch_look(
        &self,
        direction: Direction,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) {
        let Some(head) = &self.writer.heads[direction as usize] else { return };
        let list = head.main.neighbors(local);
        if list.len() <= SHORT {
            return simd::prefetch_slice(list, 3);
        }
        let likely = hint.place(list.len(), dst);
        let from = likely.saturating_sub(SHORT / 2);
        simd::prefetch_slice(&list[from.min(list.len())..list.len().min(likely + SHORT / 2)], 2);
    }
}

impl Finder<'_> {
    /// The weight of the edge if it exists; 1 in a graph without weights. No edge may be asked for after a greater one.
    /// O(delta + log distance from the last look).
    #[inline]
    pub fn edge(&mut self, local: LocalVertex, dst: VertexId) -> Option<f64> {
        let head = self.head?;
        if head.is_ranked() {
            return head.latest().edge(local, dst, self.hint);
        }
        if let Some(state) = head.latest().delta_word(local, dst) {
            return state;
        }
        if let Some(state) = head.patch.as_ref().and_then(|patch| patch.word(local, dst, self.hint)) {
            return state;
        }
        let range = head.main.range(local);
        let list = head.main.neighbors(local);
        let from = if local == self.local { self.at.max(range.start) - range.start } else { 0 };
        let at = from + self.lower_bound(&list[from..], list.len(), from, dst);
        (self.local, self.at) = (local, range.start + at);
        (list.get(at) == Some(&dst)).then(|| head.main.weight_at(self.at))
    }

    /// The number of elements of `rest` that are less than `dst`: of a list of `len` elements what is left after `from`.
    #[inline]
    fn lower_bound(&self, rest: &[VertexId], len: usize, from: usize, dst: VertexId) -> usize {
        if rest.len() <= SHORT {
            return rest.partition_point(|&x| x < dst);
        }
        lower_bound_near(rest, self.hint.place(len, dst).saturating_sub(from), dst)
    }
}
