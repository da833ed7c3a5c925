//! The share of the limit that commits may use, and charges that are updated now and then.

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

/// The spare, for needs that a commit does not foresee, such as an increment of a region: these bytes, or
/// this share of a small limit.
const SPARE: (u64, u64) = (2 << 20, 32);

/// The share of the limit that a thread without room frees in addition to its need.
const EVICTED_AHEAD: u64 = 32;

/// The percentage of the limit from which on memory is scarce. Then the thread in the background evicts clean
/// data until `EVICTED_BELOW` percent less are used, and writes a checkpoint if that is not enough.
const SCARCE: u64 = 85;
const EVICTED_BELOW: u64 = 5;
/// The share of the limit by which the log must grow between two demands for room.
const ASKED_AGAIN: u64 = 64;

/// The greatest number of checkpoints for which a commit waits. After `FEWEST_CHECKPOINTS` it waits only
/// while others commit.
const MOST_CHECKPOINTS: u32 = 8;
const FEWEST_CHECKPOINTS: u32 = 2;
/// The time between two checks for room, in which other threads finish reads, or free memory.
pub(super) const FREED: Duration = Duration::from_millis(10);

/// The reserve for the buffers of the log and of a checkpoint: these bytes, or this share of a small limit.
const BUFFERS: (u64, u64) = (4 << 20, 8);

/// The bytes of a view for each subgraph and direction, without copies and corrections.
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

/// Returns the bytes of the spare that must stay unopened when regions are opened for blocks that fit no gap.
pub(super) fn unopened(limit: u64) -> u64 {
    spare(limit) / 4
}

/// True if one allocation of `bytes` is too large for the spare.
pub(super) fn is_large(limit: u64, bytes: u64) -> bool {
    bytes > spare(limit) / 8
}

/// A need for room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    bytes: u64,
    /// The bytes that must stay free in addition to `bytes`.
    spare: u64,
    /// The bytes that may be needed as one allocation, which may fit no gap of the arena.
    block: u64,
    /// The bytes that a commit leaves for one block that a read needs, in a store that reads from files.
    for_reads: u64,
    /// The bytes to leave for buffers that are not allocated yet.
    buffers: u64,
}

impl Need {
    /// Makes the need of a commit.
    pub(super) fn of_commit(bytes: u64, limit: u64) -> Need {
        let spare = spare(limit);
        Need { bytes, spare, block: 0, for_reads: spare / 2, buffers: buffers(limit) }
    }

    /// Makes the need of a commit for one allocation, or for several that are freed only when the commit
    /// ends.
    pub(super) fn of_merge(bytes: u64, limit: u64) -> Need {
        Need { block: bytes, ..Need::of_commit(bytes, limit) }
    }

    /// Makes the need of a read of data outside memory. A read leaves less free than a commit, so that reads
    /// succeed when commits wait or fail.
    fn of_read(bytes: u64, limit: u64) -> Need {
        Need::of_load(bytes, 0, limit)
    }

    /// Makes the need of a read into the arena, while other reads have promises of `promised` bytes. Together
    /// they may need more regions than the spare allows for.
    pub(super) fn of_load(bytes: u64, promised: u64, limit: u64) -> Need {
        let block = if is_large(limit, bytes.saturating_add(promised)) { bytes } else { 0 };
        Need { bytes, spare: unopened(limit), block, for_reads: 0, buffers: buffers(limit) / 2 }
    }

    /// Makes the need of an optional load into the arena, which leaves `left` bytes free.
    pub(super) fn of_wish(bytes: u64, left: u64, promised: u64, limit: u64) -> Need {
        Need { bytes: bytes.saturating_add(left), ..Need::of_load(bytes, promised, limit) }
    }

    /// Makes the need of a commit that loads lists into the arena, and then merges. The memory of the merges
    /// is freed only when the commit ends.
    pub(super) fn of_loads(lists: u64, merges: u64, limit: u64) -> Need {
        Need { block: merges, ..Need::of_commit(lists.saturating_add(merges), limit) }
    }

    /// True if the limit could satisfy the need with nothing else in memory.
    pub(super) fn is_within(&self, limit: u64) -> bool {
        self.bytes.saturating_add(self.spare).saturating_add(self.buffers) <= limit
    }

    /// Makes the need of a small read. It may use the reserve for blocks that fit no gap, and that for
    /// buffers that are not allocated.
    pub(super) fn of_last(bytes: u64) -> Need {
        Need { bytes, spare: 0, block: bytes, for_reads: 0, buffers: 0 }
    }

