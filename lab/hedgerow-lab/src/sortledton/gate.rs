//! A gate that keeps snapshots and writers apart if there are no versions. It lets in any number of snapshots
//! or any number of writers, but not both.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// The number of writers inside; a negative value counts snapshots inside.
#[derive(Debug, Default)]
pub(super) struct Gate(AtomicI64);

/// The entry of a writer in the gate; a drop of it is the exit.
pub(super) struct Writing<'a>(&'a Gate);

/// The entry of a snapshot in the gate; a drop of it is the exit.
pub(super) struct Reading(Arc<Gate>);

impl Gate {
    /// Waits until nothing of the other kind is inside, and then counts one more.
    fn enter(&self, step: i64) {
        let next = |inside: i64| (inside * step >= 0).then_some(inside + step);
        while self.0.fetch_update(SeqCst, SeqCst, next).is_err() {
            std::thread::yield_now();
        }
    }

    /// Lets a writer in once all snapshots are dropped.
    pub(super) fn write(&self) -> Writing<'_> {
        self.enter(1);
        Writing(self)
    }

    /// Lets a snapshot in once all writers have left.
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
