//! Ids that can be given out again, and when (invariant I22 in `docs/design/protocol.md`).
//!
//! # Protocol
//! * Remover: draws its timestamp, notes it with the id, and completes.
//! * Whoever needs an id: loads the published timestamp and scans the registry, in this order
//!   ([`ActiveReaders::oldest`](crate::ActiveReaders::oldest)), and takes an id whose removal is not after what that
//!   says. Then it draws its own timestamp.
//!
//! What is kept by id and not versioned (a vertex's key) is overwritten only after that: so no reader that sees the
//! removed vertex, registered now or later, finds there what belongs to the new one.

use std::collections::VecDeque;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Timestamp, VertexId};

/// The ids below the bound of those ever assigned that have no vertex, or will have none once a commit is published.
#[derive(Default)]
pub struct FreeIds {
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Removed vertices, by the timestamp of their removal; in the order in which the removals were applied.
    removed: VecDeque<(Timestamp, VertexId)>,
    /// Ids that nobody can see a vertex under, as ranges with their ends.
    unused: Vec<(u32, u32)>,
}

/// An id that was given out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeId {
    /// Nobody can see a vertex under it, and nothing is known of one.
    Unused(VertexId),
    /// A vertex had it that was removed, and that no reader sees, now or later: what is known of it can be forgotten.
    Removed(VertexId),
}

impl FreeIds {
    /// An id that can be given out, if there is one. `oldest` is the oldest timestamp that any reader can see, now or
    /// later, or `None` where that is not known; it is asked only where ids of removed vertices are at hand. O(1).
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

    /// Notes that the commit `ts` removes the vertex with this id: before the commit is completed. O(1).
    pub fn removed(&self, id: VertexId, ts: Timestamp) {
        self.lists.lock().removed.push_back((ts, id));
    }

    /// Notes that no vertex is, or was ever visible, under the ids from `first` up to, not including, `end`. What is
    /// noted last is given out first. O(1).
    pub fn unused(&self, first: VertexId, end: VertexId) {
        if first < end {
            self.lists.lock().unused.push((first.0, end.0));
        }
    }

    /// Takes out all ids of removed vertices: where no reader is left who could see any of these.
    pub fn take_removed(&self) -> impl Iterator<Item = VertexId> + use<> {
        std::mem::take(&mut self.lists.lock().removed).into_iter().map(|(_, id)| id)
    }
}
