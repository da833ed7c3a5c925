//! The stamps that show a view which subgraphs changed. The stamps of a page of the table are adjacent.

use hedgerow_core::sync::{AtomicBool, AtomicU64, Ordering};
use hedgerow_core::{Timestamp, simd};

use crate::grace::Memory;

/// Subgraphs per page: 4096 vertices. Fewer under the model checker: chunks of views are passed on the small
/// stacks of its threads.
pub const PAGE: usize = if cfg!(feature = "loom") { 8 } else { 64 };

/// The data that the subgraphs of a page of the table share.
///
/// A refresh of a view reads the stamps of all subgraphs. So they are adjacent, and not in the headers. A
/// writer touches one more cache line for the stamp, which it can prefetch.
#[repr(align(64))]
pub(crate) struct Home {
    /// The stamps: the timestamp of the last operation applied in the upper 56 bits, and the count of
    /// settlings in the lower 8. A stamp is stored under the latch of the subgraph, and read without the
    /// latch.
    pub(super) stamps: [AtomicU64; STAMPS],
    pub(super) memory: Memory,
    /// True if edges have weights.
    pub(super) weighted: bool,
    /// True if the page was evicted from its table (rule P6). Stored under all latches of the page.
    left: AtomicBool,
}

/// Number of stamps. Under the model checker, which keeps a history of each, one is enough.
pub(crate) const STAMPS: usize = if cfg!(feature = "loom") { 1 } else { PAGE };

/// Number of stamps in a cache line.
const LINE: usize = 64 / size_of::<u64>();

impl Home {
    /// Makes the home of subgraphs whose last operations are at or before `since`.
    pub(crate) fn new(memory: Memory, weighted: bool, since: Timestamp) -> Home {
        let stamps = std::array::from_fn(|_| AtomicU64::new(since.0 << 8));
        Home { stamps, memory, weighted, left: AtomicBool::new(false) }
    }

    /// Notes that the page is evicted from its table. The caller holds all its latches.
    pub(crate) fn note_left(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// True if the page was evicted from its table. The caller holds a latch of the page.
    pub(super) fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Prefetches the stamps.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.stamps.chunks(LINE).for_each(|line| simd::prefetch(line.as_ptr()));
    }

    /// Returns the stamps of the subgraphs, by index.
    #[inline]
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.stamps.iter().map(|stamp| Stamp(stamp.load(Ordering::Acquire)))
    }

    /// Returns a mask of the subgraphs whose stamps are after `bound`, and the sum of all counts of
    /// settlings, each count modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        let (mut newer, mut settled) = (0, 0);
        for (at, line) in self.stamps.chunks(LINE).enumerate() {
            // Has no branch per subgraph: the processor would often mispredict it.
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

/// The stamp of a subgraph, which shows whether the subgraph changed. It has the timestamp of the last
/// applied operation, and the count of settlings (which change only the layout), modulo 256. Stamps are
/// ordered by timestamp, then by count.
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
