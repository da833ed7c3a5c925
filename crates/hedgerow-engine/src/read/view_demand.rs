//! The costs of reads of chains, and the sum that a snapshot has spent on them.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Least costs of reads of chains, in nanoseconds.
pub(super) mod cost {
    use super::Cost;

    pub(in crate::read) const EXISTENCE: Cost = Cost::new(8, 16);
    pub(in crate::read) const DEGREE: Cost = Cost::new(8, 16);
    /// The cost for a vertex of which a delta may have entries.
    pub(in crate::read) const DEGREE_BESIDE_DELTA: Cost = Cost::new(35, 90);
    pub(in crate::read) const EDGE: Cost = Cost::new(35, 130);
    pub(in crate::read) const LIST: Cost = Cost::new(120, 230);
    /// The cost of a list that a cursor reads after another one of the subgraph.
    pub(in crate::read) const LIST_IN_ORDER: Cost = Cost::new(15, 25);
}

/// The number of repetitions that counts for all greater ones, so that no sum overflows into the upper half.
const MOST_TIMES: u32 = 1 << 10;

/// Nanoseconds in a graph that the processor's cache holds, and, in the upper half, in a larger one. A sum of
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

/// The cost of a snapshot's reads, and the cost from which on they make the view.
///
/// All threads that read the snapshot write here, each once in some microseconds. The padding before and
/// after keeps these writes off the cache lines that the threads read for each vertex.
#[repr(C)]
pub(super) struct ViewDemand {
    _before: [u64; 8],
    /// Number of vertices that bulk reads have asked for.
    pub(super) keys: AtomicU64,
    /// Nanoseconds that single reads have cost.
    pub(super) spent: AtomicU64,
    /// The value of `spent` at which the next look at the price is due.
    pub(super) due: AtomicU64,
    /// The lock of the thread that looks at the price or makes the view; others walk chains meanwhile. A
    /// panic of that thread poisons it.
    pub(super) price: Mutex<Price>,
    _after: [u64; 8],
}

/// The state of what a snapshot knows of the price of the view.
#[derive(Clone, Copy)]
pub(super) enum Price {
    Unknown,
    /// The price without copies is known.
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
