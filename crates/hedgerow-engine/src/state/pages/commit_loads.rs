//! What a commit reads back into memory before it latches.

use hedgerow_core::sync::MutexGuard;
use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::table::PAGE;

use super::page_of;
use crate::error::{CommitError, Error, Result, StorageError};
use crate::state::store::Core;

/// A commit loads what it needs at most so many times; if a part of it has left memory again each time when the commit has its latches, it is refused.
const MOST_LOADS: u32 = 8;

/// What a commit needs in memory at the same time, as far as its attempts have told.
#[derive(Default)]
pub(crate) struct CommitLoads<'c> {
    /// What it had to have read back. Sorted.
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

    /// Notes how many bytes the commit's merges take. The room that was made for them may have evicted subgraphs that the commit had loaded: when it
    /// loads those again, it asks for room for both.
    pub(crate) fn note_merges(&mut self, bytes: u64) {
        self.merges = bytes.max(self.merges);
    }
}

impl Core {
    /// Loads `unloaded` for a commit that has let go of all that it held, and what it had loaded before if that left memory since. Room for all
    /// of it, and for its merges, is made first: where each subgraph made room for itself, those of the same commit left memory for it, and a
    /// commit of many subgraphs in a small memory never had all of its own. From the second time on the commit waits for a checkpoint where the limit
    /// leaves no room, as it does before it begins (rule E7), and commits that load a second time take turns.
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`](crate::CommitError::MemoryLimit) where what it needs does not fit, or others take it out of memory again each time;
    /// those of a commit that waits; damage and the system's errors.
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
            // Others took out of memory, each time, what the commit had loaded.
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
        // What lists take is an estimate, and gaps of the arena may not fit: more room each time, if there is.
        let more = (lists / 2).saturating_mul(u64::from(loads.loads - 1));
        let room = match self.find_room_to_load(lists.saturating_add(more), loads.merges, false) {
            Err(_) if again => self.find_room_to_load(lists, loads.merges, true),
            room => room,
        };
        if loads.loads > MOST_LOADS {
            return room.and(Err(self.no_room(limit, lists.saturating_add(loads.merges))));
        }
        match room {
            // Where the limit has no room for what was estimated, nothing else is in memory, and it is tried all the same.
            Err(Error::Commit(CommitError::MemoryLimit { .. })) => Ok(()),
            room => room,
        }
    }

    /// About what subgraphs take that are read back, in the order of their labels and ids: by what those of a page take in the mean, and all of a
    /// page that comes as a whole.
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
        // Lists differ in length: of many it matters less.
        sum.saturating_add(sum / 8).saturating_add(largest / 4)
    }
}
