//! Versions of a subgraph in one direction, and reads of one of them at a timestamp.

use std::sync::Arc;

use hedgerow_core::sync::Ordering;
use hedgerow_core::{InterpolationHint, LocalVertex, Timestamp, VertexId};

use crate::arena::Arena;
use crate::change::{self, Change};
use crate::delta::Delta;
use crate::grace::{Link, ReadGuard};
use crate::main_part::Main;
use crate::merge;
use crate::op::{EdgeOp, Entries};
use crate::patch::Patch;

pub use crate::grace::{NotInMemory, Version};

mod grouped;
mod items;
mod lists;

pub(crate) use grouped::GroupedVersion;
pub(crate) use items::Piece;
pub(crate) use lists::with_weights;

impl Version {
    /// Returns the mask of the vertices in entries of the delta at or before `t`.
    pub(crate) fn delta_mask(&self, t: Timestamp) -> u64 {
        self.delta.entries(self.delta.visible(t)).fold(0, |mask, e| mask | e.local.bit())
    }

    /// Returns the state that a snapshot at `t` sees: the version, and the visible length of its delta. The
    /// version must have begun at or before `t`.
    #[inline]
    pub fn at(&self, t: Timestamp) -> Read<'_> {
        Read { version: self, n: self.delta.visible(t) }
    }

    /// Returns the weight of the edge that a snapshot at `t` sees, like [`Read::edge`]. It computes the
    /// visible length of the delta only if the delta may have an entry about the edge.
    #[inline]
    pub(crate) fn edge_at(
        &self,
        t: Timestamp,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) -> Option<f64> {
        if !self.is_ranked() && !self.delta.may_mention(local, dst) {
            return self.merged_edge(local, dst, hint);
        }
        self.at(t).edge(local, dst, hint)
    }

    /// Returns the weight of the edge in main part and patch.
    #[inline]
    fn merged_edge(&self, local: LocalVertex, dst: VertexId, hint: InterpolationHint) -> Option<f64> {
        match self.patch.as_ref().and_then(|patch| patch.word(local, dst, hint)) {
            Some(word) => word,
            None => self.main.find(local, dst, hint).map(|at| self.main.weight_at(at)),
        }
    }

    /// Returns the state with the first `n` entries of the delta.
    pub(crate) fn at_delta(&self, n: usize) -> Read<'_> {
        Read { version: self, n }
    }

    /// Returns the state after all applied operations, published or not. Only for the holder of the latch.
    #[inline]
    pub fn latest(&self) -> Read<'_> {
        Read { version: self, n: self.delta.len() }
    }

    /// True if edges have no weights and ranks, and the main part has no patch.
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        self.patch.is_none() && self.main.weights().is_none() && !self.is_ranked()
    }

    /// True if some edge has a rank.
    #[inline]
    pub(crate) fn is_ranked(&self) -> bool {
        self.main.ranks().is_some()
            || self.delta.has_ranks()
            || self.patch.as_ref().is_some_and(|patch| patch.is_ranked())
    }

    /// Returns the changes that patch and the first `n` entries of the delta make to the main part, sorted,
    /// one for each edge. `of` selects one vertex, and `wanted` destinations.
    pub(crate) fn changes(
        &self,
        n: usize,
        of: Option<LocalVertex>,
        wanted: impl Fn(VertexId) -> bool,
    ) -> Vec<Change<'_>> {
        let mut changes = Vec::new();
        if let Some(patch) = &self.patch {
            let locals = of.map_or(0..64, |local| local.0..local.0 + 1);
            let all = locals.flat_map(|l| patch.changes(LocalVertex(l)));
            changes.extend(all.filter(|change| wanted(change.dst)));
        }
        // These are after the changes of the patch, which are older.
        changes_of_delta(&self.delta, n, of, wanted, &mut changes);
        change::last_words(&mut changes);
        changes
    }

    /// Returns neighbours and weights after patch and the first `n` entries of the delta, for views. Only for
    /// a version without ranks.
    pub(crate) fn lists(&self, n: usize, arena: &Arena) -> Main {
        let weighted = self.main.weights.is_some();
        let Some(patch) = &self.patch else {
            return merge::lists(&self.main, n, &self.delta, weighted, arena);
        };
        let (added, removed) = patch.all_sizes();
        let len = (self.main.edges().len() + added - removed).saturating_add_signed(self.delta.growth(n));
        let changes = self.changes(n, None, |_| true);
        merge::changed_lists(&self.main, &changes, len, self.at_delta(n).present(), weighted, arena)
    }

    /// Folds the first `n` entries of its delta into this version. Returns the main part, and its patch if it
    /// has one; the caller sets the timestamp. With `patching` the result may be the same main part with a
    /// new patch.
    pub(crate) fn folded(
        &self,
        n: usize,
        patching: bool,
        weighted: bool,
        arena: &Arena,
    ) -> (Main, Option<Patch>) {
        merge::fold(&self.main, self.patch.as_deref(), n, &self.delta, patching, weighted, arena)
    }
}

