//! Many looks for edges of one chain, in ascending order.

use hedgerow_core::{Direction, LocalVertex, VertexId, simd};

use super::Latched;
use crate::version::{Read, Version};

/// From so many looks on it pays to note first what the delta speaks of.
const NOTE_FROM: usize = 6;
/// Bits of the note: one for a few values of the hash.
const NOTE_BITS: u32 = 12;
/// Lists up to this long are loaded whole, and searched from an end.
const SHORT: usize = 32;

/// Where in a sorted list of vertices one is likely to stand: where it stood if all were spread evenly over the ids there
/// are. It holds for graphs without local structure, which have the lists that are too long for caches; where it does not
/// hold it costs a few steps (interpolation search: Perl, Itai, Avni, "Interpolation search, a log log n search", 1978).
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// 2^48 over the number of ids.
    inverse: u64,
    bound: u32,
}

impl Spread {
    /// Over the ids `0..bound`.
    pub fn over(bound: u32) -> Spread {
        Spread { inverse: (1 << 48) / u64::from(bound.max(1)), bound }
    }

    /// The likely place of `dst` in a list of `len` elements.
    #[inline]
    fn place(self, len: usize, dst: VertexId) -> usize {
        if dst.0 >= self.bound {
            return len;
        }
        // Below 2^32, in units of 2^-32.
        let share = (u64::from(dst.0) * self.inverse) >> 16;
        (share.wrapping_mul(len as u64) >> 32) as usize
    }
}

/// Looks for edges of one chain of a latched subgraph, everything applied included. Made by [`Latched::finder`].
///
/// Edges are asked for in ascending order of vertex and destination: each look goes on where the last one ended. In a long
/// list it begins where the vertex is likely to stand and gallops from there (Bentley and Yao, "An almost optimal algorithm
/// for unbounded searching").
pub struct Finder<'a> {
    head: Option<&'a Version>,
    /// Which edges the delta may speak of, by a hash; absent where it is searched each time.
    note: Option<[u64; 1 << (NOTE_BITS - 6)]>,
    spread: Spread,
    /// Where the last look ended: the vertex and a place in the main part.
    local: LocalVertex,
    at: usize,
}

impl Latched<'_> {
    /// For about `looks` looks for edges. O(1), and O(delta) if there are many.
    #[inline]
    pub fn finder(&self, direction: Direction, looks: usize, spread: Spread) -> Finder<'_> {
        let head = if looks == 0 { None } else { self.writer.heads[direction as usize].as_deref() };
        let note = head.filter(|_| looks >= NOTE_FROM).map(note_of);
        Finder { head, note, spread, local: LocalVertex(0), at: 0 }
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

fn note_of(head: &Version) -> [u64; 1 << (NOTE_BITS - 6)] {
    let mut note = [0; 1 << (NOTE_BITS - 6)];
    for i in 0..head.delta.len() {
        let bit = hash(head.delta.source(i).0, head.delta.destination(i));
        note[bit >> 6] |= 1 << (bit & 63);
    }
    note
}

#[inline]
fn hash(local: LocalVertex, dst: VertexId) -> usize {
    let key = dst.0 ^ u32::from(local.0) << 26;
    (key.wrapping_mul(0x9e37_79b1) >> (32 - NOTE_BITS)) as usize
}

impl Finder<'_> {
    /// The weight of the edge if it exists; 1 in a graph without weights. No edge may be asked for after a greater one.
    /// O(delta + log distance from the last look).
    #[inline]
    pub fn edge(&mut self, local: LocalVertex, dst: VertexId) -> Option<f64> {
        let head = self.head?;
        if !head.is_plain() {
            return head.latest().edge(local, dst);
        }
        let noted = self.note.as_ref().is_none_or(|note| {
            let bit = hash(local, dst);
            note[bit >> 6] >> (bit & 63) & 1 != 0
        });
        let read: Read<'_> = head.latest();
        if noted && let Some(state) = read.delta_word(local, dst) {
            return state;
        }
        if let Some(state) = head.patch.as_ref().and_then(|patch| patch.word(local, dst)) {
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

    #[test]
    fn places_are_in_the_list_or_at_its_end() {
        for bound in [0, 1, 2, 1000, 1 << 20, u32::MAX] {
            let spread = Spread::over(bound);
            for len in [0, 1, 100, u32::MAX as usize] {
                for dst in [0, 1, bound / 2, bound.saturating_sub(1), bound, u32::MAX] {
                    assert!(spread.place(len, VertexId(dst)) <= len);
                }
            }
            if bound > 1 {
                assert!((450..=500).contains(&spread.place(1000, VertexId(bound / 2))));
            }
        }
    }
}
