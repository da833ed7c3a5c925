//! The close of a store.

use hedgerow_catalog::error::{Error, Result, StateError};
use hedgerow_core::Timestamp;
use hedgerow_core::sync::Ordering;

use crate::durable::checkpoint::at_close::checkpoint_at_close;
use crate::files::log::UnlessDone;
use crate::state::store::{Core, Engine};

/// The cause of the close of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedBy {
    /// The program, by a call.
    User,
    /// The drop of the last handle, which must not take long.
    Drop,
}

/// Closes the store: refuses new commits, finishes those under way, and closes the log. A close by the
/// user writes a checkpoint first, if [the checkpoint pays](checkpoint_at_close).
pub(crate) fn close(core: &Core, by: ClosedBy) -> Result<()> {
    // In a forked child, the log and the lock belong to the parent.
    core.check_owner_by_id()?;
    let last = {
        let mut order = core.order.clock.order();
        order.forbid_outside();
        if core.closed.swap(true, Ordering::AcqRel) {
            drop(order);
            // Another call closes, or has closed: return when it is done.
            let sound = core.closing.wait();
            return if sound { Ok(()) } else { Err(StateError::Poisoned.into()) };
        }
        order.last_drawn()
    };
    let _begun = core.closing.begin();
    core.order.commits.wake_asked();
    core.pager.eviction.demand.end();
    core.work.log_bound.end();
    core.work.settling.wake();
    let _no_checkpoint = core.work.checkpointing.lock();
    // The thread may be syncing; after its end it keeps no file open.
    core.work.group_syncer.join();
    // If this panics, another call of `close` must not report the store as closed.
    let whole = UnlessDone::new(|| core.order.commits.fail());
    let finished = finish(core, last, by);
    whole.done();
    core.closing.set_sound(finished.is_ok());
    core.lock.lock().take();
    core.pager.reclaim_for_the_closed();
    finished
}

fn finish(core: &Core, last: Timestamp, by: ClosedBy) -> Result<()> {
    let Some(durable) = &core.durable else { return Ok(()) };
    // The lock of the directory is released next, and another process may open it at once. So nothing may
    // be written to this log from then on.
    if core.order.commits.is_failed() {
        durable.log.abandon();
        return Err(StateError::Poisoned.into());
    }
    core.wait_published(last).inspect_err(|_| durable.log.abandon())?;
    if by == ClosedBy::User {
        checkpoint_at_close(core, durable);
    }
    durable.log.close().map_err(|_| {
        core.order.commits.fail();
        Error::State(StateError::Poisoned)
    })?;
    durable.durable.fetch_max(last.0, Ordering::AcqRel);
    // If it is unknown which manifest of the checkpoint is valid, no third one is written, since it might
    // take the number of one of the two. Both name what the log needs.
    if !core.order.commits.is_failed() {
        durable.state_end();
    }
    Ok(())
}

impl Drop for Engine {
    /// Closes the store like [`close`], but without a checkpoint, since the last handle is gone. If
    /// this fails, the next opening finds out. A forked child frees no part of the core: threads that the
    /// child lacks may have been changing it.
    fn drop(&mut self) {
        if self.pager.owner.is_current_by_id() {
            let _ = close(self, ClosedBy::Drop);
        } else {
            // One more reference to the core, so that the drop of this one does not drop the core.
            std::mem::forget(self.core.clone());
        }
    }
}
