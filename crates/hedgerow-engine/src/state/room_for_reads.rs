//! Memory that reads take from the [pool](super::memory_pool), and their waits for it.
//!
//! The waiting read is *in line*: there is one at a time, and it holds no reservation. While it waits, and
//! until it has read, no other call that reads by the page begins. So the calls in progress end, and give
//! back their memory. A wait ends without room once nothing in progress could make some (rule E10 of
//! `docs/design/reservations.md`).

use std::sync::Weak;
use std::time::{Duration, Instant};

use hedgerow_core::sync::Ordering;

use super::memory::{FREED, Need};
use super::memory_pool::Line;
use crate::error::Result;
use crate::state::store::Core;

/// The least number of checks for progress, which is not always visible: for example, a checkpoint between
/// its demand and its begin, or a latch that keeps a chain in memory.
const FEWEST_LOOKS: u32 = 3;
/// The time without any returned memory after which a reader gives up. Code of callers may keep the data that
/// a scan lends for any time, and may itself wait for the reader.
const MOST_STILL: Duration = Duration::from_secs(10);

/// The bytes to take in addition to a need, and the bytes to keep for later runs: a share of the limit, or a
/// number of bytes without one.
const PORTION: (u64, u64) = (256, 64 << 10);
const KEPT: (u64, u64) = (64, 1 << 20);

/// The time since memory was last given back.
struct Stillness {
    since: Instant,
    seen: (u64, u64),
}

impl Core {
    fn share_of_limit(&self, (share, without): (u64, u64)) -> u64 {
        self.memory_limit.map_or(without, |limit| limit / share)
    }

    /// Takes `bytes` from the pool for a caller that reads by the page; false if there is no room. Gives up
    /// nothing for them. O(1); waits for other threads that do the same.
    pub(crate) fn take_from_pool(&self, bytes: u64) -> bool {
        if self.is_forked() {
            // The lock may never be released. Reads of data outside memory fail later.
            return true;
        }
        let mut pool = self.memory_pool.pool.lock();
        if pool.free < bytes {
            let lacking = bytes - pool.free;
            let reserved = pool.charge.bytes() as u64;
            let more = [lacking.max(self.share_of_limit(PORTION)), lacking]
                .into_iter()
                .find(|more| self.try_charge(&mut pool.charge, reserved.saturating_add(*more)));
            let Some(more) = more else { return false };
            pool.free += more;
        }
        pool.free -= bytes;
        true
    }

    /// Gives [taken](Self::take_from_pool) bytes back to the pool, which keeps some for later runs.
    pub(crate) fn give_to_pool(&self, bytes: u64) {
        if !self.is_forked() {
            let has_views = self.memory_pool.views.load(Ordering::Relaxed) > 0;
            self.shrink_pool(bytes, if has_views { self.share_of_limit(KEPT) } else { 0 });
        }
    }

    /// Records that a view by the page begins; the pool keeps some of the returned memory for its runs.
    pub(crate) fn begin_view_by_page(&self) {
        self.memory_pool.views.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a view by the page ends. The last one drops the kept memory.
    pub(crate) fn end_view_by_page(&self) {
        if self.memory_pool.views.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.give_to_pool(0);
        }
    }

    /// Frees `freed` bytes, and keeps at most `most` free ones; true if the pool gave something up.
    fn shrink_pool(&self, freed: u64, most: u64) -> bool {
        let mut pool = self.memory_pool.pool.lock();
        pool.free += freed;
        let beyond = pool.free.saturating_sub(most);
        pool.free -= beyond;
        let reserved = (pool.charge.bytes() as u64).saturating_sub(beyond);
        pool.charge.set(reserved as usize);
        beyond > 0
    }

    /// Gives up memory that is kept only for speed: cached views, versions that wait to be freed, and empty
    /// regions.
    #[cold]
    pub(super) fn give_up_memory(&self) {
        self.views.forget();
        self.drop_page_versions();
        // Versions that a closed snapshot pinned, for instance the snapshot of a checkpoint.
        let mut left = Vec::new();
        self.reclaim_unlatched(&mut left, false);
        left.into_iter().for_each(|(chain, gone)| self.keep(chain, gone));
        let memory = self.subgraphs.memory();
        memory.retire_list().drain();
        memory.arena().trim();
    }

