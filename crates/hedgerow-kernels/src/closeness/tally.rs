//! The sums of searches that run together.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::par::ones;

/// The number of searches that run together: a bit of a word for each.
pub(super) const TOGETHER: usize = 64;

/// A sum over the vertices that the levels of searches find.
pub(super) trait Tally: Sync {
    /// Adds the vertices found at this level, each with a word that has a bit for each search that found it.
    /// In a level, each vertex is given to one thread.
    fn add(&self, found: impl Iterator<Item = (usize, u64)>, level: u32);
}

/// The number of searches that have found each vertex, and the sum of the levels.
pub(super) struct PerVertex {
    reached: Vec<AtomicU32>,
    sum: Vec<AtomicU64>,
}

impl PerVertex {
    pub(super) fn new(bound: usize) -> PerVertex {
        let reached = (0..bound).map(|_| AtomicU32::new(0)).collect();
        PerVertex { reached, sum: (0..bound).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Returns for each vertex the number of searches that have found it, and the sum of the levels.
    pub(super) fn into_all(self) -> impl Iterator<Item = (u32, u64)> {
        let reached = self.reached.into_iter().map(AtomicU32::into_inner);
        reached.zip(self.sum.into_iter().map(AtomicU64::into_inner))
    }
}

impl Tally for PerVertex {
    fn add(&self, found: impl Iterator<Item = (usize, u64)>, level: u32) {
        for (v, bits) in found {
            // One thread writes in a level, and joins separate levels: locked instructions are not needed.
            let (reached, sum) = (&self.reached[v], &self.sum[v]);
            reached.store(reached.load(Relaxed) + bits.count_ones(), Relaxed);
            let more = u64::from(bits.count_ones()) * u64::from(level);
            sum.store(sum.load(Relaxed) + more, Relaxed);
        }
    }
}

/// The number of vertices that each search has found, and the sum of the levels.
pub(super) struct PerSource {
    reached: [AtomicU64; TOGETHER],
    sum: [AtomicU64; TOGETHER],
}

impl Default for PerSource {
    fn default() -> PerSource {
        PerSource { reached: [const { AtomicU64::new(0) }; _], sum: [const { AtomicU64::new(0) }; _] }
    }
}

impl PerSource {
    /// Returns the number of vertices that a search has found, and the sum of their levels.
    pub(super) fn of(&self, search: usize) -> (u64, u64) {
        (self.reached[search].load(Relaxed), self.sum[search].load(Relaxed))
    }
}

impl Tally for PerSource {
    fn add(&self, found: impl Iterator<Item = (usize, u64)>, level: u32) {
        let mut counts = [0u64; TOGETHER];
        for (_, bits) in found {
            ones(bits).for_each(|search| counts[search as usize] += 1);
        }
        for (search, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            self.reached[search].fetch_add(count, Relaxed);
            self.sum[search].fetch_add(count * u64::from(level), Relaxed);
        }
    }
}
