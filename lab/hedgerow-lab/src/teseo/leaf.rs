//! A leaf of the fat tree: a sparse array of segments, and the search for the window of a rebalance.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::{Mutex, RwLock};

use super::options::Shape;
use super::segment::Segment;

/// A segment with its latch, on cache lines of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Latched(pub(super) RwLock<Segment>);

impl From<Segment> for Latched {
    fn from(segment: Segment) -> Self {
        Latched(RwLock::new(segment))
    }
}

/// A segment of a container for one user.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Bare(pub(super) Segment);

impl From<Segment> for Bare {
    fn from(segment: Segment) -> Self {
        Bare(segment)
    }
}

/// A part of all keys. A rebalance moves edges among the segments of a leaf.
#[derive(Debug)]
pub(super) struct Leaf<C> {
    pub(super) id: u32,
    pub(super) low: u64,
    pub(super) high: u64,
    /// The low fence key of each segment, for searches. A search checks the fence keys in the segment again.
    fences: Box<[AtomicU64]>,
    pub(super) segments: Box<[C]>,
    /// The lock of a rebalance in this leaf. Its value is true once new leaves have replaced this leaf.
    pub(super) rebalancing: Mutex<bool>,
}

impl<C: From<Segment>> Leaf<C> {
    /// Makes a leaf of at least one segment.
    pub(super) fn new(id: u32, segments: Vec<Segment>) -> Leaf<C> {
        Leaf {
            id,
            low: segments[0].low,
            high: segments[segments.len() - 1].high,
            fences: segments.iter().map(|segment| AtomicU64::new(segment.low)).collect(),
            segments: segments.into_iter().map(C::from).collect(),
            rebalancing: Mutex::new(false),
        }
    }
}

impl<C> Leaf<C> {
    /// Returns the index of the segment that holds `key`, unless a rebalance moves the key meanwhile.
    #[inline]
    pub(super) fn find(&self, key: u64) -> usize {
        self.fences.partition_point(|fence| fence.load(Relaxed) <= key).saturating_sub(1)
    }

    /// Stores new fence keys for the segments from `first` on.
    pub(super) fn set_fences(&self, first: usize, lows: impl Iterator<Item = u64>) {
        self.fences[first..].iter().zip(lows).for_each(|(fence, low)| fence.store(low, Relaxed));
    }

    /// Returns the smallest window around segment `i`, up the calibrator tree, that is not too full. Returns
    /// `None` if the whole leaf is too full. `used` returns the number of words that a segment uses.
    pub(super) fn window(
        &self,
        i: usize,
        shape: &Shape,
        mut used: impl FnMut(usize) -> usize,
    ) -> Option<Range<usize>> {
        let count = self.segments.len();
        let (mut window, mut words, mut width) = (i..i + 1, used(i), 1);
        loop {
            if words <= shape.most(window.len(), count) {
                return Some(window);
            }
            if window.len() == count {
                return None;
            }
            width *= 2;
            let start = i / width * width;
            let wider = start..(start + width).min(count);
            words += (wider.start..window.start).chain(window.end..wider.end).map(&mut used).sum::<usize>();
            window = wider;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.fences) + size_of_val(&*self.segments)
    }
}
