//! Keeps snapshots and writers apart where there are no versions: any number of either, but not both.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// How many writers are inside, or, below 0, how many snapshots.
#[derive(Debug, Default)]
pub(super) struct Gate(AtomicI64);

/// A writer inside.
pub(super) struct Writing<'a>(&'a Gate);

/// A snapshot inside.
pub(super) struct Reading(Arc<Gate>);

impl Gate {
    /// Waits until nobody is inside who counts the other way.
    fn enter(&self, step: i64) {
        let next = |inside: i64| (inside * step >= 0).then_some(inside + step);
        while self.0.fetch_update(SeqCst, SeqCst, next).is_err() {
            std::thread::yield_now();
        }
    }

    /// Lets a writer in, once all snapshots are dropped.
    pub(super) fn write(&self) -> Writing<'_> {
        self.enter(1);
        Writing(self)
    }

    /// Lets a snapshot in, once all writers have left.
    pub(super) fn read(gate: &Arc<Gate>) -> Reading {
        gate.enter(-1);
        Reading(gate.clone())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, SeqCst);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, SeqCst);
    }
}