    /// Gives up memory that is kept for later reads; returns true if there was some. The caller must hold
    /// nothing.
    pub(crate) fn give_up_kept(&self) -> bool {
        let kept: Vec<_> = self.memory_pool.kept.lock().iter().filter_map(Weak::upgrade).collect();
        let gave = kept.iter().fold(false, |gave, kept| kept.give_up() | gave);
        drop(kept); // this may be the last handle: drop it before the memory that it gives back
        self.shrink_pool(0, 0) | gave
    }

    /// Waits until no read is in line, before a call that reads by the page begins. The caller must have no
    /// reservation.
    pub(crate) fn wait_behind_line(&self) {
        if !self.memory_pool.is_waited_for() || self.is_forked() {
            return;
        }
        let mut still = self.stillness();
        while self.memory_pool.is_waited_for() && !self.is_still(&mut still) {
            std::thread::sleep(FREED);
        }
    }

    /// True if the limit has room for a copy of `bytes` bytes, after eviction and after giving up memory kept
    /// for reads. Other threads may take this room. The caller must hold no latch and be in no walk; it may
    /// hold its reservation.
    #[cold]
    pub(crate) fn has_room_to_copy(&self, bytes: u64) -> bool {
        self.memory_limit.is_none_or(|limit| self.has_room_without_kept(limit, Need::of_copy(bytes, limit)))
    }

    /// True if the limit has room, after data was given up or evicted, and if need be memory kept for later
    /// reads.
    pub(super) fn has_room_without_kept(&self, limit: u64, need: Need) -> bool {
        self.has_room(limit, need) || (self.give_up_kept() && self.has_room(limit, need))
    }

    /// Waits in line, behind earlier waiters, until the limit has room for a copy of `bytes` bytes, or
    /// nothing in progress may make room. The caller must hold nothing, and have no reservation; it keeps its
    /// place in line until it has read.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`](crate::StorageError::MemoryLimit).
    #[cold]
    pub(crate) fn wait_for_room<'c>(&'c self, bytes: u64, line: &mut Option<Line<'c>>) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let (mut still, mut looks) = (self.stillness(), 0);
        // A read that needs more than the whole limit does not wait.
        while bytes <= limit && looks < FEWEST_LOOKS && !self.is_still(&mut still) {
            if line.is_none() {
                *line = self.memory_pool.first_in_line();
            }
            if line.is_some() {
                let since = self.memory_pool.uses.ended();
                if self.has_room_to_copy(bytes) {
                    return Ok(());
                }
                self.ask_for_room(limit);
                looks = if self.may_gain_room((bytes, limit), since) { 0 } else { looks + 1 };
            }
            std::thread::sleep(FREED);
        }
        Err(self.no_room_to_read(bytes))
    }

    /// True if something in progress may make room for these bytes. `since`: the number of reads that had
    /// ended before.
    fn may_gain_room(&self, (bytes, limit): (u64, u64), since: u64) -> bool {
        // In a turn, so that the reservation of another read is found together with the mark of its begin.
        let has_room = self.reservations.take(|| self.fits_now(limit, Need::of_copy(bytes, limit)), || ());
        has_room
            || self.memory_pool.uses.may_give_back(since)
            || self.reservations.promised() > 0
            || self.subgraphs.memory().retire_list().stats().versions > 0
            || self.eviction.demand.is_making_room(self.log_bound.has_thread())
    }

    fn stillness(&self) -> Stillness {
        Stillness { since: Instant::now(), seen: self.given_back() }
    }

    /// Returns counts that grow with each read that ends, and each checkpoint.
    fn given_back(&self) -> (u64, u64) {
        (self.memory_pool.uses.ended(), self.eviction.demand.ended())
    }

    /// True if no memory was given back for a long time.
    fn is_still(&self, still: &mut Stillness) -> bool {
        let now = self.given_back();
        if now != still.seen {
            *still = Stillness { since: Instant::now(), seen: now };
        }
        still.since.elapsed() > MOST_STILL
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
