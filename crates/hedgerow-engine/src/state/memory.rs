//! What commits may take of the memory limit, and what is charged now and then.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::sync::Ordering;

use crate::error::{ArgumentError, CommitError, Error, Result};
use crate::files::log::Durable;
use crate::files::runs::Runs;
use crate::state::checkpoint_demand::Waited;
use crate::state::limits::{MAX_OPERATIONS, bytes_of};
use crate::state::store::Core;

/// What is left of the limit for what a commit does not foresee: a piece of a region, or this share of a small limit.
const SPARE: (u64, u64) = (2 << 20, 32);

/// Who finds no room has this share of the limit made free beside what it needs.
const EVICTED_AHEAD: u64 = 32;

/// Percent of the limit from which on memory is scarce: the thread in the background takes out what is clean until so many less are used, and
/// writes a checkpoint if that is not enough.
const SCARCE: u64 = 85;
const EVICTED_BELOW: u64 = 5;
/// It is asked again when the log has grown by this share of the limit.
const ASKED_AGAIN: u64 = 64;

/// A commit waits for at most so many checkpoints, and for more than so many only while others commit.
const MOST_CHECKPOINTS: u32 = 8;
const FEWEST_CHECKPOINTS: u32 = 2;
/// Between two looks for room it gives threads that read, or free what was read, so much time.
pub(super) const FREED: Duration = Duration::from_millis(10);

/// What is kept free for the buffers of the log and of a checkpoint: so many bytes, or this share of a small limit.
const BUFFERS: (u64, u64) = (4 << 20, 8);

/// What a view takes for each subgraph and direction, copies and corrections aside.
const VIEW_BYTES_PER_CHAIN: u64 = 400;

fn percent(limit: u64, percent: u64) -> u64 {
    limit / 100 * percent
}

fn buffers(limit: u64) -> u64 {
    BUFFERS.0.min(limit / BUFFERS.1)
}

fn spare(limit: u64) -> u64 {
    SPARE.0.min(limit / SPARE.1)
}

/// What is left of the spare when regions are opened for blocks that fit no gap.
pub(super) fn unopened(limit: u64) -> u64 {
    spare(limit) / 4
}

/// Whether so many bytes in one piece are more than the spare is for.
pub(super) fn is_large(limit: u64, bytes: u64) -> bool {
    bytes > spare(limit) / 8
}

/// What somebody needs room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    bytes: u64,
    /// What is to be left beside them.
    spare: u64,
    /// How many of the bytes may come in one piece, which may fit no gap of the arena.
    block: u64,
    /// What a commit leaves for a block that a read needs, in a store that reads from files.
    for_reads: u64,
    /// What is kept for buffers that are not there yet.
    buffers: u64,
}

impl Need {
    /// Of a commit.
    pub(super) fn of_commit(bytes: u64, limit: u64) -> Need {
        let spare = spare(limit);
        Need { bytes, spare, block: 0, for_reads: spare / 2, buffers: buffers(limit) }
    }

    /// Of a commit that needs so many bytes in one piece, or in pieces that are freed only when it is over.
    pub(super) fn of_merge(bytes: u64, limit: u64) -> Need {
        Need { block: bytes, ..Need::of_commit(bytes, limit) }
    }

    /// Of a read of what is not in memory. Commits leave more free than it does: so reads go on where commits wait or are refused.
    fn of_read(bytes: u64, limit: u64) -> Need {
        Need::of_load(bytes, 0, limit)
    }

    /// Of a read into the arena, beside others to which so many bytes are `promised`: together they may open more than is left for it.
    pub(super) fn of_load(bytes: u64, promised: u64, limit: u64) -> Need {
        let block = if is_large(limit, bytes.saturating_add(promised)) { bytes } else { 0 };
        Need { bytes, spare: unopened(limit), block, for_reads: 0, buffers: buffers(limit) / 2 }
    }

    /// Of a read into the arena that is only wished for: it leaves `left` beside what it loads.
    pub(super) fn of_wish(bytes: u64, left: u64, promised: u64, limit: u64) -> Need {
        Need { bytes: bytes.saturating_add(left), ..Need::of_load(bytes, promised, limit) }
    }

