//! The Bloom filter of a file: the edges and the vertices that may be in the file.

use hedgerow_core::VertexId;

/// The number of bits for each key.
const BITS: usize = 10;
/// The number of bits that one key sets, all in one cache line.
const SET: u32 = 6;
/// The number of 64-bit words in a cache line.
const LINE: usize = 8;

/// A blocked Bloom filter. It accepts about one in a hundred keys that it does not contain.
#[derive(Debug)]
pub(super) struct Filter {
    lines: Box<[[u64; LINE]]>,
}

/// Returns the two ids of an edge, mixed into one word.
fn edge_key(src: VertexId, dst: VertexId) -> u64 {
    let mut key = u64::from(src.0) << 32 | u64::from(dst.0);
    key = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    key = (key ^ key >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
}

/// Returns the key of a vertex: no edge has this destination.
fn vertex_key(v: VertexId) -> u64 {
    edge_key(v, VertexId(u32::MAX))
}

impl Filter {
    /// Makes a filter for `keys` keys.
    pub(super) fn new(keys: usize) -> Filter {
        let lines = (keys * BITS).div_ceil(64 * LINE).max(1);
        Filter { lines: vec![[0; LINE]; lines].into_boxed_slice() }
    }

    /// Returns the line of a key, and the place of each of its bits there.
    #[inline]
    fn bits(&self, key: u64) -> (usize, impl Iterator<Item = (usize, u64)> + use<>) {
        let line = (((key >> 32) * self.lines.len() as u64) >> 32) as usize;
        let places = (0..SET).map(move |i| {
            let place = (key as u32).wrapping_mul(0x9e37_79b9u32.wrapping_mul(2 * i + 1)) >> 23;
            (place as usize / 64, 1 << (place % 64))
        });
        (line, places)
    }

    fn insert(&mut self, key: u64) {
        let (line, places) = self.bits(key);
        let line = &mut self.lines[line];
        places.for_each(|(word, bit)| line[word] |= bit);
    }

    fn may_have(&self, key: u64) -> bool {
        let (line, mut places) = self.bits(key);
        places.all(|(word, bit)| self.lines[line][word] & bit != 0)
    }

    pub(super) fn insert_edge(&mut self, src: VertexId, dst: VertexId) {
        self.insert(edge_key(src, dst));
    }

    pub(super) fn insert_vertex(&mut self, v: VertexId) {
        self.insert(vertex_key(v));
    }

    /// True if the edge may be in the file. This is always true for an edge that is in the file.
    #[inline]
    pub(super) fn may_have_edge(&self, src: VertexId, dst: VertexId) -> bool {
        self.may_have(edge_key(src, dst))
    }

    /// True if the vertex may be in the file. This is always true for a vertex that is in the file.
    #[inline]
    pub(super) fn may_have_vertex(&self, v: VertexId) -> bool {
        self.may_have(vertex_key(v))
    }

    /// Returns the words of the filter, as they are written to the file.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.lines.iter().flatten().copied()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_is_found_and_little_else() {
        let edge = |i: u32| (VertexId(i % 71), VertexId(i * 31));
        let mut filter = Filter::new(10_000);
        (0..9_000).map(edge).for_each(|(src, dst)| filter.insert_edge(src, dst));
        (0..1_000).for_each(|v| filter.insert_vertex(VertexId(v)));
        assert!((0..9_000).map(edge).all(|(src, dst)| filter.may_have_edge(src, dst)));
        assert!((0..1_000).all(|v| filter.may_have_vertex(VertexId(v))));
        let wrong = (9_000..109_000).map(edge).filter(|&(src, dst)| filter.may_have_edge(src, dst)).count();
        assert!(wrong < 3_000, "{wrong} of 100,000 edges seem to be there");
    }
}
