//! What commits may take of the memory limit, and what is charged now and then.

use std::sync::Arc;

use hedgerow_core::account::{Account, Purpose};

use crate::error::{ArgumentError, CommitError, Error, Result};
use crate::files::log::Durable;
use crate::state::limits::{MAX_OPERATIONS, bytes_of};
use crate::state::store::Core;

/// What is left of the limit for what a commit does not foresee: a piece of a region, or this share of a small limit.
const SPARE: (u64, u64) = (2 << 20, 32);

/// Who finds no room has this share of the limit made free beside what it needs.
const EVICTED_AHEAD: u64 = 32;

/// What a view takes for each subgraph and direction, copies and corrections aside.
const VIEW_BYTES_PER_CHAIN: u64 = 400;

fn spare(limit: u64) -> u64 {
    SPARE.0.min(limit / SPARE.1)
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

    /// Refuses a commit of so many operations that the memory limit leaves no room for. O(1); where room is short, once what can
    /// be given up was given up.
    #[inline]
    pub(crate) fn check_room(&self, operations: usize) -> Result<()> {
        match self.memory_limit {
            None => Ok(()),
            Some(limit) => self.check_room_within(limit, operations),
        }
    }

    fn check_room_within(&self, limit: u64, operations: usize) -> Result<()> {
        let needed = bytes_of(operations);
        match self.room_for(limit, needed) {
            Ok(()) => Ok(()),
            Err(used) => Err(CommitError::MemoryLimit { limit, used, needed: needed + spare(limit) }.into()),
        }
    }

    /// Whether the limit has room for `needed` bytes more, once what can be given up was given up; else how many are used. O(1) where
    /// there is room.
    pub(crate) fn room_for(&self, limit: u64, needed: u64) -> std::result::Result<(), u64> {
        let spare = spare(limit);
        if self.account().room() >= needed.saturating_add(spare) {
            return Ok(());
        }
        self.give_up_memory();
        // What the arena has free was taken already, and serves the next blocks. Whether it does for all of them is seen on the way.
        let fits = |needed: u64| {
            let (used, free) = (self.account().used(), self.subgraphs.arena().stats().free() as u64);
            // Blocks that chains left serve others, and regions that hold one block more than those stay: where chains are taken out of
            // memory, blocks are counted and not regions.
            (used + spare <= limit || self.eviction.happens())
                && (used + spare).saturating_add(needed) <= limit.saturating_add(free)
        };
        if fits(needed) {
            return Ok(());
        }
        // Some more than is needed, so that the next calls find room.
        self.evict_until(|| fits(needed.saturating_add(limit / EVICTED_AHEAD)));
        if fits(needed) { Ok(()) } else { Err(self.account().used()) }
    }

    /// Whether who is building versions ahead of a commit, since `used` bytes were used, comes close to the limit: what it needs does
    /// not fit what the arena had free. More is left than the next commit asks for, which may need less. O(1).
    #[inline]
    pub(crate) fn is_full(&self, used: u64) -> bool {
        self.memory_limit.is_some_and(|limit| {
            let now = self.account().used();
            now > used && now + 2 * spare(limit) > limit
        })
    }

    /// Why a commit is refused for which versions were built beside `used` bytes until the limit came close: it needs more than was left.
    pub(crate) fn no_room_beside(&self, used: u64) -> Error {
        let limit = self.memory_limit.unwrap_or(u64::MAX);
        let needed = limit.saturating_sub(used) + spare(limit);
        CommitError::MemoryLimit { limit, used, needed }.into()
    }

    /// Whether the memory limit has room for a view that nobody asked for: its chunks, and copies of a quarter of the lists. O(1).
    pub(crate) fn has_room_for_view(&self) -> bool {
        self.memory_limit.is_none_or(|limit| {
            let chains = u64::from(self.subgraph_bound()) * self.directions().len() as u64;
            let lists = self.account().used_for(Purpose::Arena);
            self.account().room() >= chains * VIEW_BYTES_PER_CHAIN + lists / 4 + spare(limit)
        })
    }

    /// Reads which run has which image, unless that is known, and makes room for it.
    pub(crate) fn read_runs(&self, durable: &Durable) -> Result<()> {
        durable.runs.lock().read(&self.pages.sources())?;
        self.charge_coordination();
        if let Some(limit) = self.memory_limit {
            // It is there already: what cannot be given up for it is above the limit for as long as it is needed.
            let _ = self.room_for(limit, 0);
        }
        Ok(())
    }

    /// Charges what commits, snapshots and checkpoints are ordered by as large as it is now: at opening, and when statistics are
    /// asked for. O(timestamps that versions wait for).
    pub(crate) fn charge_coordination(&self) {
        let runs = self.durable.as_ref().map_or(0, |durable| durable.runs.lock().bytes());
        let keys = self.pages.sources().key_index_bytes();
        let bytes = self.clock.bytes() + self.readers.bytes() + self.pending.bytes() + runs + keys;
        self.coordination.lock().set(bytes);
    }

    /// Gives up what the store keeps only to be faster: cached views, versions that wait to be freed, and empty regions.
    #[cold]
    fn give_up_memory(&self) {
        self.views.forget();
        let memory = self.subgraphs.memory();
        memory.retire_list().drain();
        memory.arena().trim();
    }
}
