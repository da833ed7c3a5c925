//! Commits that are not waited for (rule R10): the transaction is ordered, logged and applied when `submit` returns; the
//! ticket tells when it is published, and durable where the mode asks for it.

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_core::sync::Ordering;
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_txn::{Clock, GroupCommit};

use crate::config::Durability;
use crate::error::Result;
use crate::files::log::{Durable, UnlessDone};
use crate::state::store::Engine;

/// A submitted transaction. Dropping the ticket loses nothing: the transaction is committed, and becomes durable and
/// visible as if it were waited for.
#[derive(Clone)]
#[must_use = "a ticket tells when the transaction is durable and visible"]
pub struct Ticket {
    engine: Arc<Engine>,
    ts: Timestamp,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket").field("ts", &self.ts).field("done", &self.is_done()).finish()
    }
}

impl Ticket {
    pub(crate) fn new(engine: &Arc<Engine>, ts: Timestamp) -> Ticket {
        engine.make_durable_soon(ts);
        Ticket { engine: engine.clone(), ts }
    }

    /// The place of the transaction in the order of commits.
    pub fn timestamp(&self) -> Timestamp {
        self.ts
    }

    /// Whether the transaction is acknowledged: visible to every snapshot opened from now on, and durable as the
    /// store's durability mode says. Never blocks. In a forked child, what it was at the fork.
    pub fn is_done(&self) -> bool {
        self.engine.clock.published() >= self.ts
    }

    /// Waits until the transaction is acknowledged, and returns its timestamp. Blocks for earlier commits that are
    /// still being applied, and under [`Durability::Sync`] for a sync.
    ///
    /// # Errors
    /// [`CommitError::OutcomeUnknown`](crate::CommitError::OutcomeUnknown): the log failed, and only reopening the store tells.
    /// [`StateError::Forked`](crate::StateError::Forked).
    pub fn wait(self) -> Result<Timestamp> {
        self.engine.check_owner_by_id()?;
        self.engine.wait_published(self.ts)?;
        self.engine.reclaim_due();
        Ok(self.ts)
    }
}

impl Engine {
    /// Sees to it that the commit `ts`, for which nobody may be waiting, becomes durable and is published.
    #[inline]
    pub(crate) fn make_durable_soon(&self, ts: Timestamp) {
        if self.durability == Durability::Sync
            && let Some(durable) = &self.durable
        {
            self.ask_for_sync(durable, ts);
        }
    }

    fn ask_for_sync(&self, durable: &Arc<Durable>, ts: Timestamp) {
        let started = self.syncer.get_or_init(|| {
            spawn(self.clock.clone(), self.commits.clone(), durable.clone(), self.closed.clone())
        });
        if *started {
            self.commits.ask(ts);
        } else {
            // No thread to be had: whoever submits syncs. A failure is found by the ticket.
            let _ = self.wait_published(ts);
        }
    }
}

/// The thread that syncs for tickets. It holds no handle of the store: the last one must be a user's, so that dropping
/// that closes the store.
fn spawn(
    clock: Arc<Clock>,
    commits: Arc<GroupCommit>,
    durable: Arc<Durable>,
    closed: Arc<hedgerow_core::sync::AtomicBool>,
) -> bool {
    let sync_when_asked = move || {
        // Without this thread a ticket whose owner does not wait would never be done.
        let to_the_end = UnlessDone::new(|| commits.fail());
        while let Some(ts) = commits.next_asked(&clock, || closed.load(Ordering::Acquire)) {
            let reached = failpoint::reach(FailPoint::TicketTurn);
            if reached.is_err() || commits.wait(&clock, ts, Some(&*durable)).is_err() {
                return;
            }
        }
        to_the_end.done();
    };
    failpoint::reach(FailPoint::TicketThread).is_ok()
        && std::thread::Builder::new().name("hedgerow-acks".into()).spawn(sync_when_asked).is_ok()
}
