//! Making room for a need, and waiting for it: the part of the [budget](crate::budget) that evicts.
//!
//! A call that waits holds nothing: no latch, no lock, and no memory. So it never waits for a call that waits
//! for it (rule B2 of `docs/design/budget.md`).

pub mod buffers;
pub mod commit;
mod shortage;

use std::time::Duration;

use hedgerow_catalog::error::{CommitError, Error, Result, Shortage, StorageError};
use hedgerow_core::sync::Ordering;

use crate::budget::taken::{Lends, Lent, Room, Stop, Taken};
use crate::budget::{EVICTED_AHEAD, For, Need, is_small};
use crate::eviction::checkpoint_demand::Waited;
use crate::limits::bytes_of;
use crate::pager::Pager;

/// The percentage of the limit from which on memory is scarce. Then the thread in the background evicts clean
/// data until `EVICTED_BELOW` percent less are used, and writes a checkpoint if that is not enough.
const SCARCE: u64 = 85;
const EVICTED_BELOW: u64 = 5;
/// The share of the limit by which the log must grow between two demands for room.
const ASKED_AGAIN: u64 = 64;

/// The greatest number of attempts of a call that finds no room at first.
const MOST_ATTEMPTS: usize = 64;
/// The greatest number of times that a commit waits because memory was given back after its search.
const MOST_ROUNDS: usize = 3;
/// The greatest number of checkpoints for which a call waits, and the number for which it waits although no
/// commit was published since the last one.
const MOST_CHECKPOINTS: u32 = 8;
const FEWEST_CHECKPOINTS: u32 = 2;
/// The greatest number of checks for room while a call waits for others, and the number of checks in a row
/// after which it ends if nothing in progress could make room. Progress is not always visible: for example, a
/// latch that keeps a chain in memory.
const MOST_LOOKS: u32 = 1_000;
const FEWEST_LOOKS: u32 = 3;
/// The time between two checks, in which other threads finish reads, or free memory.
const FREED: Duration = Duration::from_millis(10);

fn percent(limit: u64, percent: u64) -> u64 {
    limit / 100 * percent
}

/// The store of commits that wait for memory.
pub trait TakesCommits {
    /// Fails if the store takes no commits any more.
    ///
    /// # Errors
    /// Those of a store that is closed, read-only or poisoned.
    fn check_writable(&self) -> Result<()>;
    /// Returns the end of the log; 0 if there is no log.
    fn log_end(&self) -> u64;
}

impl Pager {
    /// Calls `f`, which takes memory for `what`. If `f` finds no room, makes room and calls it again; `f` has
    /// kept no memory then. The caller has no latch and is in no walk. With `waits` it has taken no memory
    /// either, and waits in line for others to give memory back.
    ///
    /// # Errors
    /// [`Stop::NoRoom`], if no call in progress and no checkpoint made room; the errors of `f`.
    pub fn with_room<R>(
        &self,
        (what, waits): (For, bool),
        mut f: impl FnMut(u64) -> std::result::Result<R, Stop>,
    ) -> std::result::Result<R, Stop> {
        let (mut needed, mut line) = (0, None);
        for _ in 0..MOST_ATTEMPTS {
            match f(needed) {
                Err(Stop::NoRoom(bytes)) => needed = bytes.max(needed),
                done => return done,
            }
            let mut need = Need::new(what, needed);
            if what == For::Load {
                need = need.with_block(self.block_of(needed));
            }
            if !waits {
                if !self.find_room(&need) && self.lasting_shortage(&need).is_some() {
                    break;
                }
                continue;
            }
            line.get_or_insert_with(|| self.budget.stand_in_line());
            self.wait_for_room(&need, None)?;
        }
        Err(Stop::NoRoom(needed))
    }

    /// Calls `read`, which reads files into memory of its own, and returns that memory with the result. If
    /// the limit has no room, makes room or waits for it, and calls `read` again. The caller must hold
    /// nothing. A thread that lends memory to code of its caller never waits, since others may wait for that
    /// code.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; the errors of `read`.
    pub fn read_within<R, E: Into<Error>>(
        &self,
        mut read: impl FnMut(&mut Room) -> Result<R, E>,
    ) -> Result<(R, Lent)> {
        let waits = Lends::depth() == 0;
        let mut goes_first = !waits;
        let read = |_| {
            let mut room = Room::of_list(&self.budget, goes_first);
            goes_first = true;
            let found = read(&mut room).map_err(Into::into);
            let found = room.checked(found)?;
            Ok((found, Lent::new(room)))
        };
        self.with_room((For::Read, waits), read).map_err(|stop| self.error_of(stop))
    }

