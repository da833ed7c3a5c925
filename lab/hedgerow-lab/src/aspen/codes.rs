//! The coding of a chunk's ids as bytes: byte codes of the first id and of the differences between ids, or 4
//! bytes for each id.
//!
//! A byte code has seven bits of a number in each byte, the lowest bits first. The highest bit of a byte says
//! that another byte follows. A reader takes eight bytes at a time. If all codes in them have one byte, it
//! reads eight ids at once. If all codes have one or two bytes, it reads four ids; else it reads one id. It
//! finds the ends of codes by counting bits instead of by branches.

use std::ops::Range;

use hedgerow_core::VertexId;

/// The highest bit of each byte; it is 0 in the last byte of a code.
const LAST: u64 = 0x8080_8080_8080_8080;
/// The largest number of bytes in a code.
const LONGEST: usize = 5;
/// The number of ids that a search reads at a time.
pub(super) const PIECE: usize = 32;

/// Returns the byte code of a number, and its number of bytes.
#[inline]
fn code(n: u32) -> (u64, usize) {
    let n = u64::from(n);
    let spread =
        n & 0x7f | (n & 0x3f80) << 1 | (n & 0x1f_c000) << 2 | (n & 0xfe0_0000) << 3 | (n & 0xf000_0000) << 4;
    let len = (u64::BITS - (n | 1).leading_zeros()).div_ceil(7) as usize;
    let others = (1 << (8 * (len - 1))) - 1;
    (spread | LAST & others, len)
}

/// Returns the number of a byte code.
#[inline]
fn number(code: u64) -> u32 {
    let n = code & 0x7f
        | code >> 1 & 0x3f80
        | code >> 2 & 0x1f_c000
        | code >> 3 & 0xfe0_0000
        | code >> 4 & 0xf000_0000;
    n as u32
}

/// Appends the bytes of ascending ids.
pub(super) fn write(ids: &[VertexId], difference: bool, bytes: &mut Vec<u8>) {
    let mut at = bytes.len();
    if !difference {
        bytes.resize(at + 4 * ids.len(), 0);
        let places = bytes[at..].as_chunks_mut::<4>().0;
        places.iter_mut().zip(ids).for_each(|(place, id)| *place = id.0.to_le_bytes());
        return;
    }
    // Each write copies eight bytes, more than the longest code has, so the buffer needs more room at its
    // end.
    bytes.resize(at + LONGEST * ids.len() + 8, 0);
    let mut before = 0;
    for id in ids {
        let (code, len) = code(id.0 - before);
        bytes[at..at + 8].copy_from_slice(&code.to_le_bytes());
        at += len;
        before = id.0;
    }
    bytes.truncate(at);
}

/// Appends one byte code.
pub(super) fn push(difference: u32, bytes: &mut Vec<u8>) {
    let (code, len) = code(difference);
    bytes.extend_from_slice(&code.to_le_bytes()[..len]);
}

/// Returns the number of the first byte code, and the bytes after it.
#[inline]
pub(super) fn split_first(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let len = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (code, rest) = bytes.split_at(len);
    let number = code.iter().rev().fold(0u32, |n, byte| n.wrapping_shl(7) | u32::from(byte & 0x7f));
    Some((number, rest))
}

/// The place of an id among ids in byte codes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The number of smaller ids.
    pub(super) rank: usize,
    /// The greatest smaller id, or 0.
    pub(super) before: u32,
    /// The first id that is not smaller.
    pub(super) next: Option<u32>,
    /// The bytes of the code of `next`.
    pub(super) code: Range<usize>,
}

impl Place {
    /// Returns the place of `target`. Reads whole pieces while all their ids are smaller, and then id by id.
    pub(super) fn of(target: u32, bytes: &[u8]) -> Place {
        let (mut reader, mut piece, mut rank) = (Reader::new(bytes, true), [VertexId(0); PIECE], 0);
        loop {
            let mut further = reader;
            let read = further.read(&mut piece);
            if read == 0 || piece[read - 1].0 >= target {
                break;
            }
            rank += read;
            reader = further;
        }
        loop {
            let (start, before) = (bytes.len() - reader.bytes.len(), reader.id);
            let next = (reader.read_bytes(&mut piece[..1]) > 0).then_some(piece[0].0);
            if next.is_none_or(|next| next >= target) {
                return Place { rank, before, next, code: start..bytes.len() - reader.bytes.len() };
            }
            rank += 1;
        }
    }
}

