//! Commits without waiting (rule R10): the transaction is ordered, logged and applied when `submit` returns.
//! The ticket shows when it is published, and durable if the mode asks for it.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::Timestamp;

use crate::config::Durability;
use crate::state::reclaim::reclaim_due;
use crate::state::store::Engine;

/// A submitted transaction. Dropping the ticket loses nothing: the transaction is committed, and becomes
/// durable and visible as if the program waited for it.
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

    /// Returns the place of the transaction in the order of commits. O(1).
    pub fn timestamp(&self) -> Timestamp {
        self.ts
    }

    /// True if the transaction is acknowledged: visible to every snapshot opened from now on, and durable as
    /// the store's durability mode prescribes. Never blocks. In a forked child it returns the state at the
    /// fork. O(1).
    pub fn is_done(&self) -> bool {
        self.engine.order.clock.published() >= self.ts
    }

    /// Waits until the transaction is acknowledged, and returns its timestamp. Blocks for earlier commits
    /// that are still being applied, and under [`Durability::Sync`] for a sync; otherwise O(1).
    ///
    /// # Errors
    /// [`CommitError::OutcomeUnknown`](crate::CommitError::OutcomeUnknown): the log failed, and only
    /// reopening the store shows the outcome. [`StateError::Forked`](crate::StateError::Forked).
    pub fn wait(self) -> Result<Timestamp> {
        self.engine.check_owner_by_id()?;
        self.engine.wait_published(self.ts)?;
        reclaim_due(&self.engine);
        Ok(self.ts)
    }
}

impl Engine {
    /// Ensures that the commit `ts` becomes durable and is published, even if no thread waits for it.
    #[inline]
    pub(crate) fn make_durable_soon(&self, ts: Timestamp) {
        if self.catalog.durability == Durability::Sync && self.durable.is_some() {
            self.ask_for_sync(ts);
        }
    }

    fn ask_for_sync(&self, ts: Timestamp) {
        if self.work.ticket_syncer.start(drop) {
            self.order.commits.ask(ts);
        } else {
            // No thread could be started: the submitting thread syncs. The ticket reports a failure.
            let _ = self.wait_published(ts);
        }
    }
}
