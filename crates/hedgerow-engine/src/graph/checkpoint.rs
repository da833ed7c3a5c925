//! Checkpoints on request.

use hedgerow_catalog::error::Result;

use super::Graph;
use crate::durable::checkpoint::{Checkpoint, Extent, checkpoint};

impl Graph {
    /// Writes the subgraphs that changed since the last checkpoint into a segment, makes the manifest name
    /// it, and removes the log segments that it covers. Now and then it merges older segments into the new
    /// one, so that there are never more than 8, and their waste is bounded. Commits and snapshots go on
    /// meanwhile. O(subgraphs), and O(edges) of the changed subgraphs. One checkpoint runs at a time; a
    /// second caller waits.
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a store without files; a
    /// [`StorageError`](crate::StorageError) leaves the store as it was;
    /// [`StateError::Poisoned`](crate::StateError::Poisoned) if either manifest may be the valid one now.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        checkpoint(&self.engine, Extent::Changed)
    }

    /// Writes a checkpoint like [`checkpoint`](Self::checkpoint), but of everything, into one segment, and
    /// removes all other segments. Damage in an older segment is gone afterwards, and the only waste on the
    /// disk is the rest of one log segment. O(edges).
    ///
    /// # Errors
    /// Those of [`checkpoint`](Self::checkpoint).
    pub fn compact(&self) -> Result<Checkpoint> {
        checkpoint(&self.engine, Extent::Whole)
    }

    /// Returns why the last checkpoint failed, in the background or in [`close`](Self::close), unless one has
    /// succeeded since. The store is as it was before; the log grows until an attempt succeeds, and the next
    /// opening replays it. `None` in a forked child. O(1).
    pub fn checkpoint_error(&self) -> Option<String> {
        self.engine.check_owner().ok().and_then(|()| self.engine.work.log_bound.last_error())
    }
}
