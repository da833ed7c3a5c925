//! The closing of a store, for threads that sleep between turns and for calls that wait until it is closed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The progress of the closing of a store.
#[derive(Default)]
pub(crate) struct Closing {
    stage: Mutex<Stage>,
    changed: Condvar,
    /// True if the store was closed without a failure of its log. False until then, so that a panic counts as
    /// a failure.
    sound: AtomicBool,
    /// True if closing writes no checkpoint, and gives up a checkpoint in progress.
    skips_checkpoint: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    Begun,
    Done,
}

/// A guard that marks the store as closed when it is dropped, also in a panic, and wakes the threads that
/// wait for that.
pub(crate) struct Begun<'a>(&'a Closing);

impl Closing {
    /// Wakes the sleeping threads: the store is being closed.
    pub(crate) fn begin(&self) -> Begun<'_> {
        self.enter(Stage::Begun);
        Begun(self)
    }

    /// Waits until the store is closed. Returns true if its log was sealed.
    pub(crate) fn wait(&self) -> bool {
        let stage = self.stage();
        drop(self.changed.wait_while(stage, |stage| *stage != Stage::Done));
        self.sound.load(Ordering::Acquire)
    }

    /// Records what [`wait`](Self::wait) returns.
    pub(crate) fn set_sound(&self, sound: bool) {
        self.sound.store(sound, Ordering::Release);
    }

    /// Keeps closing from writing a checkpoint. If closing already writes or awaits a checkpoint, that is
    /// given up.
    pub(crate) fn skip_checkpoint(&self) {
        self.skips_checkpoint.store(true, Ordering::Release);
    }

    /// True if a checkpoint must be given up: the store is being closed, and the caller of `close` does not
    /// want the checkpoint.
    pub(crate) fn skips_checkpoint(&self) -> bool {
        self.skips_checkpoint.load(Ordering::Acquire) && *self.stage() != Stage::Open
    }

    /// Sleeps for `duration`, or until the store is being closed. Returns whether it is being closed.
    pub(crate) fn rest(&self, duration: Duration) -> bool {
        let stage = self.stage();
        let rested = self.changed.wait_timeout_while(stage, duration, |stage| *stage == Stage::Open);
        let (stage, _) = rested.unwrap_or_else(PoisonError::into_inner);
        *stage != Stage::Open
    }

    fn enter(&self, stage: Stage) {
        *self.stage() = stage;
        self.changed.notify_all();
    }

    /// Locks the stage. A panic cannot interrupt a change under this lock.
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.enter(Stage::Done);
    }
}

/// A guard that records, when it is dropped, that the store was freed.
#[derive(Default)]
pub(crate) struct TellsFreed(Arc<AtomicBool>);

impl TellsFreed {
    pub(crate) fn flag(&self) -> Freed {
        Freed(self.0.clone())
    }
}

impl Drop for TellsFreed {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A flag that is set once the memory of a store was freed.
#[doc(hidden)]
pub struct Freed(Arc<AtomicBool>);

impl Freed {
    /// Waits until the memory was freed, at most for `patience`. If a thread of the store is in the middle of
    /// a turn, it frees the memory at the end of that turn; snapshots and transactions keep the memory until
    /// they are dropped.
    pub fn wait(&self, patience: Duration) {
        let end = Instant::now() + patience;
        while !self.0.load(Ordering::Acquire) && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
