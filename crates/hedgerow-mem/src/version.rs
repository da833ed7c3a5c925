//! Versions of a subgraph in one direction, and reading one of them at a timestamp.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Ordering;
use hedgerow_core::{InterpolationHint, LocalVertex, Timestamp, VertexId};

use crate::arena::Arena;
use crate::change::{self, Change};
use crate::delta::Delta;
use crate::grace::{Link, ReadGuard};
use crate::items::DeltaExtra;
use crate::main_part::Main;
use crate::merge;
use crate::op::EdgeOp;
use crate::patch::Patch;

pub use crate::grace::Version;

mod items;

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
        if self.is_plain() && !self.delta.may_mention(local, dst) {
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

    /// Whether neither main part nor delta has ranks or rows.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.main.extra.is_none() && self.delta.extra().is_none()
    }

    /// Whether some edge has a rank.
    pub(crate) fn is_ranked(&self) -> bool {
        self.main.ranks().is_some() || self.delta.extra().is_some_and(DeltaExtra::has_ranks)
    }

    /// What patch and the first `n` entries of the delta change about the main part, sorted, one word about each edge;
    /// of one vertex or of all.
    pub(crate) fn changes(&self, n: usize, of: Option<LocalVertex>) -> Vec<Change> {
        let mut entries = Vec::new();
        match of {
            Some(local) => self.delta.for_each_of(n, local, |e| entries.push(e)),
            None => entries.extend(self.delta.entries(n)),
        }
        let (newer, _) = change::reduce(entries.into_iter());
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

    /// What stands for this version with the first `n` entries of its delta folded in, but without their effect on timestamps:
    /// the main part, and its patch if it is to have one. With `patching` the main part may stay as it is.
    pub(crate) fn folded(
        &self,
        n: usize,
        patching: bool,
        weighted: bool,
        arena: &Arena,
    ) -> (Main, Option<Patch>) {
        let entry = |i| self.delta.entry(i);
        merge::fold(&self.main, self.patch.as_deref(), n, entry, patching, weighted, arena)
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

/// The newest version that began at or before `t`. `None` where the subgraph has no version that old (it was empty
/// then). Takes no lock; walks over versions that began after `t`.
#[inline]
pub(crate) fn version_at<'a>(head: &'a Link, t: Timestamp, walk: &'a ReadGuard) -> Option<&'a Version> {
    let mut version = head.load(walk)?;
    while version.begin > t {
        version = version.prev.load(walk)?;
    }
    Some(version)
}

/// As [`version_at`], keeping the version: for who looks at it for longer than a walk may last.
pub(crate) fn counted_version_at(head: &Link, t: Timestamp) -> Option<Arc<Version>> {
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
        if !self.version.is_plain() {
            return self.item(local, dst, 0).map(|item| item.weight);
        }
        match self.delta_word(local, dst) {
            Some(state) => state,
            None => self.version.merged_edge(local, dst, hint),
        }
    }

    /// What the delta says about an edge: nothing, or its weight, or that it is gone. O(delta).
    #[inline]
    pub(crate) fn delta_word(&self, local: LocalVertex, dst: VertexId) -> Option<Option<f64>> {
        let entry = self.version.delta.last_edge(self.n, local, dst)?;
        let weighted = self.version.main.weights.is_some();
        Some((entry.op != EdgeOp::Remove).then_some(if weighted { entry.weight } else { 1.0 }))
    }

    /// Whether the edge exists. O(log degree + delta).
    #[inline]
    pub fn contains_edge(&self, local: LocalVertex, dst: VertexId) -> bool {
        self.edge(local, dst, InterpolationHint::UNKNOWN).is_some()
    }

    /// The number of neighbours. O(delta).
    pub fn degree(&self, local: LocalVertex) -> usize {
        let mut degree = self.version.main.range(local).len();
        if let Some(patch) = &self.version.patch
            && !faults::is_on(PlantedFault::PatchForgotten)
        {
            let (added, removed) = patch.sizes(local);
            degree = degree + added - removed;
        }
        self.version.delta.for_each_of(self.n, local, |e| match e.op {
            EdgeOp::Insert => degree += 1,
            EdgeOp::Remove => degree = degree.saturating_sub(1),
            EdgeOp::Update | EdgeOp::Vertex => {}
        });
        degree
    }

    /// Calls `f` with each neighbour and weight, ascending. O(degree + delta).
    pub fn for_each_neighbor(&self, local: LocalVertex, mut f: impl FnMut(VertexId, f64)) {
        if !self.version.is_plain() {
            return self.for_each_item(local, |item| f(item.dst, item.weight));
        }
        let main = &self.version.main;
        let changes = self.version.changes(self.n, Some(local));
        let range = main.range(local);
        let mut at = range.start;
        for change in &changes {
            while at < range.end && main.neighbors[at] < change.dst {
                f(main.neighbors[at], main.weight_at(at));
                at += 1;
            }
            if at < range.end && main.neighbors[at] == change.dst {
                at += 1;
            }
            if let Some(weight) = change.weight {
                f(change.dst, if main.weights.is_some() { weight } else { 1.0 });
            }
        }
        let rest = main.neighbors.get(at..range.end).unwrap_or(&[]);
        match main.weights().and_then(|weights| weights.get(at..range.end)) {
            Some(weights) => rest.iter().zip(weights).for_each(|(&v, &weight)| f(v, weight)),
            None => rest.iter().for_each(|&v| f(v, 1.0)),
        }
    }

    /// Everything visible as one main part: the image that a checkpoint writes. O(edges + delta).
    pub fn settled(&self) -> Main {
        let delta = &self.version.delta;
        let weighted = self.version.main.weights.is_some();
        if !self.version.is_plain() {
            // Short-lived, here and below: not among what the store accounts for.
            let (changes, vertices) = change::reduce_items(delta.items(self.n));
            return merge::items::apply(&self.version.main, &changes, &vertices, weighted, &Arena::default());
        }
        self.version.folded(self.n, false, weighted, &Arena::default()).0
    }
}

/// The mask of vertices that the versions after `start` changed, conservative where versions were unlinked.
pub(crate) fn load_changed(version: &Version) -> u64 {
    version.changed.load(Ordering::Relaxed)
}
