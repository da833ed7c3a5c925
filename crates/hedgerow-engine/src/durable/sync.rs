//! Waiting until commits are published and durable, syncing at intervals and for tickets, and closing.

use std::sync::Weak;

use hedgerow_catalog::error::{Error, Result, StateError, StorageError};
use hedgerow_core::sync::Ordering;
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_log::LogError;
use hedgerow_pager::order::Order;
use hedgerow_txn::NotDurable;

use crate::config::Durability;
use crate::files::log::{Durable, UnlessDone};
use crate::state::store::Core;

/// Makes everything committed before the call durable.
pub(crate) fn flush(core: &Core) -> Result<()> {
    let Some(durable) = &core.durable else { return Ok(()) };
    let drawn = core.order.clock.drawn();
    if core.catalog.durability == Durability::Sync {
        return core.wait_published(drawn);
    }
    core.wait_published(drawn)?;
    sync_or_poison(core, durable)
}

fn sync_or_poison(core: &Core, durable: &Durable) -> Result<()> {
    durable.sync_log().map_err(|NotDurable| of_stopped_log(core, durable))
}

/// Returns the error of a log that stopped. Makes later commits fail, unless the log was closed.
fn of_stopped_log(core: &Core, durable: &Durable) -> Error {
    if core.closed.load(Ordering::Acquire) && matches!(durable.log.check(), Err(LogError::Closed)) {
        return Error::State(StateError::Closed);
    }
    core.order.commits.fail();
    Error::State(StateError::Poisoned)
}

/// Poisons the store after a failed sync of the directory: the content of the directory after a crash is
/// unknown from then on, and a later sync that succeeds would prove nothing about it.
pub(super) fn poisoned_by(core: &Core, error: Error) -> Error {
    match error {
        Error::Storage(
            StorageError::Io { operation: hedgerow_io::SYNC_DIRECTORY, .. }
            | StorageError::DiskFull { operation: hedgerow_io::SYNC_DIRECTORY, .. },
        ) => {
            core.order.commits.fail();
            StateError::Poisoned.into()
        }
        other => other,
    }
}

/// Begins a new log segment for later records, if the active one holds `least` bytes.
pub(crate) fn begin_log_segment(core: &Core, durable: &Durable, least: u64) -> Result<()> {
    // After a panic the log must not be written to any more.
    let whole = UnlessDone::new(|| durable.log.abandon());
    let begun = durable.log.begin_segment(least);
    whole.done();
    begun.map_err(|_| of_stopped_log(core, durable))
}

/// Syncs the log in the background, for [`Durability::Group`], until the store is closed.
pub(crate) fn at_intervals(core: &Weak<Core>) {
    let Some(core) = core.upgrade() else { return };
    let (Durability::Group(interval), Some(durable)) = (core.catalog.durability, core.durable.clone()) else {
        return;
    };
    let (order, closing) = (core.order.clone(), core.closing.clone());
    drop(core);
    // Without this thread nothing would become durable: its panic is a failure of the log.
    let for_ever = UnlessDone::new(|| order.commits.fail());
    while !closing.rest(interval) {
        let reached = failpoint::reach(FailPoint::SyncTurn);
        if order.commits.is_failed() {
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
    let (order, closed) = (core.order.clone(), core.closed.clone());
    drop(core);
    // Without this thread a ticket would never be done unless its owner waits for it.
    let Order { clock, commits, .. } = &*order;
    let to_the_end = UnlessDone::new(|| commits.fail());
    while let Some(ts) = commits.next_asked(clock, || closed.load(Ordering::Acquire)) {
        let reached = failpoint::reach(FailPoint::TicketTurn);
        if reached.is_err() || commits.wait(clock, ts, Some(&*durable)).is_err() {
            return;
        }
    }
    to_the_end.done();
}
