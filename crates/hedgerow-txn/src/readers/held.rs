//! Readers that stay: a table of timestamps with counts, in place of slots (rule R5, invariant I26).
//!
//! # Protocol
//! * Mover: under the lock, enter the timestamp, *then* free the slot if it still holds that timestamp, else take the
//!   entry back.
//! * Reader that closes: free the slot if it holds its timestamp; if not, take one entry of that timestamp away.
//! * Scanner: read the slots, *then* the table.
//!
//! What a slot and the table say of a timestamp is a number of readers, not which ones: a slot that one reader of a
//! timestamp left, and another took, may be freed by either of the two.

use std::collections::BTreeMap;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicUsize, Mutex, Ordering};

use super::{FREE, Slot, timestamp_in};

/// The table of a registry.
#[derive(Default)]
pub(super) struct HeldReaders {
    counts: Mutex<BTreeMap<Timestamp, usize>>,
    /// The number of timestamps in the table: whoever reads 0 after the slots need not look.
    distinct: AtomicUsize,
}

impl HeldReaders {
    /// Moves the readers of `slots` here; not if somebody is at the table and the reader does not want to `wait`.
    pub(super) fn make_room<'a>(&self, slots: impl Iterator<Item = &'a Slot>, wait: bool) {
        let lock = if wait { Some(self.counts.lock()) } else { self.counts.try_lock() };
        let Some(mut counts) = lock else { return };
        for Slot(cell) in slots {
            let value = cell.load(Ordering::Relaxed);
            let Some(ts) = timestamp_in(value) else { continue };
            *counts.entry(ts).or_insert(0) += 1;
            self.distinct.store(counts.len(), Ordering::Release);
            let freed = cell.compare_exchange(value, FREE, Ordering::AcqRel, Ordering::Relaxed);
            if freed.is_err() || faults::is_on(PlantedFault::HeldReaderForgotten) {
                self.take_away(&mut counts, ts);
            }
        }
    }

    /// Takes away a reader of `ts` that was moved here.
    #[cold]
    pub(super) fn close(&self, ts: Timestamp) {
        self.take_away(&mut self.counts.lock(), ts);
    }

    fn take_away(&self, counts: &mut BTreeMap<Timestamp, usize>, ts: Timestamp) {
        if let Some(count) = counts.get_mut(&ts) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&ts);
                self.distinct.store(counts.len(), Ordering::Release);
            }
        }
    }

    /// Whether nobody is here. Acquires what those who were here did.
    pub(super) fn is_empty(&self) -> bool {
        self.distinct.load(Ordering::Acquire) == 0
    }

    /// The newest timestamp in `begin..end`. O(log n) of the timestamps held.
    pub(super) fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let counts = (begin < end).then(|| self.counts.lock())?;
        counts.range(begin..end).next_back().map(|(&ts, _)| ts)
    }

    /// The oldest timestamp.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.counts.lock().first_key_value().map(|(&ts, _)| ts)
    }

    /// All timestamps, ascending. O(n).
    pub(super) fn timestamps(&self) -> Vec<Timestamp> {
        self.counts.lock().keys().copied().collect()
    }

    /// About the bytes of the table, whose nodes are half full when timestamps come in order.
    pub(super) fn bytes(&self) -> usize {
        2 * self.distinct.load(Ordering::Relaxed) * size_of::<(Timestamp, usize)>()
    }
}
