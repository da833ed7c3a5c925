//! Calls for tests, and for packages in other languages.

use hedgerow_catalog::error::Result;
use hedgerow_core::Timestamp;

use super::Graph;
use crate::commit::order;
use crate::durable::checkpoint::page_versions::write_page_versions;
use crate::state::closing::Freed;
use crate::state::store::Engine;

/// Calls that are not part of the API: for tests, and for packages in other languages.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Internals<'a>(&'a Engine);

impl Graph {
    /// Returns the calls for tests and for packages in other languages. O(1).
    #[doc(hidden)]
    pub fn internals(&self) -> Internals<'_> {
        Internals(&self.engine)
    }
}

impl Internals<'_> {
    /// Waits before a retry as [`Graph::transact`] does. For retry loops in other languages.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    pub fn wait_for_conflict(self, with: Timestamp, attempt: u32) -> Result<()> {
        self.0.check_usable()?;
        order::wait_for_conflict(self.0, with, attempt);
        Ok(())
    }

    /// Evicts everything that files hold as it is, like the store does when the memory limit leaves no room.
    /// Returns the number of subgraphs. O(subgraphs). For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    pub fn evict(self) -> Result<usize> {
        self.0.check_usable()?;
        Ok(self.0.pager.evict_until(|| false))
    }

    /// Evicts for readers what [`evict`](Self::evict) evicts, but keeps the memory for a while for reads that
    /// need it again (rule E9 of the protocol). O(subgraphs). For tests.
    ///
    /// # Errors
    /// Those of [`evict`](Self::evict).
    pub fn cool(self) -> Result<usize> {
        self.0.check_usable()?;
        Ok(self.0.pager.cool_all())
    }

    /// Writes the versions from before the last checkpoint that snapshots hold, like the store does when they
    /// leave no room within the memory limit. Then [`evict`](Self::evict) can evict them too. Returns the
    /// number of snapshot timestamps that got a page version. O(subgraphs) for each snapshot. For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked. The error of a file that cannot be written.
    pub fn write_page_versions(self) -> Result<usize> {
        self.0.check_usable()?;
        let _one_at_a_time = self.0.work.checkpointing.lock();
        self.0.durable.as_ref().map_or(Ok(0), |durable| write_page_versions(self.0, durable))
    }

    /// Returns the peak of charged bytes since the previous call. O(1). For tests.
    #[cfg(feature = "planted-faults")]
    pub fn most_memory_used(self) -> u64 {
        self.0.pager.account().most_used()
    }

    /// Keeps [`Graph::close`] from writing a checkpoint. If it already writes or awaits a
    /// checkpoint, that is given up. O(1). For the Python package.
    pub fn skip_checkpoint_at_close(self) {
        self.0.closing.skip_checkpoint();
    }

    /// Returns a flag to read after the last handle is dropped: true if the store's memory was freed. For the
    /// Python package.
    pub fn freed(self) -> Freed {
        self.0.tells_freed.flag()
    }
}
