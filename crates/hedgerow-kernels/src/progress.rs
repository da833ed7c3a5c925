//! The progress of a kernel: two counters beside the flag that [ends](crate::Cancel) it.
//!
//! A kernel counts steps of its own kind: iterations, sources, vertices; the registry names them as
//! [`steps`](crate::registry::Kernel::steps). It counts at places where it polls anyhow and at most once for
//! a work item, so that counting costs nothing that could be measured.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The progress of a kernel, which [`Cancel::progress`](crate::Cancel::progress) returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The steps done; never more than `total`.
    pub done: u64,
    /// All steps of the kernel; 0 before it has begun, and for a kernel that does not know their number.
    pub total: u64,
}

impl Progress {
    /// Returns the share of the steps that is done, in `0.0..=1.0`; `None` where the number of steps is not
    /// known.
    pub fn fraction(self) -> Option<f64> {
        (self.total > 0).then(|| self.done as f64 / self.total as f64)
    }
}

/// The counters. They are independent, and publish no other data. For a moment a reader may see the total of
/// one call with the steps of another, but never more steps than the total.
#[derive(Default)]
// A cache line of its own: all threads read the flag beside it at each poll.
#[repr(align(128))]
pub(crate) struct Steps {
    done: AtomicU64,
    total: AtomicU64,
}

impl Steps {
    pub(crate) fn begin(&self, total: u64) {
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    pub(crate) fn add(&self, steps: u64) {
        self.done.fetch_add(steps, Relaxed);
    }

    pub(crate) fn progress(&self) -> Progress {
        let total = self.total.load(Relaxed);
        Progress { done: self.done.load(Relaxed).min(total), total }
    }
}
