//! The layout of a block of a transactional edge log.

use std::time::Duration;

use crate::GraphForm;

/// The number of block sizes: 64 bytes to 8 GiB.
pub(super) const ORDERS: usize = 28;
/// The number of words in the smallest block: a cache line.
pub(super) const LEAST_WORDS: usize = 8;
/// The number of words before the entries. They hold the number of committed entries, the number of valid
/// ones among them, and the last commit.
const HEADER_WORDS: usize = 2;
/// The first size with a Bloom filter, which takes a sixteenth of the block. Blocks of more than 256 bytes
/// have a filter (section 4).
const FIRST_WITH_FILTER: usize = 3;
/// The ratio of the size of a block to the size of its Bloom filter.
const FILTER_PART: usize = 16;

/// The parameters of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveGraphOptions {
    /// Whether larger blocks have Bloom filters. Without them, an insertion and a search for an absent edge
    /// read the whole list.
    pub bloom_filters: bool,
    /// The number of timestamps after which one transaction compacts the lists with invalidated entries; at
    /// least 1.
    pub compact_every: u64,
    /// The longest time that a transaction waits for a lock before it rolls back.
    pub lock_timeout: Duration,
}

impl Default for LiveGraphOptions {
    fn default() -> Self {
        LiveGraphOptions {
            bloom_filters: true,
            compact_every: 65_536,
            lock_timeout: Duration::from_millis(1),
        }
    }
}

/// The places of the columns in a block of one size, in words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// The number of entries that the block can hold.
    pub(super) capacity: usize,
    /// The first word of the targets; a word holds two targets.
    pub(super) targets: usize,
    /// The first word of the creation timestamps; 0 if lists have no versions.
    pub(super) created: usize,
    /// The first word of the invalidation timestamps; 0 if lists have no versions.
    pub(super) ended: usize,
    /// The first word of the weights; 0 if all weights are 1.
    pub(super) weights: usize,
    /// The first word of the Bloom filter, which ends with the block.
    pub(super) filter: usize,
}

/// The layouts of all block sizes.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    layouts: [Layout; ORDERS],
    pub(super) is_versioned: bool,
}

impl Shape {
    pub(super) fn new(form: GraphForm, versioned: bool, bloom_filters: bool) -> Shape {
        let layout = |order: usize| {
            let words = LEAST_WORDS << order;
            let with_filter = bloom_filters && order >= FIRST_WITH_FILTER;
            let filter = if with_filter { words - words / FILTER_PART } else { words };
            let room = filter - HEADER_WORDS;
            // The number of half words that an entry takes.
            let halves = 1 + if versioned { 4 } else { 0 } + if form.weighted { 2 } else { 0 };
            let capacity = room * 2 / halves;
            let mut place = HEADER_WORDS + capacity.div_ceil(2);
            let mut column = |there: bool| {
                let column = if there { place } else { 0 };
                place += if there { capacity } else { 0 };
                column
            };
            let (created, ended, weights) = (column(versioned), column(versioned), column(form.weighted));
            Layout { capacity, targets: HEADER_WORDS, created, ended, weights, filter }
        };
        Shape { layouts: std::array::from_fn(layout), is_versioned: versioned }
    }

    #[inline]
    pub(super) fn layout(&self, order: usize) -> &Layout {
        &self.layouts[order]
    }

    /// Returns the smallest block size for `entries` entries.
    pub(super) fn order_for(&self, entries: usize) -> usize {
        let fits = |layout: &Layout| layout.capacity >= entries;
        self.layouts.iter().position(fits).expect("a list has fewer entries than there are vertices")
    }
}
