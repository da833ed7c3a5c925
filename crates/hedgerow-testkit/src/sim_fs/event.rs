//! What an observer is told: which moment of which operation.

use std::sync::Arc;

/// The number of an operation that changes or syncs something, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpIndex(pub u64);

/// A moment of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Nothing has happened yet.
    Before,
    /// Half of it has: the first half of a write, or the first half of what a sync makes durable. Other operations
    /// have no inside.
    Inside,
    /// It has taken effect, or failed; the caller does not know yet.
    After,
}

/// What an observer is told.
#[derive(Clone, Debug)]
pub struct OpEvent {
    /// Which operation.
    pub index: OpIndex,
    /// Which moment of it.
    pub phase: Phase,
    /// Operation and kind of file, such as `write:wal`, `rename:man` or `sync_dir:dir`.
    pub site: Arc<str>,
}
