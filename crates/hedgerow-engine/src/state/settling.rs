//! The state of settling between calls, and its thread.

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

use crate::state::worker::Worker;

/// The state of settling between calls.
pub(crate) struct Settling {
    /// The lock of a settling of the whole graph: there is one at a time.
    pub(crate) whole: Mutex<()>,
    /// The published timestamp at which all subgraphs were last settled and laid out in order.
    pub(crate) ordered_at: AtomicU64,
    /// The thread, started at the first merge: a store without merges has little to settle. Without the
    /// thread, only calls of `settle` settle, and commits reclaim the versions that snapshots pinned.
    pub(super) worker: Option<Worker>,
    /// True if the thread sleeps: then a snapshot must wake it at its close if a version waits for that.
    pub(crate) asleep: AtomicBool,
    /// The number of turns of the thread that panicked.
    pub(crate) panics: AtomicU64,
    /// [`Options::after_settling`](crate::Options::after_settling).
    pub(crate) after: Option<fn()>,
}

impl Settling {
    /// Makes the state; a given worker starts at the first merge.
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

    /// True if the thread was started.
    #[inline]
    pub(crate) fn has_thread(&self) -> bool {
        self.worker.as_ref().is_some_and(Worker::has_thread)
    }

    /// Makes the thread check at once, if there is one and it sleeps. Never waits.
    pub(crate) fn wake(&self) {
        if let Some(worker) = &self.worker
            && self.asleep.load(Ordering::Relaxed)
            && self.asleep.swap(false, Ordering::Relaxed)
        {
            worker.wake();
        }
    }

    /// Returns the number of turns of the thread that panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Records that a delta was merged.
    #[inline]
    pub(crate) fn note_merge(&self) {
        if let Some(worker) = &self.worker
            && !worker.was_started()
        {
            worker.start(drop);
        }
    }
}
