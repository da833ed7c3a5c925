//! The work that a store does beside the calls of its user: its threads, checkpoints and settling.

use std::sync::Arc;

use hedgerow_core::account::Charge;
use hedgerow_core::sync::Mutex;

use crate::options::Thresholds;
use crate::state::log_bound::LogBound;
use crate::state::settling::Settling;
use crate::state::worker::Worker;

/// The part of a store that works in the background.
pub(crate) struct Work {
    pub(crate) settling: Settling,
    /// Held by the thread that writes a checkpoint, or page versions.
    pub(crate) checkpointing: Mutex<()>,
    /// The bound of the log's length.
    pub(crate) log_bound: Arc<LogBound>,
    pub(crate) thresholds: Thresholds,
    /// The charge for the structures that order commits and snapshots: their size at the last measurement.
    pub(crate) coordination: Mutex<Charge>,
    /// The thread that syncs for tickets, started by the first one.
    pub(crate) ticket_syncer: Worker,
    /// The thread that syncs for [`Durability::Group`](crate::Durability::Group).
    pub(crate) group_syncer: Worker,
}

impl Work {
    /// Returns the workers whose threads were started.
    #[cfg(test)]
    pub(crate) fn workers(&self) -> Vec<&Worker> {
        let always = [&self.ticket_syncer, &self.group_syncer];
        let optional = self.settling.worker.iter().chain(&self.log_bound.worker);
        always.into_iter().chain(optional).filter(|worker| worker.has_thread()).collect()
    }
}