    /// Calls `load`, which reads about `about` bytes from files into the arena. If the limit has no room for
    /// them, makes room by eviction and calls `load` again. The caller must hold nothing.
    ///
    /// # Errors
    /// [`StorageError::MemoryLimit`]; the errors of `load`.
    pub(crate) fn load_within<R>(
        &self,
        about: u64,
        mut load: impl FnMut(&mut Room) -> Result<R>,
    ) -> Result<R> {
        let load = |needed: u64| {
            let mut taken = Taken::new(&self.budget, For::Load);
            let mut meet = |bytes| taken.meet(Need::new(For::Load, bytes).with_block(self.block_of(bytes)));
            // The need for images after the one without room is unknown: takes somewhat more, if it is there.
            let has_more = needed > about && meet(needed.saturating_add(needed / 8));
            if !has_more && !meet(needed.max(about)) {
                return Err(Stop::NoRoom(needed.max(about)));
            }
            let mut room = Room::copying(taken);
            let loaded = load(&mut room);
            match room.needed() {
                Some(needed) => Err(Stop::NoRoom(needed)),
                None => Ok(loaded?),
            }
        };
        self.with_room((For::Load, false), load).map_err(|stop| self.error_for(stop, For::Load))
    }

    /// Returns the bytes of a load that gaps of the arena may not serve. Together with other loads it may
    /// need more regions than the slack allows for.
    pub(crate) fn block_of(&self, bytes: u64) -> u64 {
        self.memory_limit.map_or(0, |limit| if is_small(limit, bytes) { 0 } else { bytes })
    }

    /// Returns the error that the user gets if a read stopped.
    pub fn error_of(&self, stop: Stop) -> Error {
        self.error_for(stop, For::Read)
    }

    /// Returns the error that the user gets if a call for `what` stopped.
    fn error_for(&self, stop: Stop, what: For) -> Error {
        match stop {
            Stop::NoRoom(needed) => StorageError::MemoryLimit(self.shortage(needed, what)).into(),
            Stop::Failed(error) => error,
        }
    }

