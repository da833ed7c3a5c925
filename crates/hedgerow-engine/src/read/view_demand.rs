//! What reads of chains cost, and what a snapshot has spent on them so far.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// What reads of chains cost at least, in nanoseconds.
pub(super) mod cost {
    use super::Cost;

    pub(in crate::read) const EXISTENCE: Cost = Cost::new(8, 16);
    pub(in crate::read) const DEGREE: Cost = Cost::new(8, 16);
    /// Of a vertex of which a delta may have entries.
    pub(in crate::read) const DEGREE_BESIDE_DELTA: Cost = Cost::new(35, 90);
    pub(in crate::read) const EDGE: Cost = Cost::new(35, 130);
    pub(in crate::read) const LIST: Cost = Cost::new(120, 230);
    /// A list by a cursor that has read another one of the subgraph.
    pub(in crate::read) const LIST_IN_ORDER: Cost = Cost::new(15, 25);
}

/// More repetitions are counted as so many, so that no sum overflows into the upper half.
const MOST_TIMES: u32 = 1 << 10;

/// Nanoseconds in a graph that the processor's cache holds, and, in the upper half, in a larger one. Sums of costs are costs.
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

/// What the reads of a snapshot have cost, and from when on they make the view.
///
/// All threads that read the snapshot write here, each once in some microseconds; room before and after keeps that off the cache
/// lines that they read for each vertex.
#[repr(C)]
pub(super) struct ViewDemand {
    _before: [u64; 8],
    /// Vertices that reads of many have asked for.
    pub(super) keys: AtomicU64,
    /// Nanoseconds that single reads have cost.
    pub(super) spent: AtomicU64,
    /// The next look at the price is due once so much is spent.
    pub(super) due: AtomicU64,
    /// Whoever holds it looks at the price or makes the view; others walk chains meanwhile. Poisoned by a panic in that.
    pub(super) price: Mutex<Price>,
    _after: [u64; 8],
}

/// What is known of the price of the view.
#[derive(Clone, Copy)]
pub(super) enum Price {
    Unknown,
    /// It is this much if nothing is copied.
    AtLeast,
    /// As a sample of the subgraphs tells.
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
