//! Which registrations ended, for whoever waits for that (invariant I27).
//!
//! # Protocol
//! * Reader that closes: give the registration up; full fence; if endings of its timestamp are watched, note it.
//! * Who waits: begin to watch; full fence; scan; wait only for timestamps that the scan shows.
//!
//! If the reader's fence comes first, the scan does not show it. Otherwise the reader sees that endings are watched.
//! They are watched up to the newest timestamp that is waited for: newer snapshots, most of all, have nothing to note.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering, fence};

/// The endings of a registry.
#[derive(Default)]
pub(super) struct Endings {
    /// Endings at timestamps before this are watched.
    watched: AtomicU64,
    any: AtomicBool,
    noted: Mutex<Vec<Timestamp>>,
}

impl Endings {
    /// Whether the ending of a registration at `ts` that was given up is to be noted.
    #[inline]
    pub(super) fn are_watched(&self, ts: Timestamp) -> bool {
        fence(Ordering::SeqCst);
        ts.0 < self.watched.load(Ordering::Relaxed)
    }

    #[cold]
    pub(super) fn note(&self, ts: Timestamp) {
        self.noted.lock().push(ts);
        self.any.store(true, Ordering::Release);
    }

    /// Watches up to `until` at least: a scan fences after this. Not by two threads at once, nor beside
    /// [`ignore`](Self::ignore).
    pub(super) fn watch(&self, until: Timestamp) {
        if self.watched.load(Ordering::Relaxed) < until.0 {
            self.watched.store(until.0, Ordering::Relaxed);
        }
    }

    /// Watches nothing.
    pub(super) fn ignore(&self) {
        if self.watched.load(Ordering::Relaxed) > 0 {
            self.watched.store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Takes out what was noted.
    pub(super) fn take(&self) -> Vec<Timestamp> {
        if !self.any() {
            return Vec::new();
        }
        let mut noted = self.noted.lock();
        self.any.store(false, Ordering::Relaxed);
        std::mem::take(&mut *noted)
    }
}
