//! What is fixed when a graph is created, and how its commits are acknowledged and isolated.

use std::time::Duration;

use hedgerow_core::KeyKind;

/// When a commit is acknowledged. See `docs/contract.md` for the exact promise of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// `commit` returns once the commit is on stable media; one sync serves all concurrent committers.
    #[default]
    Sync,
    /// `commit` returns after the append; the log is synced within the interval, which is between a microsecond and a day.
    Group(Duration),
    /// `commit` returns after the append; [`Graph::flush`](crate::Graph::flush) and checkpoints sync.
    Manual,
}

/// What concurrent write transactions may see of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isolation {
    /// The outcome equals some serial order that respects real time.
    #[default]
    Serializable,
    /// A transaction reads one snapshot, and of two that overlap and write the same item at most one commits. Write
    /// skew is possible.
    Snapshot,
}

/// What is fixed when a graph is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphConfig {
    /// Whether edges have a direction.
    pub directed: bool,
    /// The type of external vertex ids.
    pub keys: KeyKind,
    /// Whether edges carry an `f64` weight.
    pub weighted: bool,
    /// Whether a directed graph keeps the incoming edges of each vertex beside the outgoing ones; of no meaning in an
    /// undirected one.
    pub reverse: bool,
}

impl GraphConfig {
    /// Whether edges are found from their sources alone.
    pub(crate) fn is_one_way(&self) -> bool {
        self.directed && !self.reverse
    }
}

impl Default for GraphConfig {
    /// Directed with incoming edges, `u64` ids, no weights.
    fn default() -> Self {
        GraphConfig { directed: true, keys: KeyKind::U64, weighted: false, reverse: true }
    }
}
