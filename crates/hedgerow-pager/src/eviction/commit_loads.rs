//! The bound of what commits load between two checkpoints although they could write to inboxes.
//!
//! A chain that a commit has loaded and changed stays in memory until the next checkpoint, which writes its
//! image. That pays if later commits find the chain in memory. If memory becomes scarce first, the chains
//! were too many: the bound is halved. Each checkpoint that memory did not demand doubles it again.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The share of the limit of chains that commits load when they first need them.
const FIRST: u64 = 4;
/// The share of the limit of all chains that commits load.
const ALL: u64 = 2;
/// The most halvings of the bound.
const MOST_HALVINGS: u32 = 6;

/// The sum of bytes once a load has failed.
const EXHAUSTED: u64 = u64::MAX / 2;

/// The bytes that commits have loaded since the last checkpoint, and their bound.
#[derive(Default)]
pub struct CommitLoads {
    bytes: AtomicU64,
    halvings: AtomicU32,
}

// Relaxed, in all methods: what commits load is bounded only roughly.
impl CommitLoads {
    /// True if a commit may load chains within a memory limit: chains that commits have `needed_often`, or
    /// others.
    pub(crate) fn has_room(&self, limit: u64, needed_often: bool) -> bool {
        let share = limit / if needed_often { ALL } else { FIRST };
        self.bytes.load(Ordering::Relaxed) < share >> self.halvings.load(Ordering::Relaxed)
    }

    /// Counts bytes that a commit has loaded.
    pub(crate) fn note(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that a load failed for lack of memory: until the next checkpoint there is no room for others.
    pub(crate) fn exhaust(&self) {
        self.bytes.store(EXHAUSTED, Ordering::Relaxed);
    }

    /// True if a load has failed since the last checkpoint.
    pub(crate) fn are_exhausted(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= EXHAUSTED
    }

    /// Begins anew after a checkpoint, with twice the bound.
    pub(crate) fn begin(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.halve_by(|before| before.saturating_sub(1));
    }

    /// Notes that memory demands a checkpoint: the bound is halved after this checkpoint.
    pub fn were_too_much(&self) {
        self.halve_by(|before| (before + 2).min(MOST_HALVINGS + 1));
    }

    fn halve_by(&self, halvings: impl Fn(u32) -> u32) {
        let change = |before| Some(halvings(before));
        let _ = self.halvings.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_halved_if_memory_becomes_scarce_and_doubled_if_not() {
        let loads = CommitLoads::default();
        let bound = |limit| {
            (0..).find(|&bytes| {
                loads.bytes.store(bytes, Ordering::Relaxed);
                !loads.has_room(limit, true)
            })
        };
        assert_eq!(bound(1_024), Some(512));
        assert!(!loads.has_room(1_024, false));
        for expected in [256, 128, 64, 32, 16, 8, 8, 8] {
            loads.were_too_much();
            loads.begin();
            assert_eq!(bound(1_024), Some(expected));
        }
        for expected in [16, 32, 64, 128, 256, 512, 512] {
            loads.begin();
            assert_eq!(bound(1_024), Some(expected));
        }
        loads.exhaust();
        loads.note(1);
        assert!(loads.are_exhausted() && !loads.has_room(1_024, true));
        loads.begin();
        assert!(!loads.are_exhausted());
        loads.note(255);
        assert!(loads.has_room(1_024, false));
        loads.note(1);
        assert!(!loads.has_room(1_024, false) && loads.has_room(1_024, true));
    }
}