    /// Makes the need of a read into memory outside the arena, which gaps of the arena cannot serve. It
    /// leaves all bytes for buffers of a checkpoint free, since a checkpoint finds room for them only by
    /// eviction.
    pub(super) fn of_copy(bytes: u64, limit: u64) -> Need {
        Need { block: bytes, buffers: buffers(limit), ..Need::of_read(bytes, limit) }
    }
}

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

    /// Ensures that the memory limit has room for a commit of `operations` operations. O(1); if room is
    /// short, first evicts data, and waits for a checkpoint. The caller must hold nothing (rule E7).
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`], [`CommitError::DiskFull`]; a [`StateError`](crate::StateError) if the
    /// store was closed meanwhile.
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

    /// Makes room for a commit, and waits for a checkpoint if necessary.
    #[cold]
    pub(super) fn find_room(&self, limit: u64, need: Need) -> Result<()> {
        self.ask_for_room(limit);
        if self.has_room_without_kept(limit, need) { Ok(()) } else { self.wait_for_checkpoints(limit, need) }
    }

    /// Makes the thread in the background find room, if the log has grown enough since the last demand.
    pub(super) fn ask_for_room(&self, limit: u64) {
        if self.eviction.demand.should_ask(self.log_end(), limit / ASKED_AGAIN) {
            self.eviction.demand.want_room();
            self.log_bound.ask();
        }
    }

    /// Evicts clean data, if memory is scarce; returns true if it is not scarce afterwards. For the thread in
    /// the background.
    pub(crate) fn has_made_room(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        self.give_up_memory();
        self.evict_until(|| self.held(limit) <= percent(limit, SCARCE - EVICTED_BELOW));
        self.held(limit) <= percent(limit, SCARCE)
    }

    /// Waits until a checkpoint has ended, so that its data can be evicted, and checks for room again: first
    /// a checkpoint in progress, then checkpoints that begin later. Waits a few times more if others commit
    /// meanwhile and take the room.
    fn wait_for_checkpoints(&self, limit: u64, need: Need) -> Result<()> {
        self.commit_waits.fetch_add(1, Ordering::Relaxed);
        for attempt in 0..MOST_CHECKPOINTS {
            let published = self.clock.published();
            match self.eviction.demand.wait(attempt == 0, || self.log_bound.ask()) {
                Waited::Held => {}
                // The attempt may have made some room before the disk was full.
                Waited::Failed { disk_full: true } if self.has_room(limit, need) => return Ok(()),
                Waited::Failed { disk_full: true } => return Err(CommitError::DiskFull.into()),
                // Other threads merge or load at this moment: they finish soon.
                Waited::Failed { disk_full: false } | Waited::Nobody if self.reservations.promised() > 0 => {}
                Waited::Failed { disk_full: false } | Waited::Nobody => break,
            }
            self.check_writable()?;
            if self.has_room(limit, need) {
                return Ok(());
            }
            // Nothing changed since before the last checkpoint: another would change nothing either. Other
            // memory that may become free: evicted chains, when the walks that may stand on them have ended,
            // even on threads that do not run now; and reservations.
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

    /// Makes the error of a commit that needs `needed` bytes.
    pub(super) fn no_room(&self, limit: u64, needed: u64) -> Error {
        let used = self.account().used();
        let kept = self.taken(limit).saturating_sub(used).saturating_add(spare(limit));
        CommitError::MemoryLimit { limit, used, needed: needed.saturating_add(kept) }.into()
    }

    /// True if the limit has room, if need be after giving up or evicting data. O(1) if there is room now.
    pub(super) fn has_room(&self, limit: u64, need: Need) -> bool {
        let Need { bytes, spare, block, for_reads, buffers } = need;
        let block = if self.durable.is_some() { block.max(for_reads) } else { block };
        let taken = || self.taken_beside(buffers);
        if taken().saturating_add(bytes).saturating_add(spare) <= limit {
            return true;
        }
        self.give_up_memory();
        // The free memory of the arena is charged already, and serves the next blocks: so only held memory
        // counts, and what must be opened if no free block fits. In that case memory pages inside free blocks
        // are returned first, since one block keeps its region.
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
        // Somewhat more than needed, so that the next calls find room.
        self.evict_until(|| fits(bytes.saturating_add(limit / EVICTED_AHEAD)));
        fits(bytes)
    }

    /// True if the limit has room for a read now; gives up nothing for it. O(1); O(regions) if gaps of the
    /// arena serve the read.
    pub(super) fn fits_now(&self, limit: u64, need: Need) -> bool {
        let Need { bytes, spare, block, buffers, .. } = need;
        let taken = self.taken_beside(buffers);
        let needed = |bytes: u64| taken.saturating_add(bytes).saturating_add(spare);
        needed(bytes) <= limit
            || (needed(block) <= limit
                && needed(bytes).saturating_sub(self.subgraphs.arena().stats().free() as u64) <= limit)
    }

    /// Makes the arena return `bytes` bytes in memory pages inside free blocks, and some more, so that the
    /// next calls find room.
    fn return_pages(&self, bytes: u64, limit: u64) {
        let bytes = bytes.saturating_add(limit / EVICTED_AHEAD);
        self.subgraphs.arena().return_pages(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// Returns the bytes that are used, reserved by reads, or set aside for buffers of the log and of a
    /// checkpoint.
    #[inline]
    pub(super) fn taken(&self, limit: u64) -> u64 {
        self.taken_beside(buffers(limit))
    }

    /// Returns the bytes that are taken, if `buffers` bytes are set aside for buffers. A store without files
    /// needs none.
    #[inline]
    fn taken_beside(&self, buffers: u64) -> u64 {
        let (promised, account) = (self.reservations.promised(), self.account());
        let buffers = if self.durable.is_some() { buffers } else { 0 };
        let used = account.used_for(Purpose::Checkpoint) + account.used_for(Purpose::Log);
        promised + account.used() + buffers.saturating_sub(used)
    }

    /// Like [`taken`](Self::taken), but without the free memory of the arena.
    fn held(&self, limit: u64) -> u64 {
        self.taken(limit).saturating_sub(self.subgraphs.arena().stats().free() as u64)
    }

    /// True if merges since `used` approach the limit, since the free memory of the arena did not suffice.
    /// Leaves more room than the next commit demands, which may need less. O(1), near the limit O(regions).
    #[inline]
    pub(crate) fn is_full(&self, used: u64) -> bool {
        self.memory_limit.is_some_and(|limit| self.account().used() > used && self.is_nearly_full(limit))
    }

    fn is_nearly_full(&self, limit: u64) -> bool {
        self.taken(limit) + 2 * spare(limit) > limit
            && (self.taken(limit) + 3 * unopened(limit) > limit
                || self.held(limit) + 2 * spare(limit) > limit)
    }

    /// True if the limit has room to lay the lists out again, which needs the arena's content a second time.
    /// Always true for a store without files, since nothing else gives it room back.
    pub(crate) fn has_room_to_relocate(&self) -> bool {
        self.memory_limit.filter(|_| self.durable.is_some()).is_none_or(|limit| {
            // Returned memory pages are needed again when their regions are evacuated.
            let returned = self.subgraphs.arena().stats().returned as u64;
            let arena = self.account().used_for(Purpose::Arena).saturating_add(2 * returned);
            self.taken(limit).saturating_add(arena).saturating_add(spare(limit)) <= limit
        })
    }

    /// True if idle lists must stay as they are: settling them needs memory that commits and reads need more.
    /// O(1).
    pub(crate) fn is_too_full_to_settle(&self) -> bool {
        self.memory_limit.is_some_and(|limit| self.taken(limit) + 2 * spare(limit) > limit)
    }

    /// True if the limit has room to settle the next list in place, once lists replaced before it are freed.
    pub(crate) fn has_room_to_settle(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let need = Need { bytes: 0, spare: unopened(limit), block: 0, for_reads: 0, buffers: 0 };
        self.has_room(limit, need) || {
            std::thread::sleep(FREED);
            self.has_room(limit, need)
        }
    }

    /// True if the memory limit has room for a view that reads make: for its chunks, and for copies of a
    /// quarter of the lists. O(1).
    pub(crate) fn has_room_for_view(&self) -> bool {
        self.memory_limit.is_none_or(|limit| self.account().room() >= self.bytes_of_view() + spare(limit))
    }

    /// Estimates the memory of a view without shared lists: its chunks, and copies of a quarter of the lists
    /// in memory. O(1).
    pub(crate) fn bytes_of_view(&self) -> u64 {
        let chains = u64::from(self.subgraph_bound()) * self.directions().len() as u64;
        chains * VIEW_BYTES_PER_CHAIN + self.account().used_for(Purpose::Arena) / 4
    }

    /// Reads which segment has which image, unless that is known, and makes room for this map.
    pub(crate) fn read_runs(&self, durable: &Durable) -> Result<()> {
        let sources = self.pages.sources();
        // A separate statement: the lock must not be held while room is made.
        let are_read = durable.runs.lock().are_read();
        if let (Some(limit), false) = (self.memory_limit, are_read) {
            let images = sources.segments().map(|segment| segment.reader.info().subgraphs).sum::<u64>();
            // If there is no room, the map exceeds the limit while it is needed.
            let bytes = images.saturating_mul(Runs::MOST_BYTES_PER_IMAGE);
            self.has_room(limit, Need::of_read(bytes, limit));
        }
        durable.runs.lock().read(&sources)?;
        self.charge_coordination();
        Ok(())
    }

    /// Evicts chains from the memory that is set aside for buffers of a checkpoint, which begins to write.
    pub(crate) fn make_room_for_buffers(&self) {
        self.memory_limit.map(|limit| self.has_room(limit, Need::of_copy(0, limit)));
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
