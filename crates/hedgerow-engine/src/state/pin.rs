//! Registrations in the reader registry, for snapshots and for work of the store itself.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::Timestamp;
use hedgerow_txn::{Counts, Registration};

use crate::state::reclaim::close_reader;
use crate::state::store::Core;

/// Returns a hint for the thread's slots in the registry. Each thread has slots of its own, unless there are
/// too many threads.
pub(crate) fn slot_hint() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static HINT: Cell<usize> = const { Cell::new(usize::MAX) });
    HINT.with(|hint| {
        if hint.get() == usize::MAX {
            hint.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        hint.get()
    })
}

/// A timestamp whose versions stay readable, for work of the store that has no handle of the store.
pub(crate) struct Pinned<'a> {
    core: &'a Core,
    registration: Option<Registration>,
    ts: Timestamp,
    counts: Counts,
}

impl Pinned<'_> {
    /// Returns the numbers of vertices and edges at that timestamp.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn timestamp(&self) -> Timestamp {
        self.ts
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take() {
            close_reader(self.core, registration);
        }
    }
}

/// Registers the published timestamp, so that its state stays readable.
pub(crate) fn pin(core: &Core) -> Pinned<'_> {
    let (registration, counts) = core.order.readers.register(slot_hint(), || {
        let ts = core.order.clock.published();
        Some((ts, core.order.clock.counts(ts)?))
    });
    let ts = registration.ts();
    Pinned { core, registration: Some(registration), ts, counts }
}
