//! The bound of the log. A long log since the last checkpoint causes a checkpoint in the background; if it is
//! twice as long, commits wait.

use hedgerow_core::sync::{AtomicU64, Condvar, Mutex, Ordering};
use hedgerow_pager::pager::MeetsDemands;

use crate::state::worker::Worker;

/// The state that commits, checkpoints and the thread in the background share. Positions are bytes of the
/// log.
pub(crate) struct LogBound {
    /// The length of the log since the last checkpoint beyond which one is due; 0 for never.
    limit: u64,
    /// The position before which everything is in the last checkpoint.
    covered: AtomicU64,
    /// The end of the log when the last attempt in the background failed; 0 after a success.
    failed_at: AtomicU64,
    failures: AtomicU64,
    successes: AtomicU64,
    last_error: Mutex<Option<String>>,
    /// True if the store is being closed. `changed` is used with its lock.
    over: Mutex<bool>,
    /// The condition variable of waiting commits.
    changed: Condvar,
    /// The thread, started when a checkpoint is first due.
    pub(super) worker: Option<Worker>,
}

/// Figures for [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) checkpoints: u64,
    pub(crate) failures: u64,
}

impl LogBound {
    /// Makes the bound of the log; it has no effect without a worker, or with a limit of 0. `covered`: from
    /// this position on, the log of an opened store has changes that the checkpoint lacks.
    pub(crate) fn new(limit: u64, covered: u64, worker: Option<Worker>) -> LogBound {
        LogBound {
            limit: if worker.is_some() { limit } else { 0 },
            covered: AtomicU64::new(covered),
            failed_at: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            successes: AtomicU64::new(0),
            last_error: Mutex::new(None),
            over: Mutex::new(false),
            changed: Condvar::new(),
            worker,
        }
    }

    /// Records that a valid checkpoint has everything before `position`.
    pub(crate) fn cover(&self, position: u64) {
        self.covered.fetch_max(position, Ordering::AcqRel);
        self.failed_at.store(0, Ordering::Release);
        *self.last_error.lock() = None;
        self.wake();
    }

    /// Ends the thread, and wakes all waiting commits.
    pub(crate) fn end(&self) {
        *self.over.lock() = true;
        self.changed.notify_all();
        self.wake_thread();
    }

    /// Returns the bytes of the log, which ends at `end`, that no checkpoint covers; `None` if the options
    /// leave all checkpoints to the program.
    pub(crate) fn uncovered(&self, end: u64) -> Option<u64> {
        (self.limit > 0).then(|| end.saturating_sub(self.covered.load(Ordering::Relaxed)))
    }

    /// Counts a checkpoint that was written.
    pub(crate) fn succeeded(&self) {
        self.successes.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the reason why a checkpoint failed.
    pub(crate) fn say(&self, why: String) {
        *self.last_error.lock() = Some(why);
    }

    /// Records that a checkpoint panicked, with the panic's message.
    pub(crate) fn say_panic(&self, panic: &(dyn std::any::Any + Send)) {
        let text = panic.downcast_ref::<&str>().copied();
        let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        self.say(format!("the checkpoint panicked: {}", message.unwrap_or("without a message")));
    }

    /// Records that an attempt failed that began when the log ended at `end`.
    pub(crate) fn failed(&self, end: u64) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.failed_at.store(end.max(1), Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        drop(self.over.lock());
        self.changed.notify_all();
    }

    fn wake_thread(&self) {
        self.worker.iter().for_each(Worker::wake);
    }

    pub(crate) fn figures(&self) -> Figures {
        Figures {
            checkpoints: self.successes.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error.lock().clone()
    }

    /// True if a checkpoint is due when the log ends at `end`. Takes a few nanoseconds.
    #[inline]
    pub(crate) fn is_due(&self, end: u64) -> bool {
        if self.limit == 0 || end <= self.covered.load(Ordering::Relaxed).saturating_add(self.limit) {
            return false;
        }
        let failed_at = self.failed_at.load(Ordering::Relaxed);
        failed_at == 0 || end > failed_at.saturating_add(self.limit / 4)
    }

    /// True if commits must wait for a checkpoint before they append more.
    #[inline]
    pub(crate) fn is_full(&self, end: u64) -> bool {
        let most = self.limit.saturating_mul(2);
        self.limit > 0
            && end > self.covered.load(Ordering::Relaxed).saturating_add(most)
            && self.failed_at.load(Ordering::Relaxed) == 0
            && self.has_thread()
    }

    /// True if the log is so long that commits will soon wait for the checkpoint.
    pub(crate) fn is_late(&self, end: u64) -> bool {
        let late = self.limit.saturating_add(self.limit / 2);
        self.limit > 0 && end > self.covered.load(Ordering::Relaxed).saturating_add(late)
    }

    /// Waits until the log is short enough, or the wait has become pointless.
    #[cold]
    pub(crate) fn wait(&self, end: u64, over: impl Fn() -> bool) {
        self.wake_thread();
        let mut closing = self.over.lock();
        while self.is_full(end) && !*closing && !over() {
            self.changed.wait(&mut closing);
        }
    }
}

impl MeetsDemands for LogBound {
    /// Makes the thread write a checkpoint, or meet the demand of memory. Returns true if a thread exists and
    /// the options allow checkpoints in the background.
    #[cold]
    fn ask(&self) -> bool {
        let Some(worker) = self.worker.as_ref().filter(|_| self.limit > 0) else { return false };
        let has_thread = worker.start(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            self.say(format!("no thread could be started: {error}"));
        });
        worker.wake();
        has_thread
    }

    /// True if a thread exists by now that writes checkpoints, and meets the demands of memory.
    #[inline]
    fn has_thread(&self) -> bool {
        self.limit > 0 && self.worker.as_ref().is_some_and(Worker::has_thread)
    }
}
