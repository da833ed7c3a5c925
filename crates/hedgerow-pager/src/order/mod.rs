//! The order of commits, and the snapshots that are open.

pub mod horizon;
pub mod pending;

use std::sync::Arc;

use hedgerow_core::sync::AtomicU64;
use hedgerow_txn::{Clock, GroupCommit, ReaderRegistry};

use crate::order::horizon::LiveHorizon;

/// The part of a store that orders commits and registers readers.
pub struct Order {
    /// The clock of commits.
    pub clock: Clock,
    /// The registered readers.
    pub readers: ReaderRegistry,
    /// The commits that wait to be durable.
    pub commits: GroupCommit,
    /// The number of times that a commit waited because too much was not published yet (rule R11), or for
    /// memory.
    pub commit_waits: AtomicU64,
    /// The greatest number of bytes of the log that may wait for a sync, under `sync`.
    pub max_unsynced_bytes: u64,
}

impl Order {
    /// Makes the order of a store that is being opened.
    pub fn new(clock: Clock, max_unsynced_bytes: u64) -> Arc<Order> {
        Arc::new(Order {
            clock,
            readers: ReaderRegistry::default(),
            commits: GroupCommit::default(),
            commit_waits: AtomicU64::new(0),
            max_unsynced_bytes,
        })
    }

    /// Returns the present readers, for merges of versions.
    pub fn horizon(&self) -> LiveHorizon<'_> {
        LiveHorizon::new(&self.clock, &self.readers)
    }
}
