//! The close log: closing readers record their timestamps while a version waits for readers (invariant I27).
//!
//! # Protocol
//! * Closing reader: end the registration; full fence; if the log watches its timestamp, record it.
//! * Waiting side: start the watch; full fence; scan; wait only for timestamps that the scan shows.
//!
//! If the reader's fence comes first, the scan does not show the reader. Otherwise the reader sees the watch.
//! The log watches timestamps up to the newest one that a version waits for. So newer snapshots, which are
//! the most, record nothing.
//!
//! A reader records its timestamp in one of a few cells. If these are taken, it sets a flag that there were
//! more, and the waiting side then checks every timestamp that it waits for. So a close takes no lock and
//! never waits.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Ordering, fence};

/// The number of closes that the log can record by timestamp before the waiting side takes them.
const CELLS: usize = if cfg!(feature = "model-checking") { 2 } else { 256 };
/// The number of cells that a reader tries.
const PROBES: usize = if cfg!(feature = "model-checking") { 1 } else { 4 };
/// The value of a cell without a timestamp.
const EMPTY: u64 = u64::MAX;

/// The closes of a registry's readers.
pub(super) struct CloseLog {
    /// The log watches timestamps before this one.
    watched: AtomicU64,
    any: AtomicBool,
    cells: Box<[AtomicU64]>,
    /// True if registrations ended for which no cell was free.
    more: AtomicBool,
}

/// Registrations that ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// The timestamps that cells recorded.
    pub timestamps: Vec<Timestamp>,
    /// True if further registrations at watched timestamps ended.
    pub more: bool,
}

impl Default for CloseLog {
    fn default() -> Self {
        CloseLog {
            watched: AtomicU64::new(0),
            any: AtomicBool::new(false),
            cells: (0..CELLS).map(|_| AtomicU64::new(EMPTY)).collect(),
            more: AtomicBool::new(false),
        }
    }
}

impl CloseLog {
    /// True if a reader that has ended its registration at `ts` must record its close.
    #[inline]
    pub(super) fn are_watched(&self, ts: Timestamp) -> bool {
        fence(Ordering::SeqCst);
        ts.0 < self.watched.load(Ordering::Relaxed)
    }

    #[cold]
    pub(super) fn note(&self, ts: Timestamp) {
        let first = (ts.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        let noted = (first..first + PROBES).any(|i| self.cells[i % CELLS].note(ts));
        if !noted {
            self.more.swap(true, Ordering::AcqRel);
        }
        self.any.swap(true, Ordering::AcqRel);
    }

    /// Watches timestamps up to `until` at least; the scan after it fences. Two threads must not call it at
    /// once, nor while another calls [`ignore`](Self::ignore).
    pub(super) fn watch(&self, until: Timestamp) {
        if self.watched.load(Ordering::Relaxed) < until.0 {
            self.watched.store(until.0, Ordering::Relaxed);
        }
    }

    /// Stops watching timestamps.
    pub(super) fn ignore(&self) {
        if self.watched.load(Ordering::Relaxed) > 0 {
            self.watched.store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Removes and returns the recorded closes.
    pub(super) fn take(&self) -> Ended {
        if !self.any() {
            return Ended::default();
        }
        // The flag is cleared first: if a close is recorded after its cell was read, the flag is set again.
        self.any.swap(false, Ordering::AcqRel);
        let noted = self.cells.iter().filter(|cell| cell.load(Ordering::Relaxed) != EMPTY);
        let timestamps = noted.map(|cell| cell.swap(EMPTY, Ordering::AcqRel)).filter(|&ts| ts != EMPTY);
        let timestamps = timestamps.map(Timestamp).collect();
        Ended { timestamps, more: self.more.swap(false, Ordering::AcqRel) }
    }
}

/// A cell that records a close.
trait Note {
    fn note(&self, ts: Timestamp) -> bool;
}

impl Note for AtomicU64 {
    /// Records `ts` unless the cell has another timestamp.
    fn note(&self, ts: Timestamp) -> bool {
        // Writes the cell even if it has `ts` already: the thread that takes it must be ordered after this
        // reader's end.
        [EMPTY, ts.0]
            .iter()
            .any(|&seen| self.compare_exchange(seen, ts.0, Ordering::AcqRel, Ordering::Relaxed).is_ok())
    }
}
