//! The bound of the log: a checkpoint in the background when the log since the last one is long, and commits that wait
//! when it is twice as long.

use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{AtomicU64, Condvar, Mutex, Ordering};
use hedgerow_io::failpoint::{self, FailPoint};

/// What the thread that writes checkpoints does until the store is closed.
pub(crate) type CheckpointRun = Arc<dyn Fn(&LogBound) + Send + Sync>;

/// What commits, checkpoints and the thread in the background share. Positions are bytes of the log.
pub(crate) struct LogBound {
    /// A checkpoint is due when the log since the last one is longer; 0 for never.
    limit: u64,
    /// Everything before this position is in the last checkpoint.
    covered: AtomicU64,
    /// Where the log was when the last attempt in the background failed; 0 after a success.
    failed_at: AtomicU64,
    failures: AtomicU64,
    successes: AtomicU64,
    last_error: Mutex<Option<String>>,
    state: Mutex<State>,
    changed: Condvar,
    /// What the thread does until the store is closed.
    run: Option<CheckpointRun>,
    started: OnceLock<bool>,
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    over: bool,
}

/// Figures for [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) checkpoints: u64,
    pub(crate) failures: u64,
}

impl LogBound {
    /// With work given, and a limit above 0, the log is kept bounded. `covered` is where the log of an opened store
    /// begins to hold what the checkpoint does not.
    pub(crate) fn new(limit: u64, covered: u64, run: Option<CheckpointRun>) -> Arc<LogBound> {
        Arc::new(LogBound {
            limit: if run.is_some() { limit } else { 0 },
            covered: AtomicU64::new(covered),
            failed_at: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            successes: AtomicU64::new(0),
            last_error: Mutex::new(None),
            state: Mutex::default(),
            changed: Condvar::new(),
            run,
            started: OnceLock::new(),
        })
    }

    /// Everything before `position` is in a checkpoint that holds.
    pub(crate) fn cover(&self, position: u64) {
        self.covered.fetch_max(position, Ordering::AcqRel);
        self.failed_at.store(0, Ordering::Release);
        *self.last_error.lock() = None;
        self.wake();
    }

    /// Ends the thread and lets everybody go who waits.
    pub(crate) fn end(&self) {
        self.state.lock().over = true;
        self.changed.notify_all();
    }

    /// Waits until a checkpoint is asked for; false once the store is closed.
    pub(crate) fn next_asked(&self) -> bool {
        let mut state = self.state.lock();
        while !state.asked && !state.over {
            self.changed.wait(&mut state);
        }
        state.asked = false;
        !state.over
    }

    /// A checkpoint was written.
    pub(crate) fn succeeded(&self) {
        self.successes.fetch_add(1, Ordering::Relaxed);
    }

    /// A checkpoint failed, and why.
    pub(crate) fn say(&self, why: String) {
        *self.last_error.lock() = Some(why);
    }

    /// The attempt failed that began when the log ended at `end`.
    pub(crate) fn failed(&self, end: u64) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.failed_at.store(end.max(1), Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        drop(self.state.lock());
        self.changed.notify_all();
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

    /// Whether a checkpoint is due when the log ends at `end`. A few nanoseconds.
    #[inline]
    pub(crate) fn is_due(&self, end: u64) -> bool {
        if self.limit == 0 || end <= self.covered.load(Ordering::Relaxed).saturating_add(self.limit) {
            return false;
        }
        let failed_at = self.failed_at.load(Ordering::Relaxed);
        failed_at == 0 || end > failed_at.saturating_add(self.limit / 4)
    }

    /// Whether commits must wait for a checkpoint before they append more.
    #[inline]
    pub(crate) fn is_full(&self, end: u64) -> bool {
        let most = self.limit.saturating_mul(2);
        self.limit > 0
            && end > self.covered.load(Ordering::Relaxed).saturating_add(most)
            && self.failed_at.load(Ordering::Relaxed) == 0
            && self.started.get() == Some(&true)
    }

    /// Whether the log is so long that commits will soon wait for the checkpoint.
    pub(crate) fn is_late(&self, end: u64) -> bool {
        let late = self.limit.saturating_add(self.limit / 2);
        self.limit > 0 && end > self.covered.load(Ordering::Relaxed).saturating_add(late)
    }

    /// Has the thread write a checkpoint.
    #[cold]
    pub(crate) fn ask(self: &Arc<Self>) {
        let started = *self.started.get_or_init(|| {
            let (bound, run) = (self.clone(), self.run.clone());
            let run = move || run.map_or((), |run| run(&bound));
            let started = failpoint::reach(FailPoint::CheckpointThread)
                .and_then(|()| std::thread::Builder::new().name("hedgerow-checkpoint".into()).spawn(run));
            if let Err(error) = &started {
                self.failures.fetch_add(1, Ordering::Relaxed);
                *self.last_error.lock() = Some(format!("no thread could be started: {error}"));
            }
            started.is_ok()
        });
        let mut state = self.state.lock();
        if started && !state.asked {
            state.asked = true;
            self.changed.notify_all();
        }
    }

    /// Waits until the log is short enough, or there is nothing to wait for any more.
    #[cold]
    pub(crate) fn wait(&self, end: u64, over: impl Fn() -> bool) {
        let mut state = self.state.lock();
        state.asked = true;
        self.changed.notify_all();
        while self.is_full(end) && !state.over && !over() {
            self.changed.wait(&mut state);
        }
    }
}