    /// Of what a commit is about to load into the arena, and then merges, which take pieces that are freed only when it is over.
    pub(super) fn of_loads(lists: u64, merges: u64, limit: u64) -> Need {
        Need { block: merges, ..Need::of_commit(lists.saturating_add(merges), limit) }
    }

    /// Whether the limit has as much at all, with nothing in memory.
    pub(super) fn is_within(&self, limit: u64) -> bool {
        self.bytes.saturating_add(self.spare).saturating_add(self.buffers) <= limit
    }

    /// Of a small read that may have what is left for blocks that fit no gap, and for buffers that are not there.
    pub(super) fn of_last(bytes: u64) -> Need {
        Need { bytes, spare: 0, block: bytes, for_reads: 0, buffers: 0 }
    }

    /// Of a read into memory that is not of the arena, whose gaps are no room for it. It leaves all that buffers of a checkpoint may take: that
    /// makes room for them by what can be evicted.
    pub(super) fn of_copy(bytes: u64, limit: u64) -> Need {
        Need { block: bytes, buffers: buffers(limit), ..Need::of_read(bytes, limit) }
    }
}

impl Core {
    /// What the memory of the store is charged to.
    #[inline]
    pub(crate) fn account(&self) -> &Arc<Account> {
        self.subgraphs.memory().account()
    }

    /// Refuses transactions of more operations than one may have, by their number or by the memory limit. O(1).
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

