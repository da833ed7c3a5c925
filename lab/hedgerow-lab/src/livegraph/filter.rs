//! The Bloom filter of a block (section 4).
//!
//! Blocked (Putze et al., "Cache-, hash- and space-efficient Bloom filters"): all bits of an id lie in one
//! bucket of 32 bytes, so that a question costs one cache miss. Two bits in each of the four words of the
//! bucket. Nothing is taken out: a filter is filled anew when its list is copied to another block.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::VertexId;

/// The words of a bucket.
const BUCKET: usize = 4;
/// Odd, with the bits mixed: 2^64 divided by the golden ratio, and a multiplier of the MurmurHash finalizer.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX: u64 = 0xff51_afd7_ed55_8ccd;

/// The bucket of `target` in a filter, and what is set in its words; none if the filter has no room for a
/// bucket.
#[inline]
fn bits(filter: &[AtomicU64], target: VertexId) -> Option<(&[AtomicU64], [u64; BUCKET])> {
    let hash = (u64::from(target.0) + 1).wrapping_mul(SPREAD);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(MIX);
    // The number of buckets is a power of two; the bits within are taken from the other end.
    let bucket = hash as usize & (filter.len() / BUCKET).checked_sub(1)?;
    let bucket = filter.get(bucket * BUCKET..(bucket + 1) * BUCKET)?;
    let bit = |i: usize| 1u64 << ((hash >> (58 - 6 * i)) & 63);
    // Eight numbers of six bits: the last two share bits with the number of a bucket only in filters of more
    // than 64 Ki buckets.
    Some((bucket, std::array::from_fn(|word| bit(2 * word) | bit(2 * word + 1))))
}

/// Adds an id. Under the lock of the list.
#[inline]
pub(super) fn insert(filter: &[AtomicU64], target: VertexId) {
    let Some((bucket, bits)) = bits(filter, target) else { return };
    for (word, bits) in bucket.iter().zip(bits) {
        word.store(word.load(Relaxed) | bits, Relaxed);
    }
}

/// Whether the id may have been added: always, without a filter.
#[inline]
pub(super) fn may_have(filter: &[AtomicU64], target: VertexId) -> bool {
    let Some((bucket, bits)) = bits(filter, target) else { return true };
    bucket.iter().zip(bits).fold(true, |all, (word, bits)| all & (word.load(Relaxed) & bits == bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_little_else() {
        for words in [4, 16, 256] {
            let filter: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
            // As many as a full block has: 11 bits each.
            let ids = words * 64 / 11;
            (0..ids as u32).for_each(|id| insert(&filter, VertexId(id * 3)));
            assert!((0..ids as u32).all(|id| may_have(&filter, VertexId(id * 3))));
            let wrong = (0..10_000).filter(|id| may_have(&filter, VertexId(id * 3 + 1))).count();
            assert!(wrong < 400, "{wrong} of 10,000 with {words} words");
        }
        assert!(may_have(&[], VertexId(7)));
        let filter: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
        assert!(!may_have(&filter, VertexId(u32::MAX)), "any id can be asked for");
    }
}
