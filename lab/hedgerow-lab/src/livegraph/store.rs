//! The block store (section 6): blocks of power-of-two sizes, with a list of free blocks for each size.
//!
//! Blocks of one size are in segments, which never move. The store makes a segment when no block of that size
//! is free. The new segment has a quarter of the words that the size has already, up to 16 MiB. A reader
//! finds a block by its address without a lock or a count, so readers write nothing. All words are atomic: a
//! block that is freed too early would give wrong answers, but no invalid memory access. Segments go back to
//! the allocator only while no reader is active ([`Store::trim`]).

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use hedgerow_core::growing::Growing;
use hedgerow_core::sync::Mutex;

use super::layout::{LEAST_WORDS, ORDERS};

/// The number of bits in the number of a segment.
const SEGMENT_BITS: u32 = 14;
/// The largest number of segments of a size: 256 GiB.
const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// The number of bytes in the first segment of a size, if a block is not larger.
const FIRST_SEGMENT: usize = 4096;
/// The largest number of bytes in a segment, if a block is not larger. A segment is filled with zeros while a
/// transaction waits for it.
const LARGEST_SEGMENT: usize = 16 << 20;

/// The address of a block: its size, its segment, and its number in the segment. 0 is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address(pub(super) u64);

impl Address {
    pub(super) const NONE: Address = Address(0);

    fn new(order: usize, segment: usize, block: usize) -> Address {
        Address((block as u64 + 1) << (6 + SEGMENT_BITS) | (segment as u64) << 6 | order as u64)
    }

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn order(self) -> usize {
        (self.0 & 63) as usize
    }

    #[inline]
    fn segment(self) -> usize {
        (self.0 >> 6) as usize & (SEGMENTS - 1)
    }

    #[inline]
    fn block(self) -> usize {
        (self.0 >> (6 + SEGMENT_BITS)) as usize - 1
    }
}

/// A segment: blocks of one size.
struct Segment {
    words: Box<[AtomicU64]>,
    /// The number of words before the first block, so that blocks begin with cache lines.
    skipped: usize,
    blocks: usize,
}

impl Segment {
    fn new(order: usize, blocks: usize) -> Segment {
        let count = blocks * (LEAST_WORDS << order) + LEAST_WORDS - 1;
        let words: Box<[AtomicU64]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let skipped = words.as_ptr().align_offset(LEAST_WORDS * 8);
        Segment { words, skipped: if skipped < LEAST_WORDS { skipped } else { 0 }, blocks }
    }
}

/// The free blocks of one size.
#[derive(Default)]
struct Free {
    blocks: Vec<Address>,
    /// The segment whose blocks are taken in turn.
    filling: Option<usize>,
    /// The number of blocks that were taken from that segment.
    taken: usize,
    /// The number of words in all segments.
    words: usize,
}

#[derive(Default)]
struct Class {
    segments: Growing<OnceLock<Segment>, SEGMENTS>,
    free: Mutex<Free>,
    /// The lock of the thread that makes a segment, while other threads take and free blocks.
    growing: Mutex<()>,
}

impl Class {
    #[inline]
    fn segment(&self, place: usize) -> Option<&Segment> {
        self.segments.get(place)?.get()
    }

    /// Takes a block, if one is left.
    fn take(&self, order: usize) -> Option<Address> {
        let mut free = self.free.lock();
        if let Some(block) = free.blocks.pop() {
            return Some(block);
        }
        let filling = free.filling?;
        if free.taken == self.segment(filling)?.blocks {
            return None;
        }
        free.taken += 1;
        Some(Address::new(order, filling, free.taken - 1))
    }

    /// Makes the next segment, after no block is left in the segment before. O(segment).
    fn extend(&self, order: usize) {
        let words = (self.free.lock().words / 4).clamp(FIRST_SEGMENT / 8, LARGEST_SEGMENT / 8);
        let segment = Segment::new(order, (words / (LEAST_WORDS << order)).max(1));
        let words = segment.words.len();
        let empty = (0..SEGMENTS).find(|&place| self.segment(place).is_none());
        let place = empty.expect("memory ends before segments do");
        self.segments.get_or_create(place, |_| {}).get_or_init(|| segment);
        let mut free = self.free.lock();
        free.words += words;
        free.filling = Some(place);
        free.taken = 0;
    }
}

/// The blocks of a graph.
pub(super) struct Store {
    classes: [Class; ORDERS],
}

impl Default for Store {
    fn default() -> Self {
        Store { classes: std::array::from_fn(|_| Class::default()) }
    }
}

impl Store {
    /// Returns the words of a block; none for no block.
    #[inline]
    pub(super) fn words(&self, address: Address) -> &[AtomicU64] {
        if address.is_none() {
            return &[];
        }
        let size = LEAST_WORDS << address.order();
        let Some(segment) = self.classes[address.order()].segment(address.segment()) else { return &[] };
        let first = segment.skipped + address.block() * size;
        &segment.words[first..first + size]
    }

