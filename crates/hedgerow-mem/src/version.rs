//! Versions of a subgraph in one direction, and reading one of them at a timestamp.

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
    /// The vertices touched by entries of the delta at or before `t`.
    pub(crate) fn delta_mask(&self, t: Timestamp) -> u64 {
        self.delta.entries(self.delta.visible(t)).fold(0, |mask, e| mask | e.local.bit())
    }

    /// Version and delta length together: what a snapshot at `t` sees. The version must have begun by then.
    #[inline]
    pub fn at(&self, t: Timestamp) -> Read<'_> {
        Read { version: self, n: self.delta.visible(t) }
    }

    /// The weight of the edge that a snapshot at `t` sees, as [`Read::edge`]; but what is visible of the delta is counted only
    /// if the delta may say something about the edge.
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

    /// The weight of the edge in main part and patch.
    #[inline]
    fn merged_edge(&self, local: LocalVertex, dst: VertexId, hint: InterpolationHint) -> Option<f64> {
        match self.patch.as_ref().and_then(|patch| patch.word(local, dst, hint)) {
            Some(word) => word,
            None => self.main.find(local, dst, hint).map(|at| self.main.weight_at(at)),
        }
    }

    /// With the first `n` entries of the delta.
    pub(crate) fn at_delta(&self, n: usize) -> Read<'_> {
        Read { version: self, n }
    }

    /// Everything applied, published or not. Only the holder of the latch can make sense of it.
    #[inline]
    pub fn latest(&self) -> Read<'_> {
        Read { version: self, n: self.delta.len() }
    }

    /// Whether edges have no weights and ranks, and the main part no patch.
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        self.patch.is_none() && self.main.weights().is_none() && !self.is_ranked()
    }

    /// Whether some edge has a rank.
    #[inline]
    pub(crate) fn is_ranked(&self) -> bool {
        self.main.ranks().is_some()
            || self.delta.has_ranks()
            || self.patch.as_ref().is_some_and(|patch| patch.is_ranked())
    }

    /// What patch and the first `n` entries of the delta change about the main part, sorted, one word about each edge; of one
    /// vertex or of all, and of the `wanted` destinations.
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
        // Behind those of the patch, which are older.
        changes_of_delta(&self.delta, n, of, wanted, &mut changes);
        change::last_words(&mut changes);
        changes
    }

    /// Neighbours and weights with patch and the first `n` entries of the delta applied: for views. Of a version without ranks.
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

    /// What stands for this version with the first `n` entries of its delta folded in, but without their effect on timestamps:
    /// the main part, and its patch if it is to have one. With `patching` the main part may stay as it is.
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

/// Adds what the first `n` entries of a delta change about edges, in commit order; of one vertex or of all, and of the
/// `wanted` destinations.
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

/// The newest version that began at or before `t`. `None` where the subgraph has no version that old (it was empty
/// then). Takes no lock; walks over versions that began after `t`.
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

/// As [`version_at`], keeping the version: for who looks at it for longer than a walk may last.
pub(crate) fn counted_version_at(head: &Link, t: Timestamp) -> Result<Option<Arc<Version>>, NotInMemory> {
    head.find(|version| version.begin <= t)
}

/// A version and how much of its delta is visible.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    version: &'a Version,
    n: usize,
}

impl<'a> Read<'a> {
    /// The version.
    pub fn version(&self) -> &'a Version {
        self.version
    }

    /// The number of visible delta entries.
    pub fn delta_len(&self) -> usize {
        self.n
    }

    /// The mask of local vertices that exist. O(delta).
    pub fn present(&self) -> u64 {
        let mut mask = self.version.main.present;
        for e in self.version.delta.entries(self.n).filter(|e| e.op == EdgeOp::Vertex) {
            mask = if e.dst.0 != 0 { mask | e.local.bit() } else { mask & !e.local.bit() };
        }
        mask
    }

    /// Whether the vertex exists.
    pub fn contains_vertex(&self, local: LocalVertex) -> bool {
        let mut present = self.version.main.present & local.bit() != 0;
        self.version.delta.for_each_of(self.n, local, |e| {
            if e.op == EdgeOp::Vertex {
                present = e.dst.0 != 0;
            }
        });
        present
    }

    /// The weight of the edge if it exists (1 in a graph without weights), of edges with ranks that of rank 0.
    /// O(log degree + delta).
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

    /// What the delta says about an edge: nothing, or its weight, or that it is gone. O(delta).
    #[inline]
    pub(crate) fn delta_word(&self, local: LocalVertex, dst: VertexId) -> Option<Option<f64>> {
        let last = self.version.delta.last_edge(self.n, local, dst, |_| true)?;
        let entry = self.version.delta.entry(last);
        Some((entry.op != EdgeOp::Remove).then_some(entry.weight))
    }

    /// Whether the edge exists. O(log degree + delta).
    #[inline]
    pub fn contains_edge(&self, local: LocalVertex, dst: VertexId) -> bool {
        self.edge(local, dst, InterpolationHint::UNKNOWN).is_some()
    }

    /// Everything visible as one main part: the image that a checkpoint writes. O(edges + delta).
    pub fn settled(&self) -> Main {
        let weighted = self.version.main.weights.is_some();
        // Short-lived: not among what the store accounts for.
        self.version.folded(self.n, false, weighted, &Arena::default()).0
    }
}

/// The mask of vertices that the versions after `start` changed, conservative where versions were unlinked.
pub(crate) fn load_changed(version: &Version) -> u64 {
    version.changed.load(Ordering::Relaxed)
}
