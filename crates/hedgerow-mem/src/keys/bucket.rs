//! A bucket of the index: a cache line of twelve slots. A slot has a vertex id, and one byte of the hash of
//! its key, the *tag*.

use hedgerow_core::VertexId;
use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU32, AtomicU64, Ordering};

/// Number of independent parts of an index. The lowest bits of the hash select the part.
pub const PARTS: usize = if cfg!(feature = "model-checking") { 1 } else { 64 };
/// Number of slots of a bucket.
pub(super) const SLOTS: usize = 12;

/// The hash of a key, as the index uses it.
#[derive(Clone, Copy)]
pub(super) struct Hash(pub(super) u64);

impl Hash {
    /// Returns the part of the index that the hash belongs to.
    #[inline]
    pub(super) fn part(self) -> usize {
        self.0 as usize % PARTS
    }

    /// Returns the tag. It is never 0, because 0 is the tag of a free slot.
    #[inline]
    pub(super) fn tag(self) -> u8 {
        ((self.0 >> 8) as u8).max(1)
    }

    #[inline]
    pub(super) fn bucket(self, count: usize) -> usize {
        (((self.0 >> 32) * count as u64) >> 32) as usize
    }
}

/// A bucket: one cache line.
#[repr(align(64))]
pub(super) struct Bucket {
    /// The tags of the first eight slots. A free slot has the tag 0.
    tags: AtomicU64,
    /// The tags of the last four slots.
    last_tags: AtomicU32,
    /// The number of entries that are in later buckets because this bucket was full.
    passed: AtomicU32,
    pub(super) ids: [AtomicU32; SLOTS],
}

impl Default for Bucket {
    fn default() -> Self {
        Bucket {
            tags: AtomicU64::new(0),
            last_tags: AtomicU32::new(0),
            passed: AtomicU32::new(0),
            ids: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }
}

#[inline]
fn tag_of(tags: u64, last: u32, slot: usize) -> u8 {
    match slot.checked_sub(8) {
        None => (tags >> (slot * 8)) as u8,
        Some(slot) => (last >> (slot * 8)) as u8,
    }
}

/// The slots of one bucket whose tags are equal to a given tag, ascending.
///
/// One word has a bit for each slot, so that no branch depends on a single comparison. Such a branch would be
/// unpredictable. After a wrong prediction the processor would lose the work that it began while it waited
/// for a bucket from memory.
#[derive(Clone, Copy)]
pub(super) struct Alike(u32);

impl Iterator for Alike {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

impl Bucket {
    /// Returns the slots whose tags are `tag`.
    #[inline]
    pub(super) fn alike(&self, tag: u8) -> Alike {
        // Acquire: the id of a slot was written before its tag.
        let (tags, last) = (self.tags.load(Ordering::Acquire), self.last_tags.load(Ordering::Acquire));
        Alike(simd::match_12(tags, last, tag))
    }

    /// Returns the first result of `f` among the slots whose tag is `tag`.
    #[inline]
    pub(super) fn find<R>(&self, tag: u8, f: impl FnMut(usize) -> Option<R>) -> Option<R> {
        self.alike(tag).find_map(f)
    }

    #[inline]
    pub(super) fn id(&self, slot: usize) -> VertexId {
        VertexId(self.ids[slot].load(Ordering::Acquire))
    }

    /// True if entries are in later buckets because this one was full.
    #[inline]
    pub(super) fn was_passed(&self) -> bool {
        self.passed.load(Ordering::Acquire) != 0
    }

    /// Sets the tag of a slot. Only for the thread that holds the lock of the part.
    pub(super) fn set_tag(&self, slot: usize, tag: u8) {
        match slot.checked_sub(8) {
            None => {
                let tags = self.tags.load(Ordering::Relaxed) & !(0xff << (slot * 8));
                self.tags.store(tags | u64::from(tag) << (slot * 8), Ordering::Release);
            }
            Some(slot) => {
                let tags = self.last_tags.load(Ordering::Relaxed) & !(0xff << (slot * 8));
                self.last_tags.store(tags | u32::from(tag) << (slot * 8), Ordering::Release);
            }
        }
    }

    /// Takes a free slot for the entry; false if there is none. Only for the thread that holds the lock of
    /// the part.
    pub(super) fn take(&self, tag: u8, id: VertexId) -> bool {
        let slot = self.alike(0).next();
        if let Some(slot) = slot {
            self.ids[slot].store(id.0, Ordering::Release);
            self.set_tag(slot, tag);
        }
        slot.is_some()
    }

    /// Returns the ids in the occupied slots.
    pub(super) fn taken(&self) -> impl Iterator<Item = VertexId> {
        let (tags, last) = (self.tags.load(Ordering::Relaxed), self.last_tags.load(Ordering::Relaxed));
        let taken = (0..SLOTS).filter(move |&slot| tag_of(tags, last, slot) != 0);
        taken.map(|slot| self.id(slot))
    }

    /// Adds `by` to the count of entries that are in later buckets; `u32::MAX` subtracts one. Only for the
    /// thread that holds the lock of the part.
    pub(super) fn pass(&self, by: u32) {
        let passed = self.passed.load(Ordering::Relaxed);
        self.passed.store(passed.wrapping_add(by), Ordering::Release);
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_found_by_its_tag_and_no_other() {
        let bucket = Bucket::default();
        for slot in 0..SLOTS {
            assert_eq!(bucket.alike(0).count(), SLOTS - slot);
            // Two tags that differ in the lowest bit, and two that differ in the highest bit.
            let tag = [1, 0x80, 0x81, 0xff][slot % 4];
            assert!(bucket.take(tag, VertexId(slot as u32)));
        }
        assert!(!bucket.take(7, VertexId(12)));
        let ids = |tag| {
            let mut ids: Vec<u32> = bucket.alike(tag).map(|slot| bucket.id(slot).0).collect();
            ids.sort_unstable();
            ids
        };
        let mut found = Vec::new();
        for tag in 0..=u8::MAX {
            let expected = (0..SLOTS).filter(|&slot| tag_of_slot(&bucket, slot) == tag);
            let mut expected: Vec<u32> = expected.map(|slot| bucket.id(slot).0).collect();
            expected.sort_unstable();
            assert_eq!(ids(tag), expected, "{tag}");
            found.extend(expected);
        }
        assert_eq!(found.len(), SLOTS);
        assert!(ids(0x80).len() == 3 && ids(0).is_empty());
    }

    fn tag_of_slot(bucket: &Bucket, slot: usize) -> u8 {
        tag_of(bucket.tags.load(Ordering::Relaxed), bucket.last_tags.load(Ordering::Relaxed), slot)
    }
}