/// A reader of ids from bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    /// The bytes that are not read yet.
    bytes: &'a [u8],
    /// The last id that was read, or 0.
    id: u32,
    difference: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], difference: bool) -> Self {
        Reader { bytes, id: 0, difference }
    }

    /// True if all ids are read.
    pub(super) fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Fills `ids` from the remaining ids. Returns the number of ids that it read.
    #[inline]
    pub(super) fn read(&mut self, ids: &mut [VertexId]) -> usize {
        if self.difference {
            let read = self.read_words(ids);
            return read + self.read_bytes(&mut ids[read..]);
        }
        let read = ids.len().min(self.bytes.len() / 4);
        let (here, rest) = self.bytes.split_at(4 * read);
        let here = here.as_chunks::<4>().0;
        ids.iter_mut().zip(here).for_each(|(id, bytes)| *id = VertexId(u32::from_le_bytes(*bytes)));
        self.bytes = rest;
        read
    }

    /// Reads ids while there are eight bytes, and room for eight ids.
    #[inline]
    fn read_words(&mut self, ids: &mut [VertexId]) -> usize {
        let (mut bytes, mut id, mut read) = (self.bytes, self.id, 0);
        while let (Some(word), Some(room)) = (bytes.first_chunk::<8>(), ids[read..].first_chunk_mut::<8>()) {
            let word = u64::from_le_bytes(*word);
            let (last, more) = (!word & LAST, word & LAST);
            let taken = if last == LAST {
                for (i, place) in room.iter_mut().enumerate() {
                    id = id.wrapping_add((word >> (8 * i)) as u32 & 0x7f);
                    *place = VertexId(id);
                }
                read += 8;
                8
            } else if more & more << 8 == 0 {
                // No code has three bytes, so at least four end here.
                let (mut ends, mut from) = (last, 0);
                for place in &mut room[..4] {
                    let end = ends.trailing_zeros();
                    let code = word >> from & ((2 << (end - from)) - 1);
                    id = id.wrapping_add((code & 0x7f | code >> 1 & 0x3f80) as u32);
                    *place = VertexId(id);
                    ends &= ends.wrapping_sub(1);
                    from = end + 1;
                }
                read += 4;
                (from / 8) as usize
            } else {
                let end = last.trailing_zeros();
                id = id.wrapping_add(number(word & (u64::MAX >> (63 - end))));
                room[0] = VertexId(id);
                read += 1;
                (end / 8 + 1) as usize
            };
            bytes = &bytes[taken..];
        }
        (self.bytes, self.id) = (bytes, id);
        read
    }

    /// Reads ids byte by byte.
    #[inline]
    fn read_bytes(&mut self, ids: &mut [VertexId]) -> usize {
        let mut read = 0;
        for place in ids {
            let Some((difference, rest)) = split_first(self.bytes) else { break };
            self.id = self.id.wrapping_add(difference);
            *place = VertexId(self.id);
            self.bytes = rest;
            read += 1;
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_workload::rng::Rng;

    fn check(ids: &[VertexId]) {
        for difference in [false, true] {
            let mut bytes = vec![7];
            write(ids, difference, &mut bytes);
            for room in [1, 3, 8, 20, ids.len() + 8] {
                let mut reader = Reader::new(&bytes[1..], difference);
                let (mut place, mut all) = (vec![VertexId(0); room], Vec::new());
                while !reader.is_done() {
                    let read = reader.read(&mut place);
                    assert!(read > 0, "reading ends");
                    all.extend_from_slice(&place[..read]);
                }
                assert_eq!(all, ids);
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut rng = Rng::new(5);
        check(&[]);
        check(&[0, 1, 127, 128, 255, 16_383 + 255, u32::MAX - 1].map(VertexId));
        for bits in 1..=32 {
            for len in [1, 7, 40, 300] {
                let mut ids: Vec<VertexId> = (0..len)
                    .map(|_| VertexId((rng.below(u64::from(u32::MAX)) as u32) >> (32 - bits)))
                    .collect();
                ids.sort_unstable();
                ids.dedup();
                check(&ids);
            }
        }
    }

    #[test]
    fn places_are_those_of_a_search() {
        let mut rng = Rng::new(6);
        for bound in [100, 2_000, 1 << 31] {
            let mut ids: Vec<VertexId> = (0..90).map(|_| VertexId(rng.below(bound) as u32)).collect();
            ids.sort_unstable();
            ids.dedup();
            let mut bytes = Vec::new();
            write(&ids, true, &mut bytes);
            for target in ids.iter().flat_map(|id| [id.0.saturating_sub(1), id.0, id.0 + 1]) {
                let rank = ids.partition_point(|id| id.0 < target);
                let place = Place::of(target, &bytes);
                let before = rank.checked_sub(1).map_or(0, |at| ids[at].0);
                let next = ids.get(rank).map(|id| id.0);
                assert_eq!((place.rank, place.before, place.next), (rank, before, next));
                let mut code = Vec::new();
                if let Some(next) = next {
                    push(next - before, &mut code);
                }
                assert_eq!(bytes[place.code], code);
            }
        }
    }

    #[test]
    fn numbers_on_the_bounds_of_codes_have_the_bytes_they_need() {
        for (n, len) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (1 << 21, 4), (u32::MAX, 5)] {
            let (code, bytes) = code(n);
            assert_eq!((number(code), bytes), (n, len));
        }
    }
}
