//! What settling remembers between calls, and its thread.

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

use crate::state::worker::Worker;

/// What settling remembers between calls.
pub(crate) struct Settling {
    /// One whole settling at a time.
    pub(crate) whole: Mutex<()>,
    /// The published timestamp at which all subgraphs were last settled and laid out in order.
    pub(crate) ordered_at: AtomicU64,
    /// The thread, started at the first merge: what never merges has little to settle. Without it nothing is settled until
    /// somebody calls `settle`, and commits free what snapshots kept.
    pub(super) worker: Option<Worker>,
    /// Whether the thread sleeps, and wants to be woken when a snapshot closes that something waits for.
    pub(crate) asleep: AtomicBool,
    /// Turns of the thread that panicked.
    pub(crate) panics: AtomicU64,
    /// [`Options::after_settling`](crate::Options::after_settling).
    pub(crate) after: Option<fn()>,
}

impl Settling {
    /// With a worker given, its thread works once there was a merge.
    pub(crate) fn new(worker: Option<Worker>, after: Option<fn()>) -> Settling {
        Settling {
            whole: Mutex::new(()),
            ordered_at: AtomicU64::new(u64::MAX),
            worker,
            asleep: AtomicBool::new(false),
            panics: AtomicU64::new(0),
            after,
        }
    }

    /// Whether the thread was started.
    #[inline]
    pub(crate) fn has_thread(&self) -> bool {
        self.worker.as_ref().is_some_and(Worker::has_thread)
    }

    /// Has the thread look at once, if there is one and it sleeps. Never waits.
    pub(crate) fn wake(&self) {
        if let Some(worker) = &self.worker
            && self.asleep.load(Ordering::Relaxed)
            && self.asleep.swap(false, Ordering::Relaxed)
        {
            worker.wake();
        }
    }

    /// How many turns of the thread panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Notes that a delta was merged.
    #[inline]
    pub(crate) fn note_merge(&self) {
        if let Some(worker) = &self.worker
            && !worker.was_started()
        {
            worker.start(drop);
        }
    }
}
