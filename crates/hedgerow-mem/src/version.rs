//! Versions of a subgraph in one direction, and reading one of them at a timestamp.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, Ordering};
use hedgerow_core::{InterpolationHint, LocalVertex, Timestamp, VertexId};

use crate::arena::Arena;
use crate::delta::{Delta, EdgeOp};
use crate::grace::{Life, Link, ReadGuard};
use crate::main_part::Main;
use crate::patch::Patch;

/// One version: everything at or before `begin` in the main part and its patch, what came later in the delta.
///
/// Only `delta` (append, under the latch), `changed` and `prev` (reclamation, under the latch) ever change.
pub struct Version {
    pub(crate) begin: Timestamp,
    pub(crate) main: Main,
    /// Corrections of a large main part; then neither it nor the delta has ranks or rows.
    pub(crate) patch: Option<Arc<Patch>>,
    pub(crate) delta: Delta,
    /// Local vertices changed between the begin of the surviving predecessor and `begin`, as far as no delta of a
    /// surviving predecessor tells them: the changes of unlinked versions, and of operations merged straight in.
    pub(crate) changed: AtomicU64,
    /// The version before this one, as long as a snapshot may need it.
    pub(crate) prev: Link,
    /// For the model checkers.
    pub(crate) life: Life,
}

impl Version {
    pub(crate) fn new(begin: Timestamp, main: Main, delta: Delta, changed: u64) -> Version {
        let changed = AtomicU64::new(changed);
        Version { begin, main, patch: None, delta, changed, prev: Link::default(), life: Life::default() }
    }

    /// The timestamp that the main part stands for.
    pub fn begin(&self) -> Timestamp {
        self.begin
    }

    /// The main part.
    pub fn main(&self) -> &Main {
        &self.main
    }

    /// The delta.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// The bytes that this version holds, itself included.
    pub fn bytes(&self) -> usize {
        size_of::<Version>()
            + 2 * size_of::<usize>()
            + self.main.heap_bytes()
            + self.delta.bytes()
            + self.patch_bytes()
    }

    /// The bytes of the arena's blocks among them; those that several versions share count for each.
    pub fn block_bytes(&self) -> usize {
        let patch = self.patch.as_ref().map_or(0, |patch| patch.block_bytes());
        self.main.block_bytes() + self.delta.block_bytes() + patch
    }

    /// The bytes of the corrections of the main part.
    pub fn patch_bytes(&self) -> usize {
        self.patch.as_ref().map_or(0, |patch| patch.bytes())
    }

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
}

impl Drop for Version {
    /// Unlinks the chain one by one: dropping it recursively could exhaust the stack after thousands of snapshots.
    fn drop(&mut self) {
        let mut next = self.prev.take();
        while let Some(mut version) = next {
            next = Arc::get_mut(&mut version).and_then(|version| version.prev.take());
        }
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
            let (changes, vertices) = crate::items::reduce(delta.items(self.n));
            return crate::items::apply(&self.version.main, &changes, &vertices, weighted, &Arena::default());
        }
        crate::patch::fold(self.version, self.n, false, weighted, &Arena::default()).0
    }
}

/// The mask of vertices that the versions after `start` changed, conservative where versions were unlinked.
pub(crate) fn load_changed(version: &Version) -> u64 {
    version.changed.load(Ordering::Relaxed)
}
