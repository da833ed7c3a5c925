//! Many looks for edges of one chain, in ascending order.

use hedgerow_core::{Direction, LocalVertex, VertexId};

use super::Latched;
use crate::version::{Read, Version};

/// From so many looks on it pays to note first what the delta speaks of.
const NOTE_FROM: usize = 6;
/// Bits of the note: one for a few values of the hash.
const NOTE_BITS: u32 = 11;

/// Looks for edges of one chain of a latched subgraph, everything applied included. Made by [`Latched::finder`].
///
/// Edges are asked for in ascending order of vertex and destination: each look goes on where the last one ended, so that
/// many looks in a long list cost a pass over parts of it (galloping search: Bentley and Yao, "An almost optimal algorithm
/// for unbounded searching").
pub struct Finder<'a> {
    head: Option<&'a Version>,
    /// Which edges the delta may speak of, by a hash; absent where it is searched each time.
    note: Option<[u64; 1 << (NOTE_BITS - 6)]>,
    /// Where the last look ended: the vertex and a place in the main part.
    local: LocalVertex,
    at: usize,
}

impl Latched<'_> {
    /// For about `looks` looks for edges. O(1), and O(delta) if there are many.
    #[inline]
    pub fn finder(&self, direction: Direction, looks: usize) -> Finder<'_> {
        let head = if looks == 0 { None } else { self.writer.heads[direction as usize].as_deref() };
        let note = head.filter(|_| looks >= NOTE_FROM).map(note_of);
        Finder { head, note, local: LocalVertex(0), at: 0 }
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
        let list = if local == self.local && self.at > range.start {
            let rest = head.main.neighbors.get(self.at..range.end).unwrap_or(&[]);
            self.at += gallop(rest, dst);
            &rest[self.at + rest.len() - range.end..]
        } else {
            let list = head.main.neighbors(local);
            let at = list.partition_point(|&x| x < dst);
            (self.local, self.at) = (local, range.start + at);
            &list[at..]
        };
        (list.first() == Some(&dst)).then(|| head.main.weight_at(self.at))
    }
}

/// The number of leading elements less than `dst`.
#[inline]
fn gallop(list: &[VertexId], dst: VertexId) -> usize {
    let (mut from, mut upto) = (0, 8);
    while upto < list.len() && list[upto] < dst {
        (from, upto) = (upto, upto * 4);
    }
    from + list[from..upto.min(list.len())].partition_point(|&x| x < dst)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn galloping_ends_where_a_scan_does() {
        for len in [0, 1, 7, 8, 9, 31, 32, 33, 200] {
            let list: Vec<VertexId> = (0..len).map(|i| VertexId(i * 3)).collect();
            for dst in 0..=len * 3 + 1 {
                let expected = list.iter().filter(|x| x.0 < dst).count();
                assert_eq!(gallop(&list, VertexId(dst)), expected, "length {len}, {dst}");
            }
        }
    }
}
