//! The costs of reads of chains, and the sum of the costs of a snapshot's reads.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Least costs of reads of chains, in nanoseconds.
pub(super) mod cost {
    use super::Cost;

    pub(in crate::read) const EXISTENCE: Cost = Cost::new(8, 16);
    pub(in crate::read) const DEGREE: Cost = Cost::new(8, 16);
    /// The cost for a vertex if the subgraph's delta may have entries of it.
    pub(in crate::read) const DEGREE_BESIDE_DELTA: Cost = Cost::new(35, 90);
    pub(in crate::read) const EDGE: Cost = Cost::new(35, 130);
    pub(in crate::read) const LIST: Cost = Cost::new(120, 230);
    /// The cost of a list that a cursor reads after another list of the same subgraph.
    pub(in crate::read) const LIST_IN_ORDER: Cost = Cost::new(15, 25);
}

/// The highest number of repetitions that is counted, so that no sum overflows into the upper half.
const MOST_TIMES: u32 = 1 << 10;

/// Nanoseconds in a graph that fits the processor's cache, and in the upper half, in a larger graph. A sum of
/// costs is a cost.
#[derive(Clone, Copy)]
pub(super) struct Cost(u64);

impl Cost {
    pub(super) const ZERO: Cost = Cost::new(0, 0);

    const fn new(near: u32, far: u32) -> Cost {
        Cost((far as u64) << 32 | near as u64)
    }

    #[inline]
    pub(super) fn plus(self, other: Cost, times: u32) -> Cost {
        Cost(self.0 + other.0 * u64::from(times.min(MOST_TIMES)))
    }

    #[inline]
    pub(super) fn near(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn far(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The cost of a snapshot's reads, and the cost at which they make the view.
///
/// All threads that read the snapshot write here, each once in some microseconds. The padding before and
/// after keeps these writes off the cache lines that the threads read for each vertex.
#[repr(C)]
pub(super) struct ViewDemand {
    _before: [u64; 8],
    /// The number of vertices that bulk reads have asked for.
    pub(super) keys: AtomicU64,
    /// The nanoseconds that single reads have cost.
    pub(super) spent: AtomicU64,
    /// The value of `spent` at which to check the price next.
    pub(super) due: AtomicU64,
    /// The lock of the thread that checks the price or makes the view; other threads walk chains meanwhile. A
    /// panic of that thread poisons it.
    pub(super) price: Mutex<Price>,
    _after: [u64; 8],
}

/// The knowledge of a snapshot about the price of the view.
#[derive(Clone, Copy)]
pub(super) enum Price {
    Unknown,
    /// A lower bound, the price without copies, is known.
    AtLeast,
    /// The price was estimated from a sample of the subgraphs.
    Sampled,
    /// The view was made, or cannot be made.
    Settled,
}

impl Default for ViewDemand {
    fn default() -> ViewDemand {
        ViewDemand {
            _before: [0; 8],
            keys: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            due: AtomicU64::new(0),
            price: Mutex::new(Price::Unknown),
            _after: [0; 8],
        }
    }
}
