//! The memory of a log: its arrays in one arena block, or, for the model checker, cells that it watches.

#[cfg(not(feature = "loom"))]
pub(super) use blocks::Storage;
#[cfg(feature = "loom")]
pub(super) use cells::Storage;

/// Number of entries for each word of the Bloom filter.
pub(super) const ENTRIES_PER_WORD: usize = 8;

/// The arrays of a log: tags (local source and operation), destinations, timestamp offsets, weights.
#[cfg(not(feature = "loom"))]
mod blocks {
    use std::sync::atomic::{AtomicU64, Ordering};

    use hedgerow_core::{VertexId, simd};

    use super::ENTRIES_PER_WORD;
    use crate::arena::{Arena, Block};

    /// The arrays in one arena block, in falling alignment. First the words of the Bloom filter. With
    /// property words: a bit for each entry that lacks one, and `capacity` words. If weighted: `capacity`
    /// weights. Last destinations, timestamp offsets and tags. A log of capacity 0 has no block.
    pub(in crate::delta) struct Storage {
        block: Option<Block>,
        capacity: u32,
        /// The number of words of the block before the property words, and in `weights` before the weights.
        /// The two are equal if there are no property words.
        properties: u32,
        weights: u32,
        weighted: bool,
    }

    // Sharing it is sound: one writer under the latch writes only entries that are not yet published, readers
    // read only published ones.

    impl Storage {
        pub(in crate::delta) fn new(capacity: usize, weighted: bool, worded: bool, arena: &Arena) -> Storage {
            let properties =
                capacity.div_ceil(ENTRIES_PER_WORD) + if worded { capacity.div_ceil(64) } else { 0 };
            let weights = properties + if worded { capacity } else { 0 };
            let bytes = weights * 8 + capacity * if weighted { 17 } else { 9 };
            let block = (capacity > 0).then(|| arena.block(bytes));
            if let Some(block) = &block {
                // SAFETY: the block is new, and begins with these words.
                unsafe { block.start().as_ptr().write_bytes(0, properties * 8) };
            }
            let (properties, weights) = (properties as u32, weights as u32);
            Storage { block, capacity: capacity as u32, properties, weights, weighted }
        }

        #[inline]
        fn capacity(&self) -> usize {
            self.capacity as usize
        }

        #[inline]
        fn filter_words(&self) -> usize {
            self.capacity().div_ceil(ENTRIES_PER_WORD)
        }

        #[inline]
        fn is_worded(&self) -> bool {
            self.properties < self.weights
        }

        /// Returns the word of the Bloom filter with this bit.
        #[inline]
        fn word(&self, bit: usize) -> &AtomicU64 {
            assert!(bit / 64 < self.filter_words());
            // SAFETY: in bounds, aligned as blocks are, written when the block was made, and only accessed
            // like this afterwards.
            unsafe { &*self.start().cast::<AtomicU64>().add(bit / 64) }
        }

        /// Returns the word with the bit of the entry at `at` that is set if the entry lacks a property word.
        #[inline]
        fn lacking(&self, at: usize) -> &AtomicU64 {
            assert!(self.is_worded() && at < self.capacity());
            // SAFETY: as for `word`: these words are behind the words of the filter.
            unsafe { &*self.start().cast::<AtomicU64>().add(self.filter_words() + at / 64) }
        }

        /// Marks the entry at `at`, which is not published yet, as without a property word. The latch makes
        /// this the only writer.
        #[inline]
        pub(in crate::delta) fn lack_property(&self, at: usize) {
            let word = self.lacking(at);
            word.store(word.load(Ordering::Relaxed) | 1 << (at % 64), Ordering::Relaxed);
        }

        /// Writes the property word of an entry that is not published yet.
        #[inline]
        pub(in crate::delta) fn set_property(&self, at: usize, word: u64) {
            assert!(self.is_worded() && at < self.capacity());
            // SAFETY: as for `write`.
            unsafe { self.properties().add(at).write(word) };
        }

        /// Returns the property word of an entry, if it has one.
        #[inline]
        pub(in crate::delta) fn property(&self, at: usize) -> Option<u64> {
            if self.lacking(at).load(Ordering::Relaxed) >> (at % 64) & 1 != 0 {
                return None;
            }
            // SAFETY: in bounds; callers pass indices of published entries, and an entry without a set bit
            // has a word.
            Some(unsafe { self.properties().add(at).read() })
        }

        #[inline]
        pub(in crate::delta) fn prefetch_property(&self, at: usize) {
            simd::prefetch(self.properties().wrapping_add(at));
        }

