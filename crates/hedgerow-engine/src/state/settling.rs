//! What settling remembers between calls, and its thread.

use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_io::failpoint::{self, FailPoint};

/// What the thread does until the store is closed, told by a flag whether it sleeps.
pub(crate) type SettlingRun = Arc<dyn Fn(&AtomicBool) + Send + Sync>;

/// What settling remembers between calls.
pub(crate) struct Settling {
    /// One whole settling at a time.
    pub(crate) whole: Mutex<()>,
    /// The published timestamp at which all subgraphs were last settled and laid out in order.
    pub(crate) ordered_at: AtomicU64,
    /// What the thread in the background does until the store is closed; none if there is to be no thread.
    run: Option<SettlingRun>,
    /// Set once the thread was to be started, at the first merge: what never merges has little to settle. `None` if it
    /// could not be.
    thread: OnceLock<Option<Thread>>,
    /// Whether the thread sleeps, and wants to be woken when a snapshot closes that something waits for.
    asleep: Arc<AtomicBool>,
    /// Turns of the thread that panicked.
    pub(crate) panics: AtomicU64,
}

impl Settling {
    /// With work given, a thread does it once there was a merge.
    pub(crate) fn new(run: Option<SettlingRun>) -> Settling {
        let ordered_at = AtomicU64::new(u64::MAX);
        Settling {
            whole: Mutex::new(()),
            ordered_at,
            run,
            thread: OnceLock::new(),
            asleep: Arc::default(),
            panics: AtomicU64::new(0),
        }
    }

    /// Whether the thread was started.
    #[inline]
    pub(crate) fn has_thread(&self) -> bool {
        matches!(self.thread.get(), Some(Some(_)))
    }

    /// Has the thread look at once, if there is one and it sleeps. Never waits.
    pub(crate) fn wake(&self) {
        if let Some(Some(thread)) = self.thread.get()
            && self.asleep.load(Ordering::Relaxed)
            && self.asleep.swap(false, Ordering::Relaxed)
        {
            thread.unpark();
        }
    }

    /// How many turns of the thread panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Notes that a delta was merged.
    #[inline]
    pub(crate) fn note_merge(&self) {
        if let Some(run) = &self.run
            && self.thread.get().is_none()
        {
            self.start(run);
        }
    }

    #[cold]
    fn start(&self, run: &SettlingRun) {
        self.thread.get_or_init(|| {
            let (run, asleep) = (run.clone(), self.asleep.clone());
            // Without the thread nothing is settled until somebody calls `settle`, and commits free what snapshots kept.
            failpoint::reach(FailPoint::SettleThread).ok()?;
            let thread = std::thread::Builder::new().name("hedgerow-settle".into());
            Some(thread.spawn(move || run(&asleep)).ok()?.thread().clone())
        });
    }
}
