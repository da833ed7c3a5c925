//! Many look-ups of edges of one chain, in ascending order.

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId, lower_bound_near, simd};

use super::Latched;
use crate::version::Version;

/// Lists up to this length are prefetched whole, and searched by bisection.
const SHORT: usize = 32;

/// Look-ups of edges of one chain of a latched subgraph, after all applied operations. Made by
/// [`Latched::finder`].
///
/// The caller looks edges up in ascending order of vertex and destination: each look-up continues where the
/// last one ended. In a long list it begins where the destination is likely to be.
pub struct Finder<'a> {
    head: Option<&'a Version>,
    hint: InterpolationHint,
    /// The position of the last look-up: the vertex, and in `at` an index into the main part.
    local: LocalVertex,
    at: usize,
}

impl Latched<'_> {
    /// Makes a finder for a direction.
    #[inline]
    pub fn finder(&self, direction: Direction, hint: InterpolationHint) -> Finder<'_> {
        let head = self.writer.heads[direction as usize].as_deref();
        Finder { head, hint, local: LocalVertex(0), at: 0 }
    }

    /// Prefetches the part of the list of `local` that a look-up of the edge reads; the head version should
    /// be in the cache.
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
    /// Returns the weight of the edge if it exists; 1 in a graph without weights. Calls must be in ascending
    /// order. O(delta + log distance from the last look-up).
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

    /// Returns how many elements of `rest` are less than `dst`. `rest` is the part from index `from` on of a
    /// list of `len` elements.
    #[inline]
    fn lower_bound(&self, rest: &[VertexId], len: usize, from: usize, dst: VertexId) -> usize {
        if rest.len() <= SHORT {
            return rest.partition_point(|&x| x < dst);
        }
        lower_bound_near(rest, self.hint.place(len, dst).saturating_sub(from), dst)
    }
}