/// Adds the changes that the first `n` entries of a delta make to edges, in commit order. `of` selects one
/// vertex, and `wanted` destinations.
fn changes_of_delta<'a>(
    delta: &'a Delta,
    n: usize,
    of: Option<LocalVertex>,
    wanted: impl Fn(VertexId) -> bool,
    changes: &mut Vec<Change<'a>>,
) {
    let push = |at: usize| {
        let entry = delta.entry(at);
        if entry.op == EdgeOp::Vertex || !wanted(entry.dst) {
            return;
        }
        let state = (entry.op != EdgeOp::Remove).then(|| (entry.weight, delta.row(at)));
        changes.push(Change { local: entry.local, dst: entry.dst, rank: delta.rank(at), state });
    };
    match of {
        Some(local) => delta.for_each_index_of(n, local, push),
        None => (0..n).for_each(push),
    }
}

/// Returns the newest version that began at or before `t`. `None` if the subgraph has no version that old,
/// because it was empty then. Takes no lock; walks over versions that began after `t`.
#[inline]
pub(crate) fn version_at<'a>(
    head: &'a Link,
    t: Timestamp,
    walk: &'a ReadGuard,
) -> Result<Option<&'a Version>, NotInMemory> {
    let mut link = head;
    loop {
        match link.next(walk)? {
            Some(version) if version.begin > t => link = &version.prev,
            found => return Ok(found),
        }
    }
}

/// Like [`version_at`], but keeps the version, with a counted reference, for a reader that needs it longer
/// than a walk may last.
pub(crate) fn counted_version_at(head: &Link, t: Timestamp) -> Result<Option<Arc<Version>>, NotInMemory> {
    head.find(|version| version.begin <= t)
}

/// A version and the visible length of its delta.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    version: &'a Version,
    n: usize,
}

impl<'a> Read<'a> {
    /// Returns the version.
    pub fn version(&self) -> &'a Version {
        self.version
    }

    /// Returns the number of visible delta entries.
    pub fn delta_len(&self) -> usize {
        self.n
    }

    /// Returns the mask of local vertices that exist. O(delta).
    pub fn present(&self) -> u64 {
        let mut mask = self.version.main.present;
        for e in self.version.delta.entries(self.n).filter(|e| e.op == EdgeOp::Vertex) {
            mask = if e.dst.0 != 0 { mask | e.local.bit() } else { mask & !e.local.bit() };
        }
        mask
    }

    /// True if the vertex exists.
    pub fn contains_vertex(&self, local: LocalVertex) -> bool {
        let mut present = self.version.main.present & local.bit() != 0;
        self.version.delta.for_each_of(self.n, local, |e| {
            if e.op == EdgeOp::Vertex {
                present = e.dst.0 != 0;
            }
        });
        present
    }

    /// Returns the weight of the edge if it exists (1 in a graph without weights). Of edges with ranks it
    /// reads the edge of rank 0. O(log degree + delta).
    #[inline]
    pub fn edge(&self, local: LocalVertex, dst: VertexId, hint: InterpolationHint) -> Option<f64> {
        if self.version.is_ranked() {
            return self.item(local, dst, 0, hint).map(|item| item.weight);
        }
        match self.delta_word(local, dst) {
            Some(state) => state,
            None => self.version.merged_edge(local, dst, hint),
        }
    }

    /// Returns the state of an edge in the delta: `None` if the delta has no entry for it, `Some(None)` if
    /// the edge is gone, else its weight. O(delta).
    #[inline]
    pub(crate) fn delta_word(&self, local: LocalVertex, dst: VertexId) -> Option<Option<f64>> {
        let last = self.version.delta.last_edge(self.n, local, dst, |_| true)?;
        let entry = self.version.delta.entry(last);
        Some((entry.op != EdgeOp::Remove).then_some(entry.weight))
    }

    /// True if the edge exists. O(log degree + delta).
    #[inline]
    pub fn contains_edge(&self, local: LocalVertex, dst: VertexId) -> bool {
        self.edge(local, dst, InterpolationHint::UNKNOWN).is_some()
    }

    /// Returns the whole visible state as one main part: the image that a checkpoint writes. O(edges +
    /// delta).
    pub fn settled(&self) -> Main {
        let weighted = self.version.main.weights.is_some();
        // The memory is short-lived, so the store's account is not charged for it.
        self.version.folded(self.n, false, weighted, &Arena::default()).0
    }
}

/// Returns the mask of vertices that changed before the version began, without an entry in a delta. For
/// unlinked versions the mask may have too many.
pub(crate) fn load_changed(version: &Version) -> u64 {
    version.changed.load(Ordering::Relaxed)
}
