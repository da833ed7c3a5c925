//! Many looks for edges of one chain, in ascending order.

use hedgerow_core::{Direction, LocalVertex, Spread, VertexId, simd};

use super::Latched;
use crate::version::Version;

/// Lists up to this long are loaded whole, and searched from an end.
const SHORT: usize = 32;

/// Looks for edges of one chain of a latched subgraph, everything applied included. Made by [`Latched::finder`].
///
/// Edges are asked for in ascending order of vertex and destination: each look goes on where the last one ended. In a long
/// list it begins where the vertex is likely to stand and gallops from there (Bentley and Yao, "An almost optimal algorithm
/// for unbounded searching").
pub struct Finder<'a> {
    head: Option<&'a Version>,
    spread: Spread,
    /// Where the last look ended: the vertex and a place in the main part.
    local: LocalVertex,
    at: usize,
}

impl Latched<'_> {
    /// For looks for edges.
    #[inline]
    pub fn finder(&self, direction: Direction, spread: Spread) -> Finder<'_> {
        let head = self.writer.heads[direction as usize].as_deref();
        Finder { head, spread, local: LocalVertex(0), at: 0 }
    }

    /// Starts loading what a look for the edge reads of the list of `local`; the head version should be here.
    #[inline]
    pub fn warm_look(&self, direction: Direction, local: LocalVertex, dst: VertexId, spread: Spread) {
        let Some(head) = &self.writer.heads[direction as usize] else { return };
        let list = head.main.neighbors(local);
        if list.len() <= SHORT {
            return simd::prefetch_slice(list, 3);
        }
        let likely = spread.place(list.len(), dst);
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
        if !head.is_plain() {
            return head.latest().edge(local, dst, self.spread);
        }
        if let Some(state) = head.latest().delta_word(local, dst) {
            return state;
        }
        if let Some(state) = head.patch.as_ref().and_then(|patch| patch.word(local, dst, self.spread)) {
            return state;
        }
        let range = head.main.range(local);
        let list = head.main.neighbors(local);
        let from = if local == self.local { self.at.max(range.start) - range.start } else { 0 };
        let likely = if list.len() <= SHORT { from } else { self.spread.place(list.len(), dst).max(from) };
        let at = search(list, from, likely, dst);
        (self.local, self.at) = (local, range.start + at);
        (list.get(at) == Some(&dst)).then(|| head.main.weight_at(self.at))
    }
}

/// The number of leading elements less than `dst`, which is at least `from` and likely near `likely`.
#[inline]
fn search(list: &[VertexId], from: usize, likely: usize, dst: VertexId) -> usize {
    let (mut low, mut high) = (from, list.len());
    if high - low > SHORT {
        let mut step = 8;
        if likely < high && list[likely] < dst {
            low = likely + 1;
            while low + step < high && list[low + step] < dst {
                (low, step) = (low + step + 1, step * 2);
            }
            high = high.min(low + step);
        } else {
            high = likely.min(high);
            while low + step < high && list[high - step] >= dst {
                (high, step) = (high - step, step * 2);
            }
            low = low.max(high.saturating_sub(step));
        }
    }
    low + list[low..high].partition_point(|&x| x < dst)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_where_a_scan_does_wherever_it_begins() {
        for len in [0, 1, 7, 31, 32, 33, 40, 100, 300] {
            let list: Vec<VertexId> = (0..len).map(|i| VertexId(i * 3)).collect();
            for dst in 0..=len * 3 + 1 {
                let expected = list.iter().filter(|x| x.0 < dst).count();
                for from in [0, expected / 2, expected] {
                    for likely in [from, from + (list.len() - from) / 3, list.len(), expected.max(from)] {
                        let found = search(&list, from, likely, VertexId(dst));
                        assert_eq!(found, expected, "length {len}, {dst}, from {from}, likely {likely}");
                    }
                }
            }
        }
    }
}
