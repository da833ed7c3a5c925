//! Options for the acknowledgement and the isolation of commits.

use std::time::Duration;

/// The moment at which a commit is acknowledged. `docs/contract.md` has the exact promise of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// `commit` returns once the commit is on stable media; one sync serves all concurrent committers.
    #[default]
    Sync,
    /// `commit` returns after the append. The log is synced within the interval, which is between a
    /// microsecond and a day.
    Group(Duration),
    /// `commit` returns after the append; [`Graph::flush`](crate::Graph::flush) and checkpoints sync.
    Manual,
}

/// The effects of concurrent write transactions that a transaction may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isolation {
    /// The outcome equals the outcome of some serial order that respects real time.
    #[default]
    Serializable,
    /// A transaction reads one snapshot. If two transactions overlap and write the same item, at most one of
    /// them commits. Write skew is possible.
    Snapshot,
}
