//! Patches: sorted corrections of a large main part, so that a merge into it need not copy it.
//!
//! Merging a full delta into the main part copies all lists of the subgraph. In a subgraph with a hub this
//! copies megabytes once per 256 operations. So a large main part has a second, much smaller sorted part: the
//! patch. Deltas are folded into the patch. Only a patch that has grown to a certain share of the main part
//! is merged into it. This is like the runs of a log-structured merge tree (O'Neil et al., *The
//! log-structured merge-tree*, 1996). Versions share main part and patch, so a pinned version costs at most
//! the patch.

use hedgerow_core::{InterpolationHint, LocalVertex, VertexId};

use crate::change::Change;
use crate::items::ItemRef;
use crate::main_part::Main;
use crate::op::EdgeOp;

/// The changes since the main part was written: the lists are `(main \ removed) ∪ added`. An edge with a new
/// weight, or new properties, is in both.
#[derive(Default)]
pub(crate) struct Patch {
    pub(crate) added: Main,
    /// The removed edges, without weights and properties.
    pub(crate) removed: Main,
}

impl Patch {
    /// Returns the number of entries of the patch.
    pub(crate) fn len(&self) -> usize {
        self.added.edges().len() + self.removed.edges().len()
    }

    /// Returns the state of an edge in the patch: `None` if the patch has no entry for it, `Some(None)` if
    /// the edge is gone, else its weight. O(log patch).
    pub(crate) fn word(
        &self,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) -> Option<Option<f64>> {
        match self.added.find(local, dst, hint) {
            Some(at) => Some(Some(self.added.weight_at(at))),
            None => self.removed.find(local, dst, hint).map(|_| None),
        }
    }

    /// Like [`word`](Self::word), but for the edge with a rank, and with its properties.
    pub(crate) fn item(
        &self,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
        hint: InterpolationHint,
    ) -> Option<Option<ItemRef<'_>>> {
        match self.added.find_item(local, dst, rank, hint) {
            Some(at) => Some(Some(self.added.item_at(at))),
            None => self.removed.find_item(local, dst, rank, hint).map(|_| None),
        }
    }

    /// True if some edge in the patch has a rank.
    pub(crate) fn is_ranked(&self) -> bool {
        self.added.ranks().is_some() || self.removed.ranks().is_some()
    }

    /// Returns how many edges the patch adds to the list of `local`, and how many it removes.
    pub(crate) fn sizes(&self, local: LocalVertex) -> (usize, usize) {
        (self.added.range(local).len(), self.removed.range(local).len())
    }

    /// Like [`sizes`](Self::sizes), but for all vertices.
    pub(crate) fn all_sizes(&self) -> (usize, usize) {
        (self.added.edges().len(), self.removed.edges().len())
    }

    /// Returns the changes of one vertex, sorted.
    pub(crate) fn changes(&self, local: LocalVertex) -> impl Iterator<Item = Change<'_>> {
        let (mut added, mut removed) = (self.added.range(local), self.removed.range(local));
        std::iter::from_fn(move || {
            let next = (!added.is_empty()).then(|| self.added.item_key(added.start));
            let gone = (!removed.is_empty()).then(|| self.removed.item_key(removed.start));
            if let Some(key) = next
                && gone.is_none_or(|gone| key <= gone)
            {
                // An edge in both lists has the state of `added`.
                removed.start += usize::from(gone == next);
                let item = self.added.item_at(added.next()?);
                let state = Some((item.weight, item.row));
                return Some(Change { local, dst: item.dst, rank: item.rank, state });
            }
            let (dst, rank) = gone?;
            removed.start += 1;
            Some(Change { local, dst, rank, state: None })
        })
    }

    /// Returns the bytes of the patch, with `self`.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Patch>() + 2 * size_of::<usize>() + self.block_bytes()
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.added.block_bytes() + self.removed.block_bytes()
    }
}

/// True if an edge is in the main part. Its first delta entry and the patch show that, because only effective
/// operations are logged.
pub(crate) fn is_in_main(patch: &Patch, first: EdgeOp, local: LocalVertex, dst: VertexId, rank: u64) -> bool {
    let is_in = |part: &Main| part.find_item(local, dst, rank, InterpolationHint::UNKNOWN).is_some();
    is_in(&patch.removed) || (first != EdgeOp::Insert && !is_in(&patch.added))
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
