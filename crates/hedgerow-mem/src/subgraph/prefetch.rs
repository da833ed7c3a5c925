//! Loading what an operation on one edge will touch, ahead of touching it.
//!
//! The way to an edge is a chain of cache misses: header, then head version (its arrays' places, its offsets), then
//! delta and list. Each function starts one link of the chain and waits for none; a writer calls it for all endpoints
//! that it has in hand, so that their misses overlap (grouping and prefetching independent look-ups: Chen, Gibbons,
//! Mowry, "Improving hash join performance through prefetching").

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId, simd};

use super::{Latched, Subgraph};
use crate::arena::Counted;
use crate::grace::ReadGuard;
use crate::version::Version;

/// One end of an edge: the subgraph, the chain, the vertex, and the vertex at the other end.
#[derive(Clone, Copy)]
pub struct End<'a> {
    /// The subgraph of the vertex.
    pub subgraph: &'a Subgraph,
    /// The chain that holds this copy of the edge.
    pub direction: Direction,
    /// The vertex.
    pub local: LocalVertex,
    /// What stands in its list.
    pub other: VertexId,
}

impl<'a> End<'a> {
    #[inline]
    fn head(&self, walk: &'a ReadGuard) -> Option<&'a Version> {
        self.subgraph.heads[self.direction as usize].load(walk)
    }
}

impl Subgraph {
    /// Starts loading the header: latch, existence, heads.
    #[inline]
    pub fn prefetch_header(&self) {
        simd::prefetch(self);
    }

    /// Starts loading what a look for an edge of `local` reads of the head version; the header should be here.
    #[inline]
    pub fn prefetch_head(&self, direction: Direction, local: LocalVertex) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            prefetch_version(head, local);
            simd::prefetch(&raw const head.begin);
            simd::prefetch(&raw const head.patch);
        }
    }

    /// Starts loading what a look for the edge reads of delta and list; the head version should be here.
    #[inline]
    pub fn prefetch_look(
        &self,
        direction: Direction,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            head.delta.prefetch_filter(local, dst);
            hint.prefetch(head.main.neighbors(local), dst);
        }
    }

    /// Starts loading what reading the list of `local` reads first; the head version should be here.
    #[inline]
    pub fn prefetch_neighbors(&self, direction: Direction, local: LocalVertex) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            head.delta.prefetch(true);
            simd::prefetch_slice(head.main.neighbors(local), LIST_LINES);
        }
    }

    /// Starts loading the head version, for a view that will read it; the header should be here. The offsets only where
    /// the view has none.
    #[inline]
    pub(crate) fn prefetch_version(&self, direction: Direction, offsets: bool) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            prefetch_fields(head);
            simd::prefetch(&raw const head.begin);
            simd::prefetch(&raw const head.main.present);
            simd::prefetch(&raw const head.patch);
            if offsets {
                head.main.prefetch_offsets();
            }
        }
    }

    /// Starts loading the last entry of the head version's delta; the version should be here.
    #[inline]
    pub(crate) fn prefetch_last_entry(&self, direction: Direction) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            head.delta.prefetch_last();
        }
    }

    /// As [`prefetch_version`](Self::prefetch_version), with the offsets, and the count of references to the version, for who
    /// keeps it.
    #[inline]
    pub(crate) fn prefetch_counted(&self, direction: Direction) {
        self.prefetch_version(direction, true);
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            // The counts stand before it.
            simd::prefetch((&raw const *head).cast::<usize>().wrapping_sub(2));
        }
    }

    /// Starts loading the delta of the head version; the version should be here. If its lists are not those that the view
    /// has, offsets and the count of references to them too; then it returns true.
    #[inline]
    pub(crate) fn prefetch_lists(&self, direction: Direction, known: &Counted<VertexId>) -> bool {
        let walk = ReadGuard::begin();
        let Some(head) = self.heads[direction as usize].load(&walk) else { return false };
        head.delta.prefetch(true);
        head.delta.prefetch_dsts();
        let other = !head.main.neighbors.is_same(known);
        if other {
            head.main.prefetch_offsets();
            head.main.neighbors.prefetch();
        }
        other
    }
}

/// How many lines of a list are loaded ahead; the processor follows by itself.
const LIST_LINES: usize = 2;

/// The most lines that offsets are in.
pub(crate) const OFFSET_LINES: usize = 5;

