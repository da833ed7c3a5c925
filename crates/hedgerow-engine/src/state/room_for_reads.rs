//! Memory that reads take of the [pool](super::memory_pool), and wait for.
//!
//! Who waits is *in line*: one at a time, which holds nothing that was reserved. While it waits, and until it has read, no other call begins
//! that reads by the page, so those that have begun end, and give back what they have. A wait ends without room once nothing is in
//! progress that could make some (rule E10 of `docs/design/protocol.md`).

use std::sync::Weak;
use std::time::{Duration, Instant};

use hedgerow_core::sync::Ordering;

use super::memory::{FREED, Need};
use super::memory_pool::Line;
use crate::error::Result;
use crate::state::store::Core;

/// So often it is looked whether something is in progress that does not show all the time: a checkpoint between its wish and its begin, a
/// latch that keeps a chain in memory.
const FEWEST_LOOKS: u32 = 3;
/// Code of callers may keep what a scan lends them for as long as it likes, and may wait for the reader itself: for so long nothing at all
/// was given back when a reader gives up.
const MOST_STILL: Duration = Duration::from_secs(10);

/// Reserved beyond a need, and kept for the runs to come: this share of the limit, or so many bytes without one.
const PORTION: (u64, u64) = (256, 64 << 10);
const KEPT: (u64, u64) = (64, 1 << 20);

/// For how long nothing was given back.
struct Stillness {
    since: Instant,
    seen: (u64, u64),
}

impl Core {
    fn share_of_limit(&self, (share, without): (u64, u64)) -> u64 {
        self.memory_limit.map_or(without, |limit| limit / share)
    }

    /// Whether so many bytes are the caller's now, who reads by the page. Nothing is given up for them. O(1); waits for others that do the
    /// same.
    pub(crate) fn take_from_pool(&self, bytes: u64) -> bool {
        if self.is_forked() {
            // The lock may be held for good. What is not in memory is refused when it is looked for.
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

    /// Gives back what was [taken](Self::take_from_pool): some of it is kept for the runs to come.
    pub(crate) fn give_to_pool(&self, bytes: u64) {
        if !self.is_forked() {
            let has_views = self.memory_pool.views.load(Ordering::Relaxed) > 0;
            self.shrink_pool(bytes, if has_views { self.share_of_limit(KEPT) } else { 0 });
        }
    }

    /// A view by the page begins, for whose runs some of what is given back is kept.
    pub(crate) fn begin_view_by_page(&self) {
        self.memory_pool.views.fetch_add(1, Ordering::Relaxed);
    }

    /// It ends. With the last one goes what is kept.
    pub(crate) fn end_view_by_page(&self) {
        if self.memory_pool.views.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.give_to_pool(0);
        }
    }

    /// Whether the pool gave something up, of which so many bytes more are free.
    fn shrink_pool(&self, freed: u64, most: u64) -> bool {
        let mut pool = self.memory_pool.pool.lock();
        pool.free += freed;
        let beyond = pool.free.saturating_sub(most);
        pool.free -= beyond;
        let reserved = (pool.charge.bytes() as u64).saturating_sub(beyond);
        pool.charge.set(reserved as usize);
        beyond > 0
    }

    /// Gives up what the store keeps only to be faster: cached views, versions that wait to be freed, and empty regions.
    #[cold]
    pub(super) fn give_up_memory(&self) {
        self.views.forget();
        self.drop_page_versions();
        // What a snapshot kept that has closed, that of a checkpoint for instance.
        let mut left = Vec::new();
        self.reclaim_unlatched(&mut left, false);
        left.into_iter().for_each(|(chain, gone)| self.keep(chain, gone));
        let memory = self.subgraphs.memory();
        memory.retire_list().drain();
        memory.arena().trim();
    }

    /// Gives up what is kept for reads to come; whether there was some. To be called with nothing held.
    pub(crate) fn give_up_kept(&self) -> bool {
        let kept: Vec<_> = self.memory_pool.kept.lock().iter().filter_map(Weak::upgrade).collect();
        let gave = kept.iter().fold(false, |gave, kept| kept.give_up() | gave);
        drop(kept); // the last handle perhaps, before what it gives back is
        self.shrink_pool(0, 0) | gave
    }

    /// Lets who is in line go first, before a call begins that reads by the page. To be called with nothing reserved.
    pub(crate) fn wait_behind_line(&self) {
        if !self.memory_pool.is_waited_for() || self.is_forked() {
            return;
        }
        let mut still = self.stillness();
        while self.memory_pool.is_waited_for() && !self.is_still(&mut still) {
            std::thread::sleep(FREED);
        }
    }

    /// Whether the limit has room for a copy of so many bytes, once what files hold and what is kept for reads left memory for it. Others may take
    /// it, and are not waited for. To be called with no latch and in no walk; the caller may hold what it has reserved.
    #[cold]
    pub(crate) fn has_room_to_copy(&self, bytes: u64) -> bool {
        self.memory_limit.is_none_or(|limit| self.has_room_without_kept(limit, Need::of_copy(bytes, limit)))
    }

    /// Whether the limit has room, once what can be given up was given up, and at last what is kept for reads to come.
    pub(super) fn has_room_without_kept(&self, limit: u64, need: Need) -> bool {
        self.has_room(limit, need) || (self.give_up_kept() && self.has_room(limit, need))
    }

    /// Waits until the limit has room for a copy of so many bytes: in line, behind others that wait, and then for as long as something is
    /// in progress that may make some. To be called with nothing held, and nothing reserved; the caller keeps its place in line until
    /// it has read.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`](crate::StorageError::MemoryLimit).
    #[cold]
    pub(crate) fn wait_for_room<'c>(&'c self, bytes: u64, line: &mut Option<Line<'c>>) -> Result<()> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let (mut still, mut looks) = (self.stillness(), 0);
        // More than the limit has at all is not waited for.
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

    /// Whether something is in progress that may make room for so many bytes, since so many reads had ended.
    fn may_gain_room(&self, (bytes, limit): (u64, u64), since: u64) -> bool {
        // In a turn: what another read has reserved is found with the mark that it has begun.
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

    /// What grows with each read that ends, and each checkpoint.
    fn given_back(&self) -> (u64, u64) {
        (self.memory_pool.uses.ended(), self.eviction.demand.ended())
    }

    /// Whether nothing was given back for long.
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
