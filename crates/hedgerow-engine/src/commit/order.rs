//! The ordering section of a commit, and the wait for the publication after it.

use hedgerow_catalog::error::{Error, Result, StateError};
use hedgerow_core::Timestamp;
use hedgerow_txn::OrderGuard;

use super::request::Outcome;
use crate::files::log::{Record, UnlessDone};
use crate::state::reclaim::reclaim_due;
use crate::state::store::{Core, Engine};

/// Waits until the commit is published, and durable if the mode asks for it.
#[inline]
pub(crate) fn publish(engine: &Engine, outcome: Outcome) -> Result<Outcome> {
    engine.wait_published(outcome.ts)?;
    reclaim_due(engine);
    Ok(outcome)
}

/// Guards the steps from the append on: a logged commit must be applied and completed. If a panic interrupts
/// them, nothing later can be published. The store is poisoned then, and readers still see the state before.
#[inline]
pub(crate) fn must_apply(core: &Core) -> UnlessDone<impl Fn()> {
    UnlessDone::new(|| core.order.commits.fail())
}

/// Draws for a commit whose only check in the ordering section is that the store is open. A commit without a
/// log need not enter the section: closing sets its mark there, and ends draws outside of the section.
#[inline]
pub(crate) fn draw_unchecked(engine: &Engine, record: Option<Record>) -> Result<Timestamp> {
    if record.is_none() {
        engine.check_open()?;
        if let Some(ts) = engine.order.clock.draw_outside() {
            return Ok(ts);
        }
    }
    draw(engine, record, |_| engine.check_open())
}

/// Runs the ordering section: calls `check`, reserves log space, draws, appends.
pub(crate) fn draw(
    engine: &Engine,
    record: Option<Record>,
    check: impl FnOnce(Timestamp) -> Result<()>,
) -> Result<Timestamp> {
    let mut order = engine.order.clock.order();
    loop {
        if !order.has_room() || engine.backlog_is_full() {
            order = wait_for_room(engine, order)?;
        } else if engine.log_is_full() {
            order = wait_for_checkpoint(engine, order)?;
        } else {
            break;
        }
    }
    check(order.last_drawn())?;
    match (&engine.durable, record) {
        (Some(durable), Some(record)) => {
            let whole = must_apply(engine);
            let appended = durable.append(record, || order.draw());
            whole.done();
            engine.bound_log(durable);
            if matches!(appended, Err(Error::State(StateError::Poisoned))) {
                engine.order.commits.fail();
            }
            appended
        }
        _ => Ok(order.draw()),
    }
}

/// Leaves the ordering section until publication has advanced, and enters it again (rule R11). Snapshots
/// never call this.
#[cold]
fn wait_for_room<'e>(engine: &'e Engine, order: OrderGuard<'e>) -> Result<OrderGuard<'e>> {
    let oldest_missing = engine.order.clock.published().next();
    if oldest_missing > order.last_drawn() {
        // Everything was published since the ring was found full. A wait for a timestamp that no committer
        // has drawn might be a wait for a committer that waits for the latches of this one.
        return Ok(order);
    }
    drop(order);
    engine.order.commit_waits.fetch_add(1, hedgerow_core::sync::Ordering::Relaxed);
    // Nothing of this commit was appended: if the log fails now, the commit has no effect.
    engine.wait_published(oldest_missing).map_err(|_| Error::State(StateError::Poisoned))?;
    Ok(engine.order.clock.order())
}

/// Leaves the ordering section until the log is shorter, and enters it again. If the store is closed
/// meanwhile, no checkpoint makes the log shorter, and the commit fails.
#[cold]
fn wait_for_checkpoint<'e>(engine: &'e Engine, order: OrderGuard<'e>) -> Result<OrderGuard<'e>> {
    // Closing sets its mark in the ordering section, before it ends the thread of checkpoints.
    engine.check_open()?;
    drop(order);
    engine.order.commit_waits.fetch_add(1, hedgerow_core::sync::Ordering::Relaxed);
    engine.work.log_bound.wait(engine.log_end(), || engine.order.commits.is_failed());
    Ok(engine.order.clock.order())
}

/// Waits until the conflicting commit is published, and then for a time that grows with the number of
/// attempts. So transactions that conflict again and again spread out.
pub(crate) fn wait_for_conflict(engine: &Engine, with: Timestamp, attempt: u32) {
    // The conflicting commit may itself fail, and never draw its timestamp.
    let with = with.min(engine.order.clock.drawn());
    let _ = engine.wait_published(with);
    if attempt > 1 {
        let micros = 1u64 << attempt.min(10);
        // A hash seeded per call differs between threads whose commits failed at the same moment.
        let jitter = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), with.0);
        std::thread::sleep(std::time::Duration::from_micros(micros / 2 + jitter % micros));
    }
}