    /// Ensures that the memory limit has room for a commit of `operations` operations. O(1); if room is
    /// short, first evicts data, and waits for a checkpoint. The caller must hold nothing (rule B2).
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`], [`CommitError::DiskFull`]; a
    /// [`StateError`](hedgerow_catalog::error::StateError) if the store was closed meanwhile.
    #[inline]
    pub fn check_room(&self, operations: usize, store: &impl TakesCommits) -> Result<()> {
        match self.memory_limit {
            None => Ok(()),
            Some(limit) => self.check_room_within(limit, bytes_of(operations), store),
        }
    }

    fn check_room_within(&self, limit: u64, bytes: u64, store: &dyn TakesCommits) -> Result<()> {
        let need = Need::new(For::Commit, bytes);
        if self.budget.total(limit) <= percent(limit, SCARCE) && self.budget.fits(&need) {
            return Ok(());
        }
        self.ask_for_room(limit, store.log_end());
        self.make_room_for_commit(&need, store)
    }

    /// Makes room for a commit that holds nothing. Waits for a checkpoint if necessary.
    ///
    /// # Errors
    /// Those of [`check_room`](Self::check_room).
    #[cold]
    pub fn make_room_for_commit(&self, need: &Need, store: &dyn TakesCommits) -> Result<()> {
        for _ in 0..MOST_ROUNDS {
            match self.wait_for_room(need, Some(store)) {
                Ok(()) => return Ok(()),
                Err(Stop::NoRoom(_)) => store.check_writable()?,
                Err(Stop::Failed(error)) => return Err(error),
            }
            if let Some(shortage) = self.lasting_shortage(need) {
                return Err(CommitError::MemoryLimit(shortage).into());
            }
        }
        Err(CommitError::MemoryLimit(self.shortage_of(need)).into())
    }

    /// Returns the reasons of a refusal, unless they show that there is room: after the search that found
    /// none, other calls or a checkpoint may have given memory back. Then the call searches once more.
    #[cold]
    fn lasting_shortage(&self, need: &Need) -> Option<Shortage> {
        let shortage = self.shortage_of(need);
        (need.what == For::Speed || shortage.needed > shortage.available()).then_some(shortage)
    }

    /// Makes room for the need of a call that holds nothing. Waits while calls or checkpoints in progress may
    /// make room, and for a checkpoint if there are changes that no checkpoint has.
    ///
    /// # Errors
    /// [`Stop::NoRoom`]; for a commit, [`CommitError::DiskFull`], and the error of a closed store.
    fn wait_for_room(&self, need: &Need, store: Option<&dyn TakesCommits>) -> std::result::Result<(), Stop> {
        let Some(limit) = self.memory_limit else { return Ok(()) };
        let (mut checkpoints, mut idle) = (0, 0);
        let check_writable = || store.map_or(Ok(()), |store| store.check_writable());
        for looks in 0..MOST_LOOKS {
            let (since, published) = (self.budget.takings.ended(), self.order.clock.published());
            if self.find_room(need) {
                return Ok(());
            }
            // A call that needs more than the whole limit does not wait.
            if need.bytes > limit || idle >= FEWEST_LOOKS {
                break;
            }
            if looks == 0 && need.what == For::Commit {
                self.order.commit_waits.fetch_add(1, Ordering::Relaxed);
            }
            // Page versions of a checkpoint may free memory that snapshots hold.
            let fewest = if need.what == For::Commit { FEWEST_CHECKPOINTS } else { 0 };
            let unwritten = checkpoints < fewest || self.eviction.clean() < Some(published);
            if checkpoints < MOST_CHECKPOINTS && unwritten && self.has_files {
                match self.eviction.demand.wait(checkpoints == 0, || self.helper.ask()) {
                    Waited::Held => {
                        (checkpoints, idle) = (checkpoints + 1, 0);
                        check_writable()?;
                        continue;
                    }
                    // The attempt may have made some room before the disk was full.
                    Waited::Failed { disk_full: true } if need.what == For::Commit => {
                        let found = self.find_room(need);
                        return if found { Ok(()) } else { Err(Error::from(CommitError::DiskFull).into()) };
                    }
                    Waited::Failed { .. } | Waited::Nobody => check_writable()?,
                }
            }
            idle = if self.may_gain_room(need, since) { 0 } else { idle + 1 };
            std::thread::sleep(FREED);
        }
        Err(Stop::NoRoom(need.bytes))
    }

    /// True if something in progress may make room. `since`: the number of holders of memory that had ended
    /// before the last check.
    fn may_gain_room(&self, need: &Need, since: u64) -> bool {
        // In a turn, so that the memory of another call is found together with the count of that call.
        let has_room = self.budget.takings.take(|| self.budget.fits(need), || ());
        has_room
            || self.budget.takings.may_give_back(since)
            || self.subgraphs.memory().retire_list().stats().versions > 0
            || !self.labels.free_pages()
            || self.eviction.demand.is_making_room(self.helper.has_thread())
    }

    /// Makes the thread in the background find room, if the log has grown enough since the last demand.
    fn ask_for_room(&self, limit: u64, log_end: u64) {
        if self.eviction.demand.should_ask(log_end, limit / ASKED_AGAIN) {
            self.eviction.demand.want_room();
            self.helper.ask();
        }
    }

    /// Evicts clean data, if memory is scarce; returns true if it is not scarce afterwards. For the thread in
    /// the background.
    pub fn has_made_room(&self) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let budget = &self.budget;
        self.give_up_memory();
        self.evict_until(|| budget.held(limit) <= percent(limit, SCARCE - EVICTED_BELOW));
        budget.held(limit) <= percent(limit, SCARCE)
    }

    /// True if the limit has room, if need be after giving up or evicting data. O(1) if there is room now.
    /// Other threads may take this room. The caller must hold no latch and be in no walk; it may hold memory.
    pub fn find_room(&self, need: &Need) -> bool {
        let Some(limit) = self.memory_limit else { return true };
        let budget = &*self.budget;
        if budget.fits(need) {
            return true;
        }
        self.give_up_memory();
        if budget.fits_returning(need) {
            return true;
        }
        // Loads give way to commits that wait.
        if need.what >= For::Load && self.eviction.demand.is_waited_for() {
            return false;
        }
        // Somewhat more than needed, so that the next calls find room.
        let more = need.and(limit / EVICTED_AHEAD);
        self.evict_until(|| budget.fits_returning(&more));
        let fits = || budget.fits_returning(need);
        let shrinks = || need.what < For::Speed && self.cold.cache().shrink();
        fits() || ((shrinks() | budget.give_up_kept()) && fits())
    }

    /// Gives up memory that is kept only for speed: cached views, versions that wait to be freed, and empty
    /// regions.
    #[cold]
    pub(crate) fn give_up_memory(&self) {
        self.views.give_up();
        self.drop_page_versions();
        // Versions that a closed snapshot pinned, for instance the snapshot of a checkpoint.
        let mut left = Vec::new();
        self.reclaim_unlatched(&mut left, false);
        left.into_iter().for_each(|(chain, gone)| self.keep_for(chain, gone));
        let memory = self.subgraphs.memory();
        memory.retire_list().drain();
        self.labels.free_pages();
        memory.arena().trim();
    }
}
