//! Versions that wait for a snapshot to close, and their reclamation after that (rule R6).
//!
//! Closing a snapshot takes no latch and no lock: the thread in the background
//! ([`crate::background::settle`]) reclaims versions that snapshots released, a few milliseconds later.
//! Without this thread, commits do that. A commit that is published reclaims the versions that waited for its
//! publication.

use hedgerow_core::sync::{Ordering, fence};
use hedgerow_pager::order::pending::Reasons;
use hedgerow_txn::Registration;

use crate::state::store::Core;

/// Reclaims versions whose pin may be released. Called after a commit.
#[inline]
pub(crate) fn reclaim_due(core: &Core) {
    let (pager, order) = (&core.pager, &core.order);
    #[cfg(feature = "planted-faults")]
    if pager.has_files {
        pager.eviction.switch.after_commit(|cools| pager.evict_all(cools));
    }
    let reasons = if core.work.settling.has_thread() { Reasons::Published } else { Reasons::All };
    let is_due = pager.pending.is_due(order.clock.published(), &order.readers, reasons);
    if is_due || core.views.is_wasteful() {
        reclaim(core, reasons);
    }
}

#[cold]
fn reclaim(core: &Core, reasons: Reasons) {
    if core.is_forked() {
        return; // a thread that this process lacks may hold a latch, and never releases it
    }
    if core.views.is_wasteful() {
        core.views.give_up_wasteful();
    }
    core.pager.reclaim(reasons);
}

/// Ends the registration of a snapshot. Never waits.
#[inline]
pub(crate) fn close_reader(core: &Core, registration: Registration) {
    if core.order.readers.close(registration) {
        reclaim_closed(core);
    }
}

/// Wakes the thread in the background for the versions that a closed snapshot released. In a closed store,
/// reclaims them on this thread.
#[cold]
fn reclaim_closed(core: &Core) {
    // Orders the record of the close before this load: closing reads the records after it has set its mark.
    fence(Ordering::SeqCst);
    if core.closed.load(Ordering::Acquire) {
        core.pager.reclaim_for_the_closed();
    } else {
        core.work.settling.wake();
    }
}