    /// Sees to it that the memory limit has room for a commit of so many operations: O(1), or, where room is short, once what can be given
    /// up was given up, and a checkpoint was waited for. To be called with nothing held (rule E7).
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`], [`CommitError::DiskFull`]; a [`StateError`](crate::StateError) if the store was closed meanwhile.
    #[inline]
    pub(crate) fn check_room(&self, operations: usize) -> Result<()> {
        match self.memory_limit {
            None => Ok(()),
            Some(limit) => self.check_room_within(limit, bytes_of(operations)),
        }
    }

    fn check_room_within(&self, limit: u64, needed: u64) -> Result<()> {
        let taken = self.taken(limit);
        if taken <= percent(limit, SCARCE) && taken + needed.saturating_add(spare(limit)) <= limit {
            return Ok(());
        }
        self.find_room(limit, Need::of_commit(needed, limit))
    }

    /// Makes room for a commit, and waits for a checkpoint if that is what it takes.
    #[cold]
    pub(super) fn find_room(&self, limit: u64, need: Need) -> Result<()> {
        self.ask_for_room(limit);
        if self.has_room_without_kept(limit, need) { Ok(()) } else { self.wait_for_checkpoints(limit, need) }
    }

    /// Has the thread in the background make room, if much was written since it was asked before.
    pub(super) fn ask_for_room(&self, limit: u64) {
        if self.eviction.demand.should_ask(self.log_end(), limit / ASKED_AGAIN) {
            self.eviction.demand.want_room();
            self.log_bound.ask();
        }
    }

    /// Takes out of memory what is clean, if memory is scarce; whether it is not any more. For the thread in the background.
    pub(crate) fn has_made_room(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        self.give_up_memory();
        self.evict_until(|| self.held(limit) <= percent(limit, SCARCE - EVICTED_BELOW));
        self.held(limit) <= percent(limit, SCARCE)
    }

    /// Waits until a checkpoint has ended, so that what it holds can leave memory, and looks again: first for one that is under way, then for
    /// those that begin after it. While others commit meanwhile, and take the room that came, a few times.
    fn wait_for_checkpoints(&self, limit: u64, need: Need) -> Result<()> {
        self.commit_waits.fetch_add(1, Ordering::Relaxed);
        for attempt in 0..MOST_CHECKPOINTS {
            let published = self.clock.published();
            match self.eviction.demand.wait(attempt == 0, || self.log_bound.ask()) {
                Waited::Held => {}
                // It may have made some room before the disk was full.
                Waited::Failed { disk_full: true } if self.has_room(limit, need) => return Ok(()),
                Waited::Failed { disk_full: true } => return Err(CommitError::DiskFull.into()),
                // What others merge or load at this moment is over soon.
                Waited::Failed { disk_full: false } | Waited::Nobody if self.reservations.promised() > 0 => {}
                Waited::Failed { disk_full: false } | Waited::Nobody => break,
            }
            self.check_writable()?;
            if self.has_room(limit, need) {
                return Ok(());
            }
            // Nothing changed since before a checkpoint that is over: another would change nothing either. What was taken out is freed once
            // the walks are over that may stand on it, which threads make that others keep from running; what is promised is given back.
            let is_freed = self.subgraphs.memory().retire_list().stats().versions == 0
                && self.reservations.promised() == 0;
            if attempt >= FEWEST_CHECKPOINTS && is_freed && published == self.clock.published() {
                break;
            }
            if attempt > 0 {
                std::thread::sleep(FREED);
            }
        }
        self.check_writable()?;
        Err(self.no_room(limit, need.bytes))
    }

    /// Why a commit is refused that needs so many bytes.
    pub(super) fn no_room(&self, limit: u64, needed: u64) -> Error {
        let used = self.account().used();
        let kept = self.taken(limit).saturating_sub(used).saturating_add(spare(limit));
        CommitError::MemoryLimit { limit, used, needed: needed.saturating_add(kept) }.into()
    }

    /// Whether the limit has room, once what can be given up was given up. O(1) where there is room.
    pub(super) fn has_room(&self, limit: u64, need: Need) -> bool {
        let Need { bytes, spare, block, for_reads, buffers } = need;
        let block = if self.durable.is_some() { block.max(for_reads) } else { block };
        let taken = || self.taken_beside(buffers);
        if taken().saturating_add(bytes).saturating_add(spare) <= limit {
            return true;
        }
        self.give_up_memory();
        // What the arena has free was taken already, and serves the next blocks: what is held counts and not what is open, but for what must be
        // opened where no free block fits.
        // There pages inside free blocks are given back first, since one block keeps its region.
        let opens = block.saturating_add(unopened(limit));
        let fits = |bytes: u64| {
            let free = self.subgraphs.arena().stats().free() as u64;
            taken().saturating_sub(free).saturating_add(bytes).saturating_add(spare) <= limit
                && (taken().saturating_add(opens) <= limit || {
                    self.return_pages(taken().saturating_add(opens).saturating_sub(limit), limit);
                    taken().saturating_add(opens) <= limit
                })
        };
        if fits(bytes) {
            return true;
        }
        // Some more than is needed, so that the next calls find room.
        self.evict_until(|| fits(bytes.saturating_add(limit / EVICTED_AHEAD)));
        fits(bytes)
    }

    /// Whether the limit has room for a read as things are: nothing is given up for it. O(1), O(regions) where gaps of the arena serve it.
    pub(super) fn fits_now(&self, limit: u64, need: Need) -> bool {
        let Need { bytes, spare, block, buffers, .. } = need;
        let taken = self.taken_beside(buffers);
        let needed = |bytes: u64| taken.saturating_add(bytes).saturating_add(spare);
        needed(bytes) <= limit
            || (needed(block) <= limit
                && needed(bytes).saturating_sub(self.subgraphs.arena().stats().free() as u64) <= limit)
    }

    /// Has the arena give back pages inside free blocks, of so many bytes, and some more, so that the next calls find room.
    fn return_pages(&self, bytes: u64, limit: u64) {
        let bytes = bytes.saturating_add(limit / EVICTED_AHEAD);
        self.subgraphs.arena().return_pages(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// The bytes that are used, promised to reads, or kept for buffers of the log and of a checkpoint.
    #[inline]
    pub(super) fn taken(&self, limit: u64) -> u64 {
        self.taken_beside(buffers(limit))
    }

    /// The bytes that are used, if so many are kept for buffers. A store without files has none.
    #[inline]
    fn taken_beside(&self, buffers: u64) -> u64 {
        let (promised, account) = (self.reservations.promised(), self.account());
        let buffers = if self.durable.is_some() { buffers } else { 0 };
        let used = account.used_for(Purpose::Checkpoint) + account.used_for(Purpose::Log);
        promised + account.used() + buffers.saturating_sub(used)
    }

    /// As [`taken`](Self::taken), without what the arena has free.
    fn held(&self, limit: u64) -> u64 {
        self.taken(limit).saturating_sub(self.subgraphs.arena().stats().free() as u64)
    }

    /// Whether who is building versions ahead of a commit, since `used` bytes were used, comes close to the limit: what it needs does
    /// not fit what the arena had free. More is left than the next commit asks for, which may need less. O(1), near the limit O(regions).
    #[inline]
    pub(crate) fn is_full(&self, used: u64) -> bool {
        self.memory_limit.is_some_and(|limit| self.account().used() > used && self.is_nearly_full(limit))
    }

    fn is_nearly_full(&self, limit: u64) -> bool {
        self.taken(limit) + 2 * spare(limit) > limit
            && (self.taken(limit) + 3 * unopened(limit) > limit
                || self.held(limit) + 2 * spare(limit) > limit)
    }

    /// Whether lists may be laid out anew: where the limit has room for all that the arena holds a second time. A store without files does so
    /// in any case, since nothing else gives it room back.
    pub(crate) fn has_room_to_relocate(&self) -> bool {
        self.memory_limit.filter(|_| self.durable.is_some()).is_none_or(|limit| {
            // Pages that were given back count again where their regions are evacuated.
            let returned = self.subgraphs.arena().stats().returned as u64;
            let arena = self.account().used_for(Purpose::Arena).saturating_add(2 * returned);
            self.taken(limit).saturating_add(arena).saturating_add(spare(limit)) <= limit
        })
    }

    /// Whether idle lists are to be left as they are: settling them needs memory that commits and reads need more. O(1).
    pub(crate) fn is_too_full_to_settle(&self) -> bool {
        self.memory_limit.is_some_and(|limit| self.taken(limit) + 2 * spare(limit) > limit)
    }

    /// Whether the limit has room for the next list that is settled where it is, once what was replaced before is freed.
    pub(crate) fn has_room_to_settle(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let need = Need { bytes: 0, spare: unopened(limit), block: 0, for_reads: 0, buffers: 0 };
        self.has_room(limit, need) || {
            std::thread::sleep(FREED);
            self.has_room(limit, need)
        }
    }

    /// Whether the memory limit has room for a view that nobody asked for: its chunks, and copies of a quarter of the lists. O(1).
    pub(crate) fn has_room_for_view(&self) -> bool {
        self.memory_limit.is_none_or(|limit| self.account().room() >= self.bytes_of_view() + spare(limit))
    }

    /// About what a view takes beside what it shares: its chunks, and copies of a quarter of the lists that are in memory. O(1).
    pub(crate) fn bytes_of_view(&self) -> u64 {
        let chains = u64::from(self.subgraph_bound()) * self.directions().len() as u64;
        chains * VIEW_BYTES_PER_CHAIN + self.account().used_for(Purpose::Arena) / 4
    }

    /// Reads which run has which image, unless that is known, and makes room for it.
    pub(crate) fn read_runs(&self, durable: &Durable) -> Result<()> {
        let sources = self.pages.sources();
        // By itself: the lock is not held while room is made.
        let are_read = durable.runs.lock().are_read();
        if let (Some(limit), false) = (self.memory_limit, are_read) {
            let images = sources.segments().map(|segment| segment.reader.info().subgraphs).sum::<u64>();
            // What cannot be given up for it is above the limit for as long as it is needed.
            let bytes = images.saturating_mul(Runs::MOST_BYTES_PER_IMAGE);
            self.has_room(limit, Need::of_read(bytes, limit));
        }
        durable.runs.lock().read(&sources)?;
        self.charge_coordination();
        Ok(())
    }

    /// Evicts chains where they stand in what is kept for the buffers of a checkpoint, which begins to write.
    pub(crate) fn make_room_for_buffers(&self) {
        self.memory_limit.map(|limit| self.has_room(limit, Need::of_copy(0, limit)));
    }

    /// Charges what commits, snapshots and checkpoints are ordered by as large as it is now: at opening, and when statistics are
    /// asked for. O(timestamps that versions wait for).
    pub(crate) fn charge_coordination(&self) {
        let runs = self.durable.as_ref().map_or(0, |durable| durable.runs.lock().bytes());
        let keys = self.pages.sources().key_index_bytes();
        let bytes = self.clock.bytes() + self.readers.bytes() + self.pending.bytes() + runs + keys;
        self.coordination.lock().set(bytes);
    }
}
