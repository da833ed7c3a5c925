//! What a transaction brings to its commit, and what the commit comes to.

use hedgerow_core::Timestamp;

use super::attributes::AttributesTable;
use super::names::TxnKeys;
use super::op::TxnOp;
use super::validate::ReadSet;
use crate::config::Isolation;

/// Everything that a transaction brings to its commit.
pub(crate) struct Request<'a> {
    pub(crate) ops: &'a [TxnOp],
    pub(crate) attributes: AttributesTable<'a>,
    pub(crate) keys: &'a TxnKeys,
    /// Whether edges create their endpoints.
    pub(crate) create: bool,
    pub(crate) reads: &'a ReadSet,
    /// The timestamp of the snapshot that was read, registered until the commit returns.
    pub(crate) start: Timestamp,
    pub(crate) isolation: Isolation,
}

/// What a commit came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) ts: Timestamp,
    /// By how much the number of edges changed.
    pub(crate) edges: i64,
    /// How many operations on edges and properties found something to apply to.
    pub(crate) applied: u64,
}
