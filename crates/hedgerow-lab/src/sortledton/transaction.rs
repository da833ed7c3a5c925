//! What a set is told of the transaction that changes it.

use super::versions::Horizon;

/// Transactions of more updates give up their own versions once they are published, where no reader needs them.
pub(super) const BATCH: usize = 64;

/// A transaction as the sets see it.
pub(super) struct Transaction<'a> {
    /// Its timestamp.
    pub(super) at: u64,
    pub(super) versioned: bool,
    pub(super) weighted: bool,
    /// The most neighbours in a block, and in a sorted array.
    pub(super) block: usize,
    /// What readers need.
    pub(super) horizon: &'a Horizon<'a>,
}
