//! The stamps by which a view knows which subgraphs changed, kept side by side for a page of the table.

use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{Timestamp, simd};

use crate::grace::Memory;

/// Subgraphs per page: 4096 vertices. Fewer under the model checker: chunks of views pass over its threads'
/// small stacks.
pub const PAGE: usize = if cfg!(feature = "loom") { 8 } else { 64 };

/// The part that the subgraphs of a page of the table share.
///
/// A refresh of a view reads the stamps of all subgraphs: so they are side by side, away from the headers. A
/// writer touches one more line for its stamp, which it can prefetch.
#[repr(align(64))]
pub(crate) struct Home {
    /// The stamps: the timestamp of the last operation applied in the upper 56 bits, and the count of
    /// settlings in the lower 8. Stored under the latch of the subgraph, read without.
    pub(super) stamps: [AtomicU64; STAMPS],
    pub(super) memory: Memory,
}

/// Number of stamps. Under the model checker, which keeps a history of each, one is enough.
pub(super) const STAMPS: usize = if cfg!(feature = "loom") { 1 } else { PAGE };

/// Stamps in a cache line.
const LINE: usize = 64 / size_of::<u64>();

impl Home {
    pub(crate) fn new(memory: Memory) -> Home {
        Home { stamps: std::array::from_fn(|_| AtomicU64::new(0)), memory }
    }

    /// Prefetches the stamps.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.stamps.chunks(LINE).for_each(|line| simd::prefetch(line.as_ptr()));
    }

    /// Returns the stamps of the subgraphs, by place.
    #[inline]
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.stamps.iter().map(|stamp| Stamp(stamp.load(Ordering::Acquire)))
    }

    /// Returns a mask of the places whose stamps are after `bound`, and the sum of all counts of settlings,
    /// each modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        let (mut newer, mut settled) = (0, 0);
        for (at, line) in self.stamps.chunks(LINE).enumerate() {
            // Without a branch for each: the processor would often mispredict which subgraphs changed.
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

/// The stamp of a subgraph, which shows whether it changed: the timestamp of the last operation applied, and
/// the count of settlings (which change the layout only), modulo 256. Ordered by the timestamp first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub(super) u64);

impl Stamp {
    /// The greatest stamp.
    pub(crate) const LAST: Stamp = Stamp(u64::MAX);

    /// Returns the greatest stamp of a subgraph without operations after `t`.
    #[inline]
    pub(crate) fn last_of(t: Timestamp) -> Stamp {
        Stamp(t.0.min(u64::MAX >> 8) << 8 | 0xff)
    }

    /// Returns the timestamp of the last operation applied.
    #[inline]
    pub fn applied(self) -> Timestamp {
        Timestamp(self.0 >> 8)
    }

    /// Returns the count of settlings, modulo 256.
    #[inline]
    pub fn settled(self) -> u8 {
        self.0 as u8
    }
}
