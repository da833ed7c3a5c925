//! The account of a store, and the number of operations of a transaction.

use std::sync::Arc;

use hedgerow_core::account::Account;

use crate::error::{ArgumentError, CommitError, Error, Result};
use crate::state::limits::{MAX_OPERATIONS, bytes_of};
use crate::state::store::Core;

impl Core {
    /// Returns the account of the store's memory.
    #[inline]
    pub(crate) fn account(&self) -> &Arc<Account> {
        self.subgraphs.memory().account()
    }

    /// Refuses transactions of more operations than one may have, by their number or by the memory limit.
    /// O(1).
    #[inline]
    pub(crate) fn check_operations(&self, count: usize) -> Result<()> {
        if count <= self.most_operations { Ok(()) } else { Err(self.too_many(count)) }
    }

    #[cold]
    fn too_many(&self, count: usize) -> Error {
        if count > MAX_OPERATIONS {
            let what = "the number of operations in a transaction".into();
            return ArgumentError::TooLarge { what, limit: MAX_OPERATIONS as u64 }.into();
        }
        let (needed, most) = (bytes_of(count), bytes_of(self.most_operations));
        CommitError::TooLarge { needed, most }.into()
    }

    /// Updates the charge of the structures that order commits, snapshots and checkpoints: at opening, and
    /// for statistics. O(timestamps that versions wait for).
    pub(crate) fn charge_coordination(&self) {
        let runs = self.durable.as_ref().map_or(0, |durable| durable.runs.lock().bytes());
        let keys = self.pages.sources().key_index_bytes();
        let bytes = self.clock.bytes() + self.readers.bytes() + self.pending.bytes() + runs + keys;
        self.coordination.lock().set(bytes);
    }
}
