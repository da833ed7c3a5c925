//! The events of an observer: moments of operations.

use std::sync::Arc;

/// The number of an operation that changes or syncs something, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpIndex(pub u64);

/// A moment of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The operation has no effect yet.
    Before,
    /// Half of the operation has taken effect: the first half of a write, or half of the changes that a sync
    /// makes durable. Other operations have no such phase.
    Inside,
    /// The operation has taken effect or failed, but has not returned to the caller.
    After,
}

/// An event for an observer.
#[derive(Clone, Debug)]
pub struct OpEvent {
    /// The operation.
    pub index: OpIndex,
    /// The moment of the operation.
    pub phase: Phase,
    /// Operation and kind of file, such as `write:wal`, `rename:man` or `sync_dir:dir`.
    pub site: Arc<str>,
}
