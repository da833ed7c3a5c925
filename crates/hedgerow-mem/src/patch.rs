//! Patches: sorted corrections of a large main part, so that a merge into it need not copy it.
//!
//! A delta that is full is merged into the main part, which copies all lists of the subgraph. Of a subgraph with a hub
//! these are megabytes, copied once per 256 operations. So a large main part has a second, much smaller sorted part
//! beside it: the patch. Deltas are folded into the patch, and only a patch that has grown to a share of the main part is
//! merged into that, as runs of a log-structured merge tree are (O'Neil et al., *The log-structured merge-tree*, 1996).
//! Main part and patch are shared by versions, so a version that a snapshot pins costs the patch at most.

use hedgerow_core::{InterpolationHint, LocalVertex, VertexId};

use crate::change::Change;
use crate::main_part::Main;
use crate::op::EdgeOp;

/// What changed since the main part was written: the lists are `(main \ removed) ∪ added`. An edge with a new weight is
/// in both.
#[derive(Default)]
pub(crate) struct Patch {
    pub(crate) added: Main,
    /// Without weights.
    pub(crate) removed: Main,
}

impl Patch {
    /// The entries of the patch.
    pub(crate) fn len(&self) -> usize {
        self.added.edges().len() + self.removed.edges().len()
    }

    /// What the patch says about an edge: nothing, or its weight, or that it is gone. O(log patch).
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

    /// What the list of `local` has more than in the main part, and what less.
    pub(crate) fn sizes(&self, local: LocalVertex) -> (usize, usize) {
        (self.added.range(local).len(), self.removed.range(local).len())
    }

    /// As [`sizes`](Self::sizes), of all vertices.
    pub(crate) fn all_sizes(&self) -> (usize, usize) {
        (self.added.edges().len(), self.removed.edges().len())
    }

    /// The changes of one vertex, sorted.
    pub(crate) fn changes(&self, local: LocalVertex) -> impl Iterator<Item = Change> {
        let (mut added, mut removed) = (self.added.range(local), self.removed.neighbors(local));
        std::iter::from_fn(move || {
            let next = added.clone().next().map(|at| self.added.edges()[at]);
            match (next, removed.first()) {
                (None, None) => None,
                (Some(dst), gone) if gone.is_none_or(|&gone| dst <= gone) => {
                    // Of an edge in both lists the new weight counts.
                    removed = if gone == Some(&dst) { &removed[1..] } else { removed };
                    let at = added.next()?;
                    Some(Change { local, dst, weight: Some(self.added.weight_at(at)) })
                }
                (_, gone) => {
                    removed = &removed[1..];
                    gone.map(|&dst| Change { local, dst, weight: None })
                }
            }
        })
    }

    /// The bytes that the patch holds, itself included.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Patch>() + 2 * size_of::<usize>() + self.block_bytes()
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.added.block_bytes() + self.removed.block_bytes()
    }
}

/// Whether an edge is in the main part, told by the first entry about it and by the patch alone: only
/// effective operations are logged.
pub(crate) fn is_in_main(patch: &Patch, first: EdgeOp, local: LocalVertex, dst: VertexId) -> bool {
    patch.removed.find(local, dst, InterpolationHint::UNKNOWN).is_some()
        || (first != EdgeOp::Insert && patch.added.find(local, dst, InterpolationHint::UNKNOWN).is_none())
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
