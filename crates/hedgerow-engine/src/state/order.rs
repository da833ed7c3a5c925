//! The order of commits, and the snapshots that are open.

use std::sync::Arc;

use hedgerow_core::sync::AtomicU64;
use hedgerow_txn::{Clock, GroupCommit, ReaderRegistry};

use crate::state::horizon::LiveHorizon;

/// The part of a store that orders commits and registers readers.
pub(crate) struct Order {
    pub(crate) clock: Clock,
    pub(crate) readers: ReaderRegistry,
    pub(crate) commits: GroupCommit,
    /// The number of times that a commit waited because too much was not published yet (rule R11), or for
    /// memory.
    pub(crate) commit_waits: AtomicU64,
    /// The greatest number of bytes of the log that may wait for a sync, under `sync`.
    pub(crate) max_unsynced_bytes: u64,
}

impl Order {
    /// Makes the order of a store that is being opened.
    pub(crate) fn new(clock: Clock, max_unsynced_bytes: u64) -> Arc<Order> {
        Arc::new(Order {
            clock,
            readers: ReaderRegistry::default(),
            commits: GroupCommit::default(),
            commit_waits: AtomicU64::new(0),
            max_unsynced_bytes,
        })
    }

    /// Returns the present readers, for merges of versions.
    pub(crate) fn horizon(&self) -> LiveHorizon<'_> {
        LiveHorizon::new(&self.clock, &self.readers)
    }
}
