//! The input of a commit, and its outcome.

use hedgerow_core::Timestamp;
use hedgerow_pager::pager::room::commit::CommitRoom;

use super::attributes::AttributesTable;
use super::names::TxnKeys;
use super::op::TxnOp;
use super::validate::ReadSet;
use crate::config::Isolation;
use crate::state::store::Core;

/// The input of a commit.
pub(crate) struct Request<'a> {
    pub(crate) ops: &'a [TxnOp],
    pub(crate) attributes: AttributesTable<'a>,
    pub(crate) keys: &'a TxnKeys,
    /// True if edges create their endpoints.
    pub(crate) create: bool,
    pub(crate) reads: &'a ReadSet,
    /// The timestamp of the snapshot that was read, registered until the commit returns.
    pub(crate) start: Timestamp,
    pub(crate) isolation: Isolation,
}

impl Request<'_> {
    /// Returns the memory for the commit, which has none so far. O(attributes) if the store has a memory
    /// limit.
    pub(crate) fn room<'c>(&self, core: &'c Core) -> CommitRoom<'c> {
        let values = core.pager.memory_limit.map_or(0, |_| self.attributes.variable_bytes());
        // The lists have them, and both buffers of the log.
        let copies = if core.durable.is_some() { 3 } else { 1 };
        CommitRoom::new((&core.pager, core), self.ops.len(), values.saturating_mul(copies))
    }
}

/// The outcome of a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) ts: Timestamp,
    /// The change of the number of edges.
    pub(crate) edges: i64,
    /// The number of operations on edges and properties that found an edge or vertex to apply to.
    pub(crate) applied: u64,
}
