//! Room within the memory limit for needs that a commit discovers: merges of lists, and subgraphs that it
//! loads. The commit first releases everything that it held.

use super::memory::{Need, is_large, unopened};
use super::reservations::Promise;
use crate::error::Result;
use crate::state::store::Core;

/// The share of the limit that must be free when a cut-short batch starts over; it doubles each time.
const LEAST_OF_BATCH: u64 = 16;

impl Core {
    /// Makes room for a batch that was cut short `times` times, since there was no room besides the `used`
    /// bytes: more each time, since the need of its merges is unknown. Returns the bytes of room.
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`](crate::CommitError::MemoryLimit) if nothing can be evicted, or the room
    /// was not enough.
    pub(crate) fn find_room_for_batch(&self, used: u64, times: u32) -> Result<u64> {
        let limit = self.memory_limit.unwrap_or(u64::MAX);
        let share = LEAST_OF_BATCH >> times;
        if share < 2 || self.durable.is_none() {
            // It needs more than the free memory.
            return Err(self.no_room(limit, limit.saturating_sub(used)));
        }
        self.find_room(limit, Need::of_merge(limit / share, limit)).map(|()| limit / share)
    }

    /// Promises the bytes of the merges of a commit until they are made. Returns the bytes as an error if
    /// they do not fit together with other promises. Small merges fit the room that commits leave free, and
    /// need no promise. `bytes` returns an upper bound; it is called only if there is a limit. The commit may
    /// hold its latches: it takes a turn (rule E10), whose holders wait for nothing.
    #[inline]
    pub(crate) fn promise_merges(
        &self,
        bytes: impl FnOnce() -> usize,
    ) -> std::result::Result<Option<Promise<'_>>, u64> {
        match self.memory_limit {
            None => Ok(None),
            Some(limit) => self.promise_merges_within(limit, bytes() as u64),
        }
    }

    fn promise_merges_within(
        &self,
        limit: u64,
        needed: u64,
    ) -> std::result::Result<Option<Promise<'_>>, u64> {
        if !is_large(limit, needed) {
            return Ok(None);
        }
        // No more than `has_room` demands: else a commit that found room would be sent back to find room.
        let fits = || self.taken(limit).saturating_add(needed).saturating_add(unopened(limit)) <= limit;
        self.promise_if(needed, fits).map(Some).ok_or(needed)
    }

    /// Makes room for merges of a commit that got no [promise](Self::promise_merges). The commit holds
    /// nothing any more.
    ///
    /// # Errors
    /// Those of [`check_room`](Self::check_room).
    #[cold]
    pub(crate) fn find_room_to_merge(&self, needed: u64) -> Result<()> {
        self.memory_limit.map_or(Ok(()), |limit| self.find_room(limit, Need::of_merge(needed, limit)))
    }

    /// Makes room for the `lists` that a commit is about to load into the arena, and for its `merges`, both
    /// in bytes; the commit holds nothing. If both are small it does nothing: each load makes room for
    /// itself. With `waits`, it waits for checkpoints in two cases: the limit is large enough for both, or
    /// commits have made changes that no checkpoint holds yet (the bytes of lists are an estimate). Otherwise
    /// it evicts what can be evicted.
    ///
    /// # Errors
    /// Those of [`check_room`](Self::check_room).
    pub(super) fn find_room_to_load(&self, lists: u64, merges: u64, waits: bool) -> Result<()> {
        let bytes = lists.saturating_add(merges);
        let Some(limit) = self.memory_limit.filter(|&limit| is_large(limit, bytes)) else { return Ok(()) };
        let need = Need::of_loads(lists, merges, limit);
        if self.fits_now(limit, need) {
            return Ok(());
        }
        if waits && (need.is_within(limit) || self.eviction.clean() < Some(self.clock.published())) {
            return self.find_room(limit, need);
        }
        if self.has_room_without_kept(limit, need) { Ok(()) } else { Err(self.no_room(limit, bytes)) }
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
