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

/// The closer of a store.
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

    /// Makes the error of a log that stopped; commits end with it, unless it was closed.
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

    /// Ends the store: refuses new commits, finishes those under way, and closes the log. A store that its
    /// user closes gets a checkpoint first, if [the checkpoint pays](Self::checkpoint_at_close).
    pub(crate) fn close(&self, by: ClosedBy) -> Result<()> {
        // The log and the lock are the parent's.
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
        // If this panics, another call that closes must not take the store for closed.
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
        // The directory is given up next, and may be opened again at once: nothing of this log may be written
        // after.
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
        // If the checkpoint left unknown which manifest holds, both manifests name what the log needs, so no
        // third one is written: it might take the number of one of them.
        if !self.commits.is_failed() {
            durable.state_end();
        }
        Ok(())
    }
}

impl Drop for Engine {
    /// Ends as [`Core::close`] does, but without a checkpoint, since the last handle is gone. The next
    /// opening finds a failure. In a forked child the core stays as it is: threads that the child lacks may
    /// have been changing any part of it.
    fn drop(&mut self) {
        if self.owner.is_current_by_id() {
            let _ = self.close(ClosedBy::Drop);
        } else {
            // One more reference keeps the core from being dropped with this one.
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
    // Without this thread a ticket whose owner does not wait would never be done.
    let to_the_end = UnlessDone::new(|| commits.fail());
    while let Some(ts) = commits.next_asked(&clock, || closed.load(Ordering::Acquire)) {
        let reached = failpoint::reach(FailPoint::TicketTurn);
        if reached.is_err() || commits.wait(&clock, ts, Some(&*durable)).is_err() {
            return;
        }
    }
    to_the_end.done();
}
