//! What tells a view which subgraphs changed, kept side by side for those of a page of the table.

use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{Timestamp, simd};

use crate::grace::Memory;

/// Subgraphs per page: 4096 vertices. Fewer under the model checker: chunks of views pass over its threads' small stacks.
pub const PAGE: usize = if cfg!(feature = "loom") { 8 } else { 64 };

/// What the subgraphs of a page of the table share.
///
/// A refresh of a view looks at the stamps of all subgraphs: they lie side by side, away from the headers. A writer
/// touches one line more for it, which it can load ahead.
#[repr(align(64))]
pub(crate) struct Home {
    /// What tells a view whether a subgraph changed: the timestamp of the last operation applied in the upper 56 bits,
    /// and how often it was settled in the lower 8. Stored under the latch of the subgraph, read without.
    pub(super) stamps: [AtomicU64; STAMPS],
    pub(super) memory: Memory,
}

/// Under the model checker, which keeps a history of each, one is enough.
pub(super) const STAMPS: usize = if cfg!(feature = "loom") { 1 } else { PAGE };

/// Stamps in a cache line.
const LINE: usize = 64 / size_of::<u64>();

impl Home {
    pub(crate) fn new(memory: Memory) -> Home {
        Home { stamps: std::array::from_fn(|_| AtomicU64::new(0)), memory }
    }

    /// Starts loading the stamps.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.stamps.chunks(LINE).for_each(|line| simd::prefetch(line.as_ptr()));
    }

    /// The stamps of the subgraphs, by place.
    #[inline]
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.stamps.iter().map(|stamp| Stamp(stamp.load(Ordering::Acquire)))
    }

    /// The places whose stamps are after `bound`, and how often all were settled, each modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        let (mut newer, mut settled) = (0, 0);
        for (at, line) in self.stamps.chunks(LINE).enumerate() {
            // Without a jump for each: which subgraphs changed is a guess that the processor would often get wrong.
            let mut in_line = 0;
            for stamp in line.iter().rev() {
                let Stamp(stamp) = Stamp(stamp.load(Ordering::Acquire));
                in_line = in_line << 1 | u64::from(stamp > bound.0);
                settled += stamp & 0xff;
            }
            newer |= in_line << (at * LINE);
        }
        (newer, settled)
    }
}

/// What tells whether a subgraph changed: when the last operation was applied, and how often it was settled (which changes
/// the layout only), modulo 256. Ordered by the former first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub(super) u64);

impl Stamp {
    /// None is after it.
    pub(crate) const LAST: Stamp = Stamp(u64::MAX);

    /// The last one of a subgraph to which nothing was applied after `t`.
    #[inline]
    pub(crate) fn last_of(t: Timestamp) -> Stamp {
        Stamp(t.0.min(u64::MAX >> 8) << 8 | 0xff)
    }

    /// The timestamp of the last operation applied.
    #[inline]
    pub fn applied(self) -> Timestamp {
        Timestamp(self.0 >> 8)
    }

    /// How often it was settled, modulo 256.
    #[inline]
    pub fn settled(self) -> u8 {
        self.0 as u8
    }
}