        #[inline]
        fn properties(&self) -> *mut u64 {
            // SAFETY: within or one past the allocation, by the layout above.
            unsafe { self.start().cast::<u64>().add(self.properties as usize) }
        }

        /// Sets a bit of the Bloom filter. The latch makes this the only writer.
        #[inline]
        pub(in crate::delta) fn filter(&self, bit: usize) {
            let word = self.word(bit);
            word.store(word.load(Ordering::Relaxed) | 1 << (bit % 64), Ordering::Relaxed);
        }

        #[inline]
        pub(in crate::delta) fn filter_has(&self, bit: usize) -> bool {
            self.word(bit).load(Ordering::Relaxed) >> (bit % 64) & 1 != 0
        }

        #[inline]
        pub(in crate::delta) fn prefetch_filter(&self, bit: usize) {
            simd::prefetch(self.start().cast::<u64>().wrapping_add(bit / 64));
        }

        pub(in crate::delta) fn bytes(&self) -> usize {
            self.block.as_ref().map_or(0, Block::bytes)
        }

        #[inline]
        fn start(&self) -> *mut u8 {
            self.block.as_ref().map_or(std::ptr::dangling_mut::<u64>().cast(), |block| block.start().as_ptr())
        }

        #[inline]
        fn weights(&self) -> *mut f64 {
            // SAFETY: within or one past the allocation, by the layout above.
            unsafe { self.start().cast::<f64>().add(self.weights as usize) }
        }

        #[inline]
        fn dsts(&self) -> *mut u32 {
            let skip = if self.weighted { self.capacity() } else { 0 };
            // SAFETY: within or one past the allocation, by the layout above.
            unsafe { self.weights().add(skip).cast() }
        }

        #[inline]
        fn offsets(&self) -> *mut u32 {
            // SAFETY: within or one past the allocation, by the layout above.
            unsafe { self.dsts().add(self.capacity()) }
        }

        #[inline]
        fn tags(&self) -> *mut u8 {
            // SAFETY: within or one past the allocation, by the layout above.
            unsafe { self.offsets().add(self.capacity()).cast() }
        }

        #[inline]
        pub(in crate::delta) fn prefetch(&self, at: usize, scan: bool) {
            let tags = self.tags();
            simd::prefetch(tags.wrapping_add(at));
            simd::prefetch(self.dsts().wrapping_add(at));
            simd::prefetch(self.offsets().wrapping_add(at));
            if self.weighted {
                simd::prefetch(self.weights().wrapping_add(at));
            }
            if self.is_worded() {
                self.prefetch_property(at);
            }
            if scan {
                (0..at).step_by(64).for_each(|i| simd::prefetch(tags.wrapping_add(i)));
            }
        }

        #[inline]
        pub(in crate::delta) fn prefetch_dst(&self, at: usize) {
            simd::prefetch(self.dsts().wrapping_add(at));
        }

        #[inline]
        pub(in crate::delta) fn write(&self, at: usize, tag: u8, dst: VertexId, offset: u32, weight: f64) {
            assert!(at < self.capacity());
            // SAFETY: `at` is inside the allocation; the entry is unpublished, so no reader reads it, and the
            // caller holds the latch, so no other writer does.
            unsafe {
                if self.weighted {
                    self.weights().add(at).write(weight);
                }
                self.dsts().add(at).write(dst.0);
                self.offsets().add(at).write(offset);
                self.tags().add(at).write(tag);
            }
        }

        #[inline]
        pub(in crate::delta) fn tag(&self, at: usize) -> u8 {
            assert!(at < self.capacity());
            // SAFETY: in bounds; callers pass indices of published entries, which are written and final.
            unsafe { self.tags().add(at).read() }
        }

        #[inline]
        pub(in crate::delta) fn dst(&self, at: usize) -> VertexId {
            assert!(at < self.capacity());
            // SAFETY: as for `tag`.
            VertexId(unsafe { self.dsts().add(at).read() })
        }

        #[inline]
        pub(in crate::delta) fn ts(&self, at: usize) -> u32 {
            assert!(at < self.capacity());
            // SAFETY: as for `tag`.
            unsafe { self.offsets().add(at).read() }
        }

        #[inline]
        pub(in crate::delta) fn weight(&self, at: usize) -> f64 {
            assert!(at < self.capacity() && self.weighted);
            // SAFETY: as for `tag`; a weighted log has weights.
            unsafe { self.weights().add(at).read() }
        }

