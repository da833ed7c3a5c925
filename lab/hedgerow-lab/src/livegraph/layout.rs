//! Where things lie in a block of a transactional edge log.

use std::time::Duration;

use crate::GraphForm;

/// How many sizes of blocks there are: 64 bytes to 8 GiB.
pub(super) const ORDERS: usize = 28;
/// The words of the smallest block: a cache line.
pub(super) const LEAST_WORDS: usize = 8;
/// The words before the entries: how many entries are committed and how many of them are valid; the last
/// commit.
const HEADER_WORDS: usize = 2;
/// The first size with a Bloom filter, which takes a sixteenth of the block: blocks of more than 256 bytes
/// (section 4).
const FIRST_WITH_FILTER: usize = 3;
/// The part of a block that its Bloom filter takes.
const FILTER_PART: usize = 16;

/// The parameters of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveGraphOptions {
    /// Whether larger blocks have Bloom filters. Without them an insertion and a search for an absent edge
    /// read the whole list.
    pub bloom_filters: bool,
    /// After how many timestamps one transaction compacts the lists with invalidated entries, at least 1.
    pub compact_every: u64,
    /// How long a transaction waits for a lock before it rolls back.
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

/// The places in a block of one size, as words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// How many entries it can have.
    pub(super) capacity: usize,
    /// Two targets a word.
    pub(super) targets: usize,
    /// Creation timestamps; 0 where lists have no versions.
    pub(super) created: usize,
    /// Invalidation timestamps; 0 where lists have no versions.
    pub(super) ended: usize,
    /// 0 where all edges weigh 1.
    pub(super) weights: usize,
    /// The Bloom filter, up to the end of the block.
    pub(super) filter: usize,
}

/// The layouts of all sizes of blocks.
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
            // Halves of words that an entry takes.
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

    /// The smallest block for so many entries.
    pub(super) fn order_for(&self, entries: usize) -> usize {
        let fits = |layout: &Layout| layout.capacity >= entries;
        self.layouts.iter().position(fits).expect("a list has fewer entries than there are vertices")
    }
}
