//! The input of a commit, and its outcome.

use hedgerow_core::Timestamp;

use super::attributes::AttributesTable;
use super::names::TxnKeys;
use super::op::TxnOp;
use super::validate::ReadSet;
use crate::config::Isolation;

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

/// The outcome of a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) ts: Timestamp,
    /// The change of the number of edges.
    pub(crate) edges: i64,
    /// The number of operations on edges and properties that found an edge or vertex to apply to.
    pub(crate) applied: u64,
}
