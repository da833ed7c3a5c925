//! The facts about a transaction that a set needs, and the changes that the transaction remembers.

use hedgerow_core::{Direction, Update, VertexId};

use super::versions::Horizon;
use crate::change::Change;

/// The largest number of updates of a transaction that keeps its own versions. A larger transaction removes
/// them once it is published, if no reader needs them.
const BATCH: usize = 64;

/// A transaction, as the sets see it.
#[derive(Clone, Copy)]
pub(super) struct Transaction<'a> {
    /// The timestamp of the transaction.
    pub(super) at: u64,
    pub(super) versioned: bool,
    pub(super) weighted: bool,
    /// The largest number of neighbours in a block, and in a sorted array.
    pub(super) block: usize,
    /// The horizon: it decides which versions readers need.
    pub(super) horizon: &'a Horizon<'a>,
}

/// The neighbours that a transaction changed. Once it is published, it removes its own versions there.
#[derive(Default)]
pub(super) struct Changed {
    /// Each list, with the end of its neighbours in `targets`. A list has one entry for each time that it was
    /// changed.
    lists: Vec<(VertexId, Direction, usize)>,
    /// The changed neighbours, in ascending order within each entry.
    targets: Vec<VertexId>,
}

impl Changed {
    /// Returns an empty record of changes for a transaction that will remove its own versions. Other
    /// transactions need none.
    pub(super) fn of(updates: &[Update], versioned: bool) -> Option<Changed> {
        (versioned && updates.len() > BATCH).then(Changed::default)
    }

    pub(super) fn add(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) {
        self.targets.extend(changes.iter().map(|change| change.target));
        self.lists.push((owner, direction, self.targets.len()));
    }

    /// Returns the lists, each with its changed neighbours in ascending order.
    pub(super) fn lists(&self) -> impl Iterator<Item = (VertexId, Direction, &[VertexId])> {
        let mut from = 0;
        self.lists.iter().map(move |&(owner, direction, end)| {
            (owner, direction, &self.targets[std::mem::replace(&mut from, end)..end])
        })
    }
}