/// Starts loading the head versions; the headers should be here.
#[inline]
pub fn prefetch_heads(ends: &[End<'_>; 2]) {
    let walk = ReadGuard::begin();
    for end in ends {
        if let Some(head) = end.head(&walk) {
            prefetch_version(head, end.local);
        }
    }
}

/// Starts loading where the next delta entries go, with their notes, and what a look for the edge reads of the shorter list;
/// the head versions should be here.
#[inline]
pub fn prefetch_edges(ends: &[End<'_>; 2], hint: InterpolationHint) {
    with_heads(ends, |heads, searched| {
        for (side, head) in heads.iter().enumerate() {
            let search = (side == searched).then_some(hint);
            prefetch_delta_and_list(head, ends[side].local, ends[side].other, search);
        }
    });
}

/// Starts loading what a look for the edge reads at last: the tags of the delta if it may speak of the edge, and what a patch
/// adds. What [`prefetch_edges`] loads should be here.
#[inline]
pub fn prefetch_search(ends: &[End<'_>; 2], hint: InterpolationHint) {
    with_heads(ends, |heads, searched| {
        let (head, end) = (heads[searched], &ends[searched]);
        if head.delta.may_mention(end.local, end.other) {
            head.delta.prefetch(true);
        }
        if let Some(patch) = &head.patch {
            hint.prefetch(patch.added.neighbors(end.local), end.other);
        }
    });
}

/// Calls `f` with both heads and which of them has the shorter list: as a writer chooses.
#[inline]
fn with_heads(ends: &[End<'_>; 2], f: impl FnOnce([&Version; 2], usize)) {
    let walk = ReadGuard::begin();
    if let (Some(a), Some(b)) = (ends[0].head(&walk), ends[1].head(&walk)) {
        let lengths = [(a, &ends[0]), (b, &ends[1])].map(|(head, end)| head.main.range(end.local).len());
        f([a, b], usize::from(lengths[0] > lengths[1]));
    }
}

impl Latched<'_> {
    /// Starts loading the header, for a holder of the latch who was away.
    #[inline]
    pub fn prefetch_header(&self) {
        self.subgraph.prefetch_header();
    }

    /// Starts loading what tells where an append goes, for a subgraph whose header is here.
    #[inline]
    pub fn prefetch_delta_head(&self, direction: Direction) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            prefetch_delta_fields(head);
        }
    }

    /// Starts loading what appends write, once [`prefetch_delta_head`](Self::prefetch_delta_head) has loaded where that is.
    #[inline]
    pub fn prefetch_append(&self, direction: Direction) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            head.delta.prefetch(false);
            head.delta.prefetch_filters();
        }
    }

    /// As [`prefetch_heads`], for several vertices of one chain, and the place of the stamp.
    #[inline]
    pub fn prefetch_head(&self, direction: Direction, locals: impl IntoIterator<Item = LocalVertex>) {
        simd::prefetch(self.subgraph.stamp_cell());
        if let Some(head) = &self.writer.heads[direction as usize] {
            prefetch_fields(head);
            locals.into_iter().for_each(|local| head.main.prefetch_range(local));
        }
    }

    /// As [`prefetch_edges`], for one end.
    #[inline]
    pub fn prefetch_edges(
        &self,
        direction: Direction,
        local: LocalVertex,
        other: VertexId,
        search: Option<InterpolationHint>,
    ) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            prefetch_delta_and_list(head, local, other, search);
        }
    }

    /// Starts loading what is needed of the delta for as many looks and appends: the Bloom filter and the end, and all of it if it
    /// has to be merged for them.
    #[inline]
    pub fn prefetch_delta(&self, direction: Direction, appends: usize) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            let full = head.delta.len() + appends > head.delta.capacity();
            head.delta.prefetch_filters();
            head.delta.prefetch(full);
            if full {
                head.delta.prefetch_dsts();
            }
        }
    }

    /// About how much a look for an edge of `local` costs: the length of its settled list.
    #[inline]
    pub fn settled_degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.main.range(local).len())
    }
}

/// What every look and append reads of a version, less the offsets. Versions begin anywhere in a line: what stands next to
/// each other may be in two.
#[inline]
fn prefetch_fields(head: &Version) {
    simd::prefetch(&raw const head.main.neighbors);
    simd::prefetch(head.main.extra_place());
    prefetch_delta_fields(head);
}

#[inline]
fn prefetch_delta_fields(head: &Version) {
    let delta = &raw const head.delta;
    simd::prefetch(delta);
    simd::prefetch(delta.wrapping_add(1).cast::<u8>().wrapping_sub(1));
}

#[inline]
fn prefetch_version(head: &Version, local: LocalVertex) {
    prefetch_fields(head);
    head.main.prefetch_range(local);
}

#[inline]
fn prefetch_delta_and_list(
    head: &Version,
    local: LocalVertex,
    other: VertexId,
    search: Option<InterpolationHint>,
) {
    head.delta.prefetch(false);
    head.delta.prefetch_filter(local, other);
    if let Some(hint) = search {
        hint.prefetch(head.main.neighbors(local), other);
    }
}
