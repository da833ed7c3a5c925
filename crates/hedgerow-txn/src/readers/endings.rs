//! Which registrations ended, for whoever waits for that (invariant I27).
//!
//! # Protocol
//! * Reader that closes: give the registration up; full fence; if endings are watched, note the timestamp.
//! * Who waits: begin to watch; full fence; scan; wait only for timestamps that the scan shows.
//!
//! If the reader's fence comes first, the scan does not show it. Otherwise the reader sees that endings are watched.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, Mutex, Ordering, fence};

/// The endings of a registry.
#[derive(Default)]
pub(super) struct Endings {
    watched: AtomicBool,
    any: AtomicBool,
    noted: Mutex<Vec<Timestamp>>,
}

impl Endings {
    /// Whether the ending of a registration that was given up is to be noted.
    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        fence(Ordering::SeqCst);
        self.watched.load(Ordering::Relaxed)
    }

    #[cold]
    pub(super) fn note(&self, ts: Timestamp) {
        self.noted.lock().push(ts);
        self.any.store(true, Ordering::Release);
    }

    /// Begins or ends to watch: a scan fences after this.
    pub(super) fn watch(&self, watch: bool) {
        self.watched.store(watch, Ordering::Relaxed);
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
