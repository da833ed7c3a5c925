//! Patches: sorted corrections of a large main part, so that a merge into it need not copy it.
//!
//! A delta that is full is merged into the main part, which copies all lists of the subgraph. Of a subgraph with a hub
//! these are megabytes, copied once per 256 operations. So a large main part has a second, much smaller sorted part
//! beside it: the patch. Deltas are folded into the patch, and only a patch that has grown to a share of the main part is
//! merged into that, as runs of a log-structured merge tree are (O'Neil et al., *The log-structured merge-tree*, 1996).
//! Main part and patch are shared by versions, so a version that a snapshot pins costs the patch at most.

use hedgerow_core::{InterpolationHint, LocalVertex, VertexId};

use crate::arena::Arena;
use crate::delta::{Delta, EdgeOp, Entry};
use crate::main_part::Main;
use crate::merge::{self, Change};
use crate::version::Version;

/// Main parts of at least so many edges (64 KiB) get patches. Builds for tests have small graphs, and patch them too.
const FROM: usize = if cfg!(debug_assertions) { 40 } else { 16 << 10 };
/// A patch grows up to this share of the main part: 1/16...
const SHARE: usize = 16;
/// ...but at least to a few deltas, and at most so that positions in it fit 16 bits with a delta on top.
const LEAST: usize = if cfg!(debug_assertions) { 64 } else { 1 << 10 };
const MOST: usize = 32 << 10;

/// What changed since the main part was written: the lists are `(main \ removed) ∪ added`. An edge with a new weight is
/// in both.
#[derive(Default)]
pub(crate) struct Patch {
    pub(crate) added: Main,
    /// Without weights.
    pub(crate) removed: Main,
}

impl Patch {
    /// Whether a main part of this size takes patches.
    pub(crate) fn fits(edges: usize) -> bool {
        edges >= FROM
    }

    /// Whether the patch is small enough beside a main part of this size.
    pub(crate) fn is_small(&self, edges: usize) -> bool {
        self.added.edges().len() + self.removed.edges().len() <= most(edges)
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

impl Version {
    /// What patch and the first `n` entries of the delta change about the main part, sorted, one word about each edge;
    /// of one vertex or of all.
    pub(crate) fn changes(&self, n: usize, of: Option<LocalVertex>) -> Vec<Change> {
        let mut entries = Vec::new();
        match of {
            Some(local) => self.delta.for_each_of(n, local, |e| entries.push(e)),
            None => entries.extend(self.delta.entries(n)),
        }
        let (newer, _) = merge::reduce(entries.into_iter());
        let Some(patch) = &self.patch else { return newer };
        let locals = of.map_or(0..64, |local| local.0..local.0 + 1);
        let mut changes: Vec<Change> = locals.flat_map(|l| patch.changes(LocalVertex(l))).collect();
        changes.extend(newer);
        // Stable and quick on two sorted runs: of two words about an edge the newer stays behind.
        changes.sort_by_key(|c| (c.local, c.dst));
        changes.dedup_by(|later, kept| {
            let same = (later.local, later.dst) == (kept.local, kept.dst);
            if same {
                *kept = *later;
            }
            same
        });
        changes
    }

    /// The same version without a patch, for what cannot have one. It begins when this one does.
    pub(crate) fn without_patch(&self, weighted: bool, arena: &Arena) -> Version {
        let main = match &self.patch {
            Some(patch) => merge::flatten(&self.main, patch, self.main.present, weighted, arena),
            None => self.main.clone(),
        };
        let delta = Delta::new(self.begin, self.delta.capacity(), weighted, arena);
        self.delta.entries(self.delta.len()).for_each(|e| delta.push(e.local, e.op, e.dst, e.ts, e.weight));
        Version::new(self.begin, main, delta, 0)
    }
}

/// The most entries that a patch beside a main part of this size is made of in one go.
pub(crate) fn most(edges: usize) -> usize {
    (edges / SHARE).clamp(LEAST, MOST)
}

/// A version that stands for `head` with the first `n` entries of its delta folded in, but without their effect on
/// timestamps: the main part, and its patch if it is to have one. With `patching` the main part may stay as it is.
pub(crate) fn fold(
    head: &Version,
    n: usize,
    patching: bool,
    weighted: bool,
    arena: &Arena,
) -> (Main, Option<Patch>) {
    fold_entries(head, n, |i| head.delta.entry(i), patching, weighted, arena)
}

/// As [`fold`], with the first `n` of what `entry` gives: the delta, and what comes after it.
pub(crate) fn fold_entries(
    head: &Version,
    n: usize,
    entry: impl Fn(usize) -> Entry,
    patching: bool,
    weighted: bool,
    arena: &Arena,
) -> (Main, Option<Patch>) {
    if head.patch.is_none() && !(patching && Patch::fits(head.main.neighbors.len())) {
        return (merge::apply(&head.main, n, entry, weighted, arena), None);
    }
    let (present, patch) = merge::patch(head, n, entry, weighted, arena);
    if patching && patch.is_small(head.main.neighbors.len()) {
        return (Main { present, ..head.main.clone() }, Some(patch));
    }
    (merge::flatten(&head.main, &patch, present, weighted, arena), None)
}

/// Whether an edge is in the main part of `head`, told by the first entry about it and by the patch alone: only
/// effective operations are logged.
pub(crate) fn is_in_main(patch: &Patch, first: EdgeOp, local: LocalVertex, dst: VertexId) -> bool {
    patch.removed.find(local, dst, InterpolationHint::UNKNOWN).is_some()
        || (first != EdgeOp::Insert && patch.added.find(local, dst, InterpolationHint::UNKNOWN).is_none())
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
