//! What a commit reads back into memory before it latches.

use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::table::PAGE;

use super::page_of;
use crate::error::{Error, Result, StorageError};
use crate::state::store::Core;

/// A commit that so many times did not find in memory, under its latches, what it had loaded is refused.
const MOST_LOADS: u32 = 8;

/// What a commit needs in memory at the same time, as far as its attempts have told.
#[derive(Default)]
pub(crate) struct CommitLoads {
    /// What it had to have read back. Sorted.
    subgraphs: Vec<(LabelId, SubgraphId)>,
    loads: u32,
    merges: u64,
}

impl CommitLoads {
    fn add(&mut self, more: &[(LabelId, SubgraphId)]) {
        self.subgraphs.extend(more);
        self.subgraphs.sort_unstable();
        self.subgraphs.dedup();
        self.loads += 1;
    }
}

impl Core {
    /// Loads `unloaded` for a commit that has let go of all that it held, and what it had loaded before if that left memory since. Room for all
    /// of it, and for its merges, is made first: where each subgraph made room for itself, those of the same commit left memory for it, and a
    /// commit of many subgraphs in a small memory never had all of its own. Where the limit leaves no room, it waits for a checkpoint as it does
    /// before it begins (rule E7).
    ///
    /// # Errors
    /// [`CommitError::MemoryLimit`](crate::CommitError::MemoryLimit) where what it needs does not fit; damage and the system's errors.
    pub(crate) fn load_for_commit(
        &self,
        loads: &mut CommitLoads,
        unloaded: &[(LabelId, SubgraphId)],
    ) -> Result<()> {
        loads.add(unloaded);
        let lists = self.bytes_to_load_all(&loads.subgraphs);
        let needed = lists.saturating_add(loads.merges);
        // What lists take is an estimate, and gaps of the arena may not fit: more room each time, if there is.
        let more = lists / 2 * u64::from(loads.loads - 1);
        let room = self
            .find_room_to_load(needed.saturating_add(more))
            .or_else(|error| if more > 0 { self.find_room_to_load(needed) } else { Err(error) });
        if loads.loads > MOST_LOADS {
            return room.and(Err(self.no_room(self.memory_limit.unwrap_or(u64::MAX), needed)));
        }
        // What lists and merges take is an estimate: where the limit has no room for it, nothing else is in memory, and it is tried all the same.
        let load = || self.load_subgraphs(loads.subgraphs.iter().copied());
        match load() {
            Err(Error::Storage(StorageError::MemoryLimit { needed, .. })) => {
                self.find_room_to_merge(needed)?;
                load()
            }
            done => done,
        }
    }

    /// Makes room for merges of a commit that has let go of all that it held. What it had loaded may leave memory for it, so that it asks for room
    /// for both when it [loads](Self::load_for_commit) that again.
    ///
    /// # Errors
    /// As of [`find_room_to_merge`](Self::find_room_to_merge).
    pub(crate) fn make_room_to_merge(&self, loads: &mut CommitLoads, needed: u64) -> Result<()> {
        loads.merges = needed.max(loads.merges);
        self.find_room_to_merge(needed)
    }

    /// About what subgraphs take that are read back, in the order of their labels and ids: by what those of a page take in the mean.
    fn bytes_to_load_all(&self, subgraphs: &[(LabelId, SubgraphId)]) -> u64 {
        if self.memory_limit.is_none() {
            return 0;
        }
        let pages = subgraphs.chunk_by(|&(a, s), &(b, t)| page_of(a, s) == page_of(b, t));
        let (mut sum, mut largest) = (0u64, 0);
        for some in pages {
            let bytes = self.bytes_to_load(page_of(some[0].0, some[0].1));
            largest = bytes.max(largest);
            sum = sum.saturating_add(bytes / PAGE as u64 * some.len() as u64);
        }
        // Lists differ in length: of many it matters less.
        sum.saturating_add(sum / 8).saturating_add(largest / 4)
    }
}
