//! Subgraphs that a commit loads before it latches.

use hedgerow_core::sync::MutexGuard;
use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::table::PAGE;

use super::page_of;
use crate::error::{CommitError, Error, Result, StorageError};
use crate::state::store::Core;

/// The greatest number of loads of a commit. If each time a subgraph is evicted again before the commit has
/// its latches, the commit fails.
const MOST_LOADS: u32 = 8;

/// The subgraphs and memory that a commit needs at the same time, as far as its attempts have shown.
#[derive(Default)]
pub(crate) struct CommitLoads<'c> {
    /// The subgraphs that the commit had to load, sorted.
    subgraphs: Vec<(LabelId, SubgraphId)>,
    loads: u32,
    merges: u64,
    turn: Option<MutexGuard<'c, ()>>,
}

impl CommitLoads<'_> {
    fn add(&mut self, more: &[(LabelId, SubgraphId)]) {
        self.subgraphs.extend(more);
        self.subgraphs.sort_unstable();
        self.subgraphs.dedup();
        self.loads += 1;
    }

    /// Records the bytes of the commit's merges. Making room for them may have evicted subgraphs that the
    /// commit had loaded: when it loads these again, it makes room for both.
    pub(crate) fn note_merges(&mut self, bytes: u64) {
        self.merges = bytes.max(self.merges);
    }
}

impl Core {
    /// Loads `unloaded`, and earlier loads of the commit that were evicted since, for a commit that has
    /// released everything that it held. First makes room for all of them, and for the commit's merges. If
    /// each subgraph made room for itself, it would evict others of the same commit. A commit of many
    /// subgraphs in a small memory would never have all of them.
    ///
    /// If the limit has no room, from the second load on the commit waits for a checkpoint, as before its
    /// begin (rule E7). Commits that load a second time take turns.
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`](crate::CommitError::MemoryLimit) if its need does not fit, or other
    /// threads evict its subgraphs each time; those of a commit that waits; damage and the system's errors.
    pub(crate) fn load_for_commit<'c>(
        &'c self,
        loads: &mut CommitLoads<'c>,
        unloaded: &[(LabelId, SubgraphId)],
    ) -> Result<()> {
        loads.add(unloaded);
        if let Some(limit) = self.memory_limit {
            self.find_room_for_loads(limit, loads)?;
        }
        let load = || self.load_subgraphs(loads.subgraphs.iter().copied());
        let loaded = match load() {
            Err(Error::Storage(StorageError::MemoryLimit { needed, .. })) => {
                self.find_room_to_merge(needed)?;
                load()
            }
            done => done,
        };
        loaded.map_err(|error| match (error, self.memory_limit) {
            // Each time, other threads have evicted subgraphs that the commit had loaded.
            (Error::Storage(StorageError::NotInMemory(_)), Some(limit)) => {
                self.no_room(limit, self.bytes_to_load_all(&loads.subgraphs))
            }
            (error, _) => error.of_commit(),
        })
    }

    fn find_room_for_loads<'c>(&'c self, limit: u64, loads: &mut CommitLoads<'c>) -> Result<()> {
        let again = loads.loads > 1;
        if again && loads.turn.is_none() {
            loads.turn = Some(self.eviction.turn());
        }
        let lists = self.bytes_to_load_all(&loads.subgraphs);
        // The bytes of lists are an estimate, and lists may not fit gaps of the arena: more room each time,
        // if possible.
        let more = (lists / 2).saturating_mul(u64::from(loads.loads - 1));
        let room = match self.find_room_to_load(lists.saturating_add(more), loads.merges, false) {
            Err(_) if again => self.find_room_to_load(lists, loads.merges, true),
            room => room,
        };
        if loads.loads > MOST_LOADS {
            return room.and(Err(self.no_room(limit, lists.saturating_add(loads.merges))));
        }
        match room {
            // If the limit has no room for the estimate, nothing else is in memory: try to load nevertheless.
            Err(Error::Commit(CommitError::MemoryLimit { .. })) => Ok(()),
            room => room,
        }
    }

    /// Estimates the bytes of subgraphs to load, in the order of their labels and ids: the mean of its page
    /// for each, or the whole page if that is loaded as a whole.
    fn bytes_to_load_all(&self, subgraphs: &[(LabelId, SubgraphId)]) -> u64 {
        let pages = subgraphs.chunk_by(|&(a, s), &(b, t)| page_of(a, s) == page_of(b, t));
        let (mut sum, mut largest) = (0u64, 0);
        for some in pages {
            let (label, first) = some[0];
            let page = page_of(label, first);
            let bytes = self.bytes_to_load(page);
            largest = bytes.max(largest);
            let is_whole = self.is_unloaded(label, first) && !self.is_large_page(page);
            let of_some = if is_whole { bytes } else { bytes / PAGE as u64 * some.len() as u64 };
            sum = sum.saturating_add(of_some);
        }
        // Lists differ in length; among many lists the differences even out.
        sum.saturating_add(sum / 8).saturating_add(largest / 4)
    }
}
