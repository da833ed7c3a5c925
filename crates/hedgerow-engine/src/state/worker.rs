//! The threads that a store starts: one for each [`Duty`].
//!
//! A worker starts its thread once, at the first need. If the thread cannot be started, the store works
//! without it: the caller that needed it does the work or reports the failure. The thread keeps no handle,
//! and between its turns not even the store's memory. So the last handle is a user's, whose drop closes the
//! store; closing wakes the thread, which then returns. If commits would wait forever without the thread, its
//! panic poisons the store. A thread with another duty catches the panic of a turn, and counts it. A forked
//! child has none of the threads and starts none, since its calls fail before.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};

use hedgerow_io::failpoint::{self, FailPoint};

/// The task of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Duty {
    /// Settles idle subgraphs, and frees versions that snapshots had pinned.
    Settle,
    /// Writes checkpoints when the log is long.
    Checkpoint,
    /// Syncs the log at intervals, under [`Durability::Group`](crate::Durability::Group).
    SyncAtIntervals,
    /// Syncs the log for tickets, under [`Durability::Sync`](crate::Durability::Sync).
    SyncForTickets,
}

impl Duty {
    /// Returns the name of the thread, and the failure point at which tests keep it from starting.
    fn thread(self) -> (&'static str, FailPoint) {
        match self {
            Duty::Settle => ("hedgerow-settle", FailPoint::SettleThread),
            Duty::Checkpoint => ("hedgerow-checkpoint", FailPoint::CheckpointThread),
            Duty::SyncAtIntervals => ("hedgerow-sync", FailPoint::SyncThread),
            Duty::SyncForTickets => ("hedgerow-acks", FailPoint::TicketThread),
        }
    }
}

/// The function that a thread runs until the store is closed.
pub(crate) type Work = Arc<dyn Fn() + Send + Sync>;

/// A thread that a store starts.
pub(crate) struct Worker {
    duty: Duty,
    work: Work,
    /// Set once a start was tried; `None` if that failed.
    thread: OnceLock<Option<Thread>>,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    pub(crate) fn new(duty: Duty, work: Work) -> Worker {
        Worker { duty, work, thread: OnceLock::new(), handle: Mutex::new(None) }
    }

    /// Starts the thread, unless a start was tried before. Returns true if the thread exists; if the start
    /// fails, calls `failed` with the reason.
    pub(crate) fn start(&self, failed: impl FnOnce(std::io::Error)) -> bool {
        let start = || {
            let (work, (name, point)) = (self.work.clone(), self.duty.thread());
            let builder = std::thread::Builder::new().name(name.into());
            let handle = failpoint::reach(point).and_then(|()| builder.spawn(move || work()));
            let handle = handle.map_err(failed).ok()?;
            let thread = handle.thread().clone();
            *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
            Some(thread)
        };
        self.thread.get_or_init(start).is_some()
    }

    /// True if a start of the thread was tried, successfully or not.
    #[inline]
    pub(crate) fn was_started(&self) -> bool {
        self.thread.get().is_some()
    }

    /// True if the thread was started.
    #[inline]
    pub(crate) fn has_thread(&self) -> bool {
        matches!(self.thread.get(), Some(Some(_)))
    }

    /// Makes the thread return from [`std::thread::park`], now or when it next parks. Never waits.
    pub(crate) fn wake(&self) {
        if let Some(Some(thread)) = self.thread.get() {
            thread.unpark();
        }
    }

    #[cfg(test)]
    pub(crate) fn duty(&self) -> Duty {
        self.duty
    }

    /// True if the thread was started and has ended.
    #[cfg(test)]
    pub(crate) fn has_ended(&self) -> bool {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the thread has ended, if there is one.
    pub(crate) fn join(&self) {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        handle.map(JoinHandle::join);
    }
}
