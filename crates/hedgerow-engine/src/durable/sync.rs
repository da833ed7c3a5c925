//! Waiting until commits are published and durable, syncing at intervals and for tickets, and closing.

use std::sync::Weak;

use hedgerow_core::Timestamp;
use hedgerow_core::sync::Ordering;
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_log::LogError;
use hedgerow_txn::NotDurable;

use crate::config::Durability;
use crate::error::{Error, Result, StateError};
use crate::files::log::{Durable, UnlessDone};
use crate::state::store::{Core, Engine};

/// The cause of the close of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedBy {
    /// The program, by a call.
    User,
    /// The drop of the last handle, which must not take long.
    Drop,
}

impl Core {
    /// Makes everything committed before the call durable.
    pub(crate) fn flush(&self) -> Result<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        let drawn = self.clock.drawn();
        if self.durability == Durability::Sync {
            return self.wait_published(drawn);
        }
        self.wait_published(drawn)?;
        self.sync_or_poison(durable)
    }

    fn sync_or_poison(&self, durable: &Durable) -> Result<()> {
        durable.sync_log().map_err(|NotDurable| self.of_stopped_log(durable))
    }

    /// Returns the error of a log that stopped. Makes later commits fail, unless the log was closed.
    fn of_stopped_log(&self, durable: &Durable) -> Error {
        if self.closed.load(Ordering::Acquire) && matches!(durable.log.check(), Err(LogError::Closed)) {
            return Error::State(StateError::Closed);
        }
        self.commits.fail();
        Error::State(StateError::Poisoned)
    }

    /// Begins a new log segment for later records, if the active one holds `least` bytes.
    pub(crate) fn begin_log_segment(&self, durable: &Durable, least: u64) -> Result<()> {
        // After a panic the log must not be written to any more.
        let whole = UnlessDone::new(|| durable.log.abandon());
        let begun = durable.log.begin_segment(least);
        whole.done();
        begun.map_err(|_| self.of_stopped_log(durable))
    }

    /// Closes the store: refuses new commits, finishes those under way, and closes the log. A close by the
    /// user writes a checkpoint first, if [the checkpoint pays](Self::checkpoint_at_close).
    pub(crate) fn close(&self, by: ClosedBy) -> Result<()> {
        // In a forked child, the log and the lock belong to the parent.
        self.check_owner_by_id()?;
        let last = {
            let mut order = self.clock.order();
            order.forbid_outside();
            if self.closed.swap(true, Ordering::AcqRel) {
                drop(order);
                // Another call closes, or has closed: return when it is done.
                let sound = self.closing.wait();
                return if sound { Ok(()) } else { Err(StateError::Poisoned.into()) };
            }
            order.last_drawn()
        };
        let _begun = self.closing.begin();
        self.commits.wake_asked();
        self.eviction.demand.end();
        self.log_bound.end();
        self.settling.wake();
        let _no_checkpoint = self.checkpointing.lock();
        // The thread may be syncing; after its end it keeps no file open.
        self.group_syncer.join();
        // If this panics, another call of `close` must not report the store as closed.
        let whole = UnlessDone::new(|| self.commits.fail());
        let finished = self.finish(last, by);
        whole.done();
        self.closing.set_sound(finished.is_ok());
        self.lock.lock().take();
        self.reclaim_for_the_closed();
        finished
    }

    fn finish(&self, last: Timestamp, by: ClosedBy) -> Result<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        // The lock of the directory is released next, and another process may open it at once. So nothing may
        // be written to this log from then on.
        if self.commits.is_failed() {
            durable.log.abandon();
            return Err(StateError::Poisoned.into());
        }
        self.wait_published(last).inspect_err(|_| durable.log.abandon())?;
        if by == ClosedBy::User {
            self.checkpoint_at_close(durable);
        }
        durable.log.close().map_err(|_| {
            self.commits.fail();
            Error::State(StateError::Poisoned)
        })?;
        durable.durable.fetch_max(last.0, Ordering::AcqRel);
        // If it is unknown which manifest of the checkpoint is valid, no third one is written, since it might
        // take the number of one of the two. Both name what the log needs.
        if !self.commits.is_failed() {
            durable.state_end();
        }
        Ok(())
    }
}

impl Drop for Engine {
    /// Closes the store like [`Core::close`], but without a checkpoint, since the last handle is gone. If
    /// this fails, the next opening finds out. A forked child frees no part of the core: threads that the
    /// child lacks may have been changing it.
    fn drop(&mut self) {
        if self.owner.is_current_by_id() {
            let _ = self.close(ClosedBy::Drop);
        } else {
            // One more reference to the core, so that the drop of this one does not drop the core.
            std::mem::forget(self.core.clone());
        }
    }
}

/// Syncs the log in the background, for [`Durability::Group`], until the store is closed.
pub(crate) fn at_intervals(core: &Weak<Core>) {
    let Some(core) = core.upgrade() else { return };
    let (Durability::Group(interval), Some(durable)) = (core.durability, core.durable.clone()) else {
        return;
    };
    let (commits, closing) = (core.commits.clone(), core.closing.clone());
    drop(core);
    // Without this thread nothing would become durable: its panic is a failure of the log.
    let for_ever = UnlessDone::new(|| commits.fail());
    while !closing.rest(interval) {
        let reached = failpoint::reach(FailPoint::SyncTurn);
        if commits.is_failed() {
            break;
        }
        let behind = durable.appended.load(Ordering::Acquire) > durable.durable_ts().0;
        if behind && (reached.is_err() || durable.sync_log().is_err()) {
            return;
        }
    }
    for_ever.done();
}

/// Syncs the log for tickets, until the store is closed.
pub(crate) fn for_tickets(core: &Weak<Core>) {
    let Some(core) = core.upgrade() else { return };
    let Some(durable) = core.durable.clone() else { return };
    let (clock, commits, closed) = (core.clock.clone(), core.commits.clone(), core.closed.clone());
    drop(core);
    // Without this thread a ticket would never be done unless its owner waits for it.
    let to_the_end = UnlessDone::new(|| commits.fail());
    while let Some(ts) = commits.next_asked(&clock, || closed.load(Ordering::Acquire)) {
        let reached = failpoint::reach(FailPoint::TicketTurn);
        if reached.is_err() || commits.wait(&clock, ts, Some(&*durable)).is_err() {
            return;
        }
    }
    to_the_end.done();
}
