//! The Bloom filter of a block (section 4).
//!
//! The filter is blocked (Putze et al., "Cache-, hash- and space-efficient Bloom filters"). All bits of an id
//! are in one bucket of 32 bytes, so that a lookup costs one cache miss. An id has two bits in each of the
//! four words of its bucket. No id is ever removed: a filter is filled anew when its list is copied to
//! another block.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::VertexId;

/// The number of words in a bucket.
const BUCKET: usize = 4;
/// Odd multipliers with mixed bits: 2^64 divided by the golden ratio, and a multiplier of the MurmurHash
/// finalizer.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX: u64 = 0xff51_afd7_ed55_8ccd;

/// Returns the bucket of `target` in a filter, and the bits of `target` in each word of the bucket. Returns
/// none if the filter has no room for a bucket.
#[inline]
fn bits(filter: &[AtomicU64], target: VertexId) -> Option<(&[AtomicU64], [u64; BUCKET])> {
    let hash = (u64::from(target.0) + 1).wrapping_mul(SPREAD);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(MIX);
    // The number of buckets is a power of two. The low bits of the hash choose the bucket, and its high bits
    // choose the bits in the bucket.
    let bucket = hash as usize & (filter.len() / BUCKET).checked_sub(1)?;
    let bucket = filter.get(bucket * BUCKET..(bucket + 1) * BUCKET)?;
    let bit = |i: usize| 1u64 << ((hash >> (58 - 6 * i)) & 63);
    // These are eight numbers of six bits. The last two share bits with the number of the bucket only if the
    // filter has more than 64 Ki buckets.
    Some((bucket, std::array::from_fn(|word| bit(2 * word) | bit(2 * word + 1))))
}

/// Adds an id. Called under the lock of the list.
#[inline]
pub(super) fn insert(filter: &[AtomicU64], target: VertexId) {
    let Some((bucket, bits)) = bits(filter, target) else { return };
    for (word, bits) in bucket.iter().zip(bits) {
        word.store(word.load(Relaxed) | bits, Relaxed);
    }
}

/// True if the id may have been added; always true without a filter.
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
            // As many ids as a full block has: 11 bits for each id.
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