    /// Allocates a block of `64 << order` bytes with any content. O(1), or O(segment) if it makes a segment.
    pub(super) fn allocate(&self, order: usize) -> Address {
        let class = &self.classes[order];
        if let Some(block) = class.take(order) {
            return block;
        }
        let _growing = class.growing.lock();
        loop {
            // Another thread may have made a segment or freed a block meanwhile.
            if let Some(block) = class.take(order) {
                return block;
            }
            class.extend(order);
        }
    }

    /// Frees a block that no reader reads. O(1).
    pub(super) fn free(&self, address: Address) {
        if !address.is_none() {
            self.classes[address.order()].free.lock().blocks.push(address);
        }
    }

    /// Returns the bytes of all segments, free blocks included, and of the lists of free blocks.
    pub(super) fn bytes(&self) -> usize {
        let class = |class: &Class| {
            let free = class.free.lock();
            free.words * 8 + free.blocks.capacity() * size_of::<Address>() + class.segments.bytes()
        };
        size_of::<Store>() + self.classes.iter().map(class).sum::<usize>()
    }

    /// Returns the bytes of blocks that were freed and are not used again yet.
    pub(super) fn free_bytes(&self) -> usize {
        let free = |(order, class): (usize, &Class)| class.free.lock().blocks.len() * (64 << order);
        self.classes.iter().enumerate().map(free).sum()
    }

    /// Frees the segments in which no block is used. O(free blocks).
    pub(super) fn trim(&mut self) {
        for class in &mut self.classes {
            let mut free = class.free.lock();
            let slots = (0..SEGMENTS).take_while(|&place| class.segments.get(place).is_some()).count();
            let mut unused = vec![0; slots];
            free.blocks.iter().for_each(|block| unused[block.segment()] += 1);
            if let Some(filling) = free.filling {
                let blocks = class.segments.get(filling).and_then(OnceLock::get).map_or(0, |s| s.blocks);
                unused[filling] += blocks - free.taken;
            }
            let mut gone = vec![false; slots];
            for (place, gone) in gone.iter_mut().enumerate() {
                let Some(slot) = class.segments.get_mut(place) else { break };
                *gone = slot.get().is_some_and(|segment| segment.blocks == unused[place]);
                if *gone {
                    free.words -= slot.take().map_or(0, |segment| segment.words.len());
                }
            }
            free.blocks.retain(|block| !gone[block.segment()]);
            free.blocks.shrink_to_fit();
            free.filling = free.filling.filter(|&filling| !gone[filling]);
            if free.words == 0 {
                class.segments = Growing::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn blocks_are_apart_used_again_and_given_back() {
        let mut store = Store::default();
        let empty = store.bytes();
        let blocks: Vec<Address> = (0..3000).map(|i| store.allocate(i % 5)).collect();
        for (i, &block) in blocks.iter().enumerate() {
            let words = store.words(block);
            assert_eq!((words.len(), words.as_ptr() as usize % 64), (8 << (i % 5), 0));
            words.iter().for_each(|word| word.store(i as u64, Relaxed));
        }
        for (i, &block) in blocks.iter().enumerate() {
            assert!(store.words(block).iter().all(|word| word.load(Relaxed) == i as u64));
        }
        let full = store.bytes();
        blocks.iter().filter(|block| block.order() == 2).for_each(|&block| store.free(block));
        assert_eq!(store.free_bytes(), 600 * 256);
        assert!((0..600).all(|_| store.allocate(2).order() == 2));
        assert_eq!((store.free_bytes(), store.words(Address::NONE).len()), (0, 0));
        blocks.iter().skip(1).for_each(|&block| store.free(block));
        store.trim();
        assert!(store.bytes() < empty + full / 8, "{} of {full} bytes are left", store.bytes());
        assert_eq!(store.words(blocks[0])[0].load(Relaxed), 0);
    }

    #[test]
    fn segments_are_not_larger_than_their_limit() {
        let store = Store::default();
        // Blocks of 256 KiB. Without a limit, the last segment would have a quarter of 128 MiB: 32 MiB.
        let order = 12;
        let (mut before, mut most) = (store.bytes(), 0);
        for _ in 0..512 {
            let words = store.words(store.allocate(order));
            assert!((words.len(), words[0].load(Relaxed)) == (8 << order, 0));
            words[0].store(1, Relaxed);
            most = most.max(store.bytes() - before);
            before = store.bytes();
        }
        assert!((LARGEST_SEGMENT..LARGEST_SEGMENT + (1 << 16)).contains(&most), "{most}");
        let large = store.allocate(ORDERS - 10);
        assert_eq!(store.words(large).len(), 8 << (ORDERS - 10));
    }
}