        /// Calls `f` with the first `n` tags and returns its result.
        #[inline]
        pub(in crate::delta) fn with_tags<R>(&self, n: usize, f: impl FnOnce(&[u8]) -> R) -> R {
            assert!(n <= self.capacity());
            // SAFETY: the first `n` tags are published, hence written and never written again.
            f(unsafe { std::slice::from_raw_parts(self.tags(), n) })
        }
    }
}

/// The same arrays as cells that the model checker watches for concurrent access.
#[cfg(feature = "loom")]
mod cells {
    use hedgerow_core::sync::{AtomicU64, Ordering};
    use loom::cell::UnsafeCell;

    use hedgerow_core::VertexId;

    use super::ENTRIES_PER_WORD;
    use crate::arena::Arena;

    pub(in crate::delta) struct Storage {
        cells: Vec<UnsafeCell<(u8, u32, u32, f64)>>,
        filter: Vec<AtomicU64>,
        properties: Vec<UnsafeCell<u64>>,
        lacking: Vec<AtomicU64>,
    }

    // SAFETY: the checker reports any access that breaks the protocol of the module.
    unsafe impl Send for Storage {}
    // SAFETY: as above.
    unsafe impl Sync for Storage {}

    impl Storage {
        pub(in crate::delta) fn bytes(&self) -> usize {
            self.cells.len() * 17
        }

        pub(in crate::delta) fn new(
            capacity: usize,
            _weighted: bool,
            worded: bool,
            _arena: &Arena,
        ) -> Storage {
            let cells = (0..capacity).map(|_| UnsafeCell::new((0, 0, 0, 0.0))).collect();
            let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
            let of_words = if worded { capacity } else { 0 };
            Storage {
                cells,
                filter: zeros(capacity.div_ceil(ENTRIES_PER_WORD)),
                properties: (0..of_words).map(|_| UnsafeCell::new(0)).collect(),
                lacking: zeros(of_words.div_ceil(64)),
            }
        }

        pub(in crate::delta) fn lack_property(&self, at: usize) {
            let word = &self.lacking[at / 64];
            word.store(word.load(Ordering::Relaxed) | 1 << (at % 64), Ordering::Relaxed);
        }

        pub(in crate::delta) fn set_property(&self, at: usize, word: u64) {
            // SAFETY: the checker verifies that no access is concurrent.
            self.properties[at].with_mut(|cell| unsafe { *cell = word });
        }

        pub(in crate::delta) fn property(&self, at: usize) -> Option<u64> {
            let lacks = self.lacking[at / 64].load(Ordering::Relaxed) >> (at % 64) & 1 != 0;
            // SAFETY: the checker verifies that no write is concurrent.
            (!lacks).then(|| self.properties[at].with(|cell| unsafe { *cell }))
        }

        pub(in crate::delta) fn prefetch_property(&self, _at: usize) {}

        pub(in crate::delta) fn filter(&self, bit: usize) {
            let word = &self.filter[bit / 64];
            word.store(word.load(Ordering::Relaxed) | 1 << (bit % 64), Ordering::Relaxed);
        }

        pub(in crate::delta) fn filter_has(&self, bit: usize) -> bool {
            self.filter[bit / 64].load(Ordering::Relaxed) >> (bit % 64) & 1 != 0
        }

        pub(in crate::delta) fn prefetch_filter(&self, _bit: usize) {}

        fn get(&self, at: usize) -> (u8, u32, u32, f64) {
            // SAFETY: the checker verifies that no write is concurrent.
            self.cells[at].with(|cell| unsafe { *cell })
        }

        pub(in crate::delta) fn prefetch(&self, _at: usize, _scan: bool) {}

        pub(in crate::delta) fn prefetch_dst(&self, _at: usize) {}

        pub(in crate::delta) fn write(&self, at: usize, tag: u8, dst: VertexId, offset: u32, weight: f64) {
            // SAFETY: the checker verifies that no access is concurrent.
            self.cells[at].with_mut(|cell| unsafe { *cell = (tag, dst.0, offset, weight) });
        }

        pub(in crate::delta) fn tag(&self, at: usize) -> u8 {
            self.get(at).0
        }

        pub(in crate::delta) fn dst(&self, at: usize) -> VertexId {
            VertexId(self.get(at).1)
        }

        pub(in crate::delta) fn ts(&self, at: usize) -> u32 {
            self.get(at).2
        }

        pub(in crate::delta) fn weight(&self, at: usize) -> f64 {
            self.get(at).3
        }

        pub(in crate::delta) fn with_tags<R>(&self, n: usize, f: impl FnOnce(&[u8]) -> R) -> R {
            let tags: Vec<u8> = (0..n).map(|i| self.tag(i)).collect();
            f(&tags)
        }
    }
}
