//! The end of a store, for threads that rest and for calls that wait until the store is closed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How far the closing of a store is.
#[derive(Default)]
pub(crate) struct Closing {
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    Begun,
    Done,
}

/// Tells, when it goes, those who wait that the store is closed: also if a panic passes by.
pub(crate) struct Begun<'a>(&'a Closing);

impl Closing {
    /// Wakes the threads that rest: the store is being closed.
    pub(crate) fn begin(&self) -> Begun<'_> {
        self.enter(Stage::Begun);
        Begun(self)
    }

    /// Waits until the store is closed.
    pub(crate) fn wait(&self) {
        let stage = self.stage();
        drop(self.changed.wait_while(stage, |stage| *stage != Stage::Done));
    }

    /// Sleeps for `duration`, or until the store is being closed. Returns whether it is.
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

    /// A panic leaves nothing half done under this lock.
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.enter(Stage::Done);
    }
}
