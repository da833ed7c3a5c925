//! What a set is told of the transaction that changes it, and what the transaction keeps of that.

use hedgerow_core::{Direction, Update, VertexId};

use super::versions::Horizon;
use crate::change::Change;

/// Transactions of more updates give up their own versions once they are published, where no reader needs
/// them.
const BATCH: usize = 64;

/// A transaction as the sets see it.
#[derive(Clone, Copy)]
pub(super) struct Transaction<'a> {
    /// Its timestamp.
    pub(super) at: u64,
    pub(super) versioned: bool,
    pub(super) weighted: bool,
    /// The most neighbours in a block, and in a sorted array.
    pub(super) block: usize,
    /// What readers need.
    pub(super) horizon: &'a Horizon<'a>,
}

/// The neighbours that a transaction changed: where it gives up its own versions once it is published.
#[derive(Default)]
pub(super) struct Changed {
    /// Each list with where its neighbours end; a list stands here again for each time that it was changed.
    lists: Vec<(VertexId, Direction, usize)>,
    /// Of each list ascending.
    targets: Vec<VertexId>,
}

impl Changed {
    /// For a transaction that gives up its own versions; others need not know.
    pub(super) fn of(updates: &[Update], versioned: bool) -> Option<Changed> {
        (versioned && updates.len() > BATCH).then(Changed::default)
    }

    pub(super) fn add(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) {
        self.targets.extend(changes.iter().map(|change| change.target));
        self.lists.push((owner, direction, self.targets.len()));
    }

    /// The lists, each with neighbours that ascend.
    pub(super) fn lists(&self) -> impl Iterator<Item = (VertexId, Direction, &[VertexId])> {
        let mut from = 0;
        self.lists.iter().map(move |&(owner, direction, end)| {
            (owner, direction, &self.targets[std::mem::replace(&mut from, end)..end])
        })
    }
}
