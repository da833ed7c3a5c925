//! The reuse of ids, and when it is safe (invariant I22 in `docs/design/snapshots.md`).
//!
//! # Protocol
//! * Remover: draws its timestamp, notes it with the id, and completes.
//! * Committer that needs an id: loads the published timestamp and scans the registry, in this order
//!   ([`ActiveReaders::oldest`](crate::ActiveReaders::oldest)). It takes an id whose removal is not later
//!   than that oldest timestamp. Then it draws its own timestamp.
//!
//! State that is stored by id and not versioned (a vertex's key) is overwritten only after that. So a reader
//! that sees the removed vertex, registered now or later, never finds the state of the new vertex instead.

use std::collections::VecDeque;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Timestamp, VertexId};

/// The free ids below the bound of all assigned ids. They have no vertex, or will have none once a commit is
/// published.
#[derive(Default)]
pub struct FreeIds {
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Removed vertices, by the timestamp of their removal; in the order in which the removals were applied.
    removed: VecDeque<(Timestamp, VertexId)>,
    /// Ids for which no reader can see a vertex, as ranges.
    unused: Vec<(u32, u32)>,
}

/// An id for reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeId {
    /// No reader can see a vertex with this id, and no state of such a vertex exists.
    Unused(VertexId),
    /// The vertex of this id was removed, and no reader sees it, now or later: its state can be dropped.
    Removed(VertexId),
}

impl FreeIds {
    /// Returns an id for reuse, if there is one. `oldest` returns the oldest timestamp that any reader can
    /// see, now or later, or `None` if that is unknown. It is called only if all free ids are those of
    /// removed vertices. O(1).
    pub fn take(&self, oldest: impl FnOnce() -> Option<Timestamp>) -> Option<FreeId> {
        let mut lists = self.lists.lock();
        if let Some((first, end)) = lists.unused.last_mut() {
            let id = VertexId(*first);
            *first += 1;
            if first == end {
                lists.unused.pop();
            }
            return Some(FreeId::Unused(id));
        }
        let &(died, id) = lists.removed.front()?;
        if oldest().is_none_or(|oldest| died > oldest) && !faults::is_on(PlantedFault::IdReusedEarly) {
            return None;
        }
        lists.removed.pop_front();
        Some(FreeId::Removed(id))
    }

    /// Notes that the commit `ts` removes the vertex with this id. Call it before the commit is completed.
    /// O(1).
    pub fn removed(&self, id: VertexId, ts: Timestamp) {
        self.lists.lock().removed.push_back((ts, id));
    }

    /// Notes that the ids `first..end` have no vertex, and that no reader ever saw one. The ids noted last
    /// are reused first. O(1).
    pub fn unused(&self, first: VertexId, end: VertexId) {
        if first < end {
            self.lists.lock().unused.push((first.0, end.0));
        }
    }

    /// Removes and returns all ids of removed vertices. Only allowed if no reader is left that could see one
    /// of these vertices.
    pub fn take_removed(&self) -> impl Iterator<Item = VertexId> + use<> {
        std::mem::take(&mut self.lists.lock().removed).into_iter().map(|(_, id)| id)
    }
}
