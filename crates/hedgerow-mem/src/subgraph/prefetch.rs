//! Prefetches of the data that an operation on one edge touches.
//!
//! The way to an edge is a chain of cache misses: header, then head version (with offsets and the addresses
//! of its arrays), then delta and list. Each function starts one link of the chain without waiting for it. A
//! writer calls the function for all endpoints at hand, so that their misses overlap. (Chen, Gibbons, Mowry,
//! "Improving hash join performance through prefetching" groups and prefetches independent look-ups.)

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId, simd};

use super::{Latched, Subgraph};
use crate::arena::Counted;
use crate::grace::ReadGuard;
use crate::version::Version;

/// One end of an edge: its subgraph, chain and vertex, and the vertex at the other end.
#[derive(Clone, Copy)]
pub struct End<'a> {
    /// The subgraph of the vertex.
    pub subgraph: &'a Subgraph,
    /// The chain with this copy of the edge.
    pub direction: Direction,
    /// The vertex.
    pub local: LocalVertex,
    /// The vertex at the other end of the edge.
    pub other: VertexId,
}

impl<'a> End<'a> {
    #[inline]
    fn head(&self, walk: &'a ReadGuard) -> Option<&'a Version> {
        self.subgraph.heads[self.direction as usize].load(walk)
    }
}

impl Subgraph {
    /// Prefetches the header: latch, existence, heads.
    #[inline]
    pub fn prefetch_header(&self) {
        simd::prefetch(self);
    }

    /// Prefetches the fields of the head version that a look-up of an edge of `local` reads; the header
    /// should be in the cache.
    #[inline]
    pub fn prefetch_head(&self, direction: Direction, local: LocalVertex) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            prefetch_version(head, local);
            simd::prefetch(&raw const head.begin);
            simd::prefetch(&raw const head.patch);
        }
    }

    /// Prefetches the parts of delta and list that a look-up of the edge reads; the head version should be in
    /// the cache.
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

    /// Prefetches the data that a read of the list of `local` needs first; the head version should be in the
    /// cache.
    #[inline]
    pub fn prefetch_neighbors(&self, direction: Direction, local: LocalVertex) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            head.delta.prefetch(true);
            simd::prefetch_slice(head.main.neighbors(local), LIST_LINES);
        }
    }

    /// Prefetches the head version, for a view that will read it; the header should be in the cache. With
    /// `offsets`, prefetches the offsets too, for a view that has no copy of them.
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

    /// Prefetches the last entry of the head version's delta; the version should be in the cache.
    #[inline]
    pub(crate) fn prefetch_last_entry(&self, direction: Direction) {
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            head.delta.prefetch_last();
        }
    }

    /// Like [`prefetch_version`](Self::prefetch_version), but also prefetches the offsets, and the reference
    /// count for a reader that keeps the version.
    #[inline]
    pub(crate) fn prefetch_counted(&self, direction: Direction) {
        self.prefetch_version(direction, true);
        let walk = ReadGuard::begin();
        if let Some(head) = self.heads[direction as usize].load(&walk) {
            // The reference counts are before the version in its allocation.
            simd::prefetch((&raw const *head).cast::<usize>().wrapping_sub(2));
        }
    }

    /// Prefetches the delta of the head version; the version should be in the cache. If the lists differ from
    /// the view's lists, prefetches offsets and their reference count too, and returns true.
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

/// The number of cache lines of a list to prefetch; the processor prefetches the rest.
const LIST_LINES: usize = 2;

/// The most cache lines that offsets occupy.
pub(crate) const OFFSET_LINES: usize = 5;

/// Prefetches the head versions; the headers should be in the cache.
#[inline]
pub fn prefetch_heads(ends: &[End<'_>; 2]) {
    let walk = ReadGuard::begin();
    for end in ends {
        if let Some(head) = end.head(&walk) {
            prefetch_version(head, end.local);
        }
    }
}

/// Prefetches the addresses of the next delta entries, with their words of the Bloom filter, and the part of
/// the shorter list that a look-up of the edge reads. The head versions should be in the cache.
#[inline]
pub fn prefetch_edges(ends: &[End<'_>; 2], hint: InterpolationHint) {
    with_heads(ends, |heads, searched| {
        for (side, head) in heads.iter().enumerate() {
            let search = (side == searched).then_some(hint);
            prefetch_delta_and_list(head, ends[side].local, ends[side].other, search);
        }
    });
}

/// Prefetches the data that a look-up of the edge reads last: the tags of the delta, if it may have an entry
/// about the edge, and the edges that a patch adds. The data of [`prefetch_edges`] should be in the cache.
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

/// Calls `f` with both heads and the index of the one with the shorter list, which writers search.
#[inline]
fn with_heads(ends: &[End<'_>; 2], f: impl FnOnce([&Version; 2], usize)) {
    let walk = ReadGuard::begin();
    if let (Some(a), Some(b)) = (ends[0].head(&walk), ends[1].head(&walk)) {
        let lengths = [(a, &ends[0]), (b, &ends[1])].map(|(head, end)| head.main.range(end.local).len());
        f([a, b], usize::from(lengths[0] > lengths[1]));
    }
}

impl Latched<'_> {
    /// Prefetches the header again, for a holder of the latch that has done other work meanwhile.
    #[inline]
    pub fn prefetch_header(&self) {
        self.subgraph.prefetch_header();
    }

    /// Prefetches the fields that locate the next append, for a subgraph whose header is in the cache.
    #[inline]
    pub fn prefetch_delta_head(&self, direction: Direction) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            prefetch_delta_fields(head);
        }
    }

    /// Prefetches the addresses that appends write, after [`prefetch_delta_head`](Self::prefetch_delta_head)
    /// has loaded the fields that locate them.
    #[inline]
    pub fn prefetch_append(&self, direction: Direction) {
        if let Some(head) = &self.writer.heads[direction as usize] {
            head.delta.prefetch(false);
            head.delta.prefetch_filters();
        }
    }

    /// Like [`prefetch_heads`], but for several vertices of one chain, and with the stamp.
    #[inline]
    pub fn prefetch_head(&self, direction: Direction, locals: impl IntoIterator<Item = LocalVertex>) {
        simd::prefetch(self.subgraph.stamp_cell());
        if let Some(head) = &self.writer.heads[direction as usize] {
            prefetch_fields(head);
            locals.into_iter().for_each(|local| head.main.prefetch_range(local));
        }
    }

    /// Like [`prefetch_edges`], but for one end.
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

    /// Prefetches the parts of the delta that `appends` look-ups and appends need: the Bloom filter and the
    /// end of the log. If the appends cause a merge, prefetches the whole delta.
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

    /// Estimates the cost of a look-up of an edge of `local`: returns the length of its settled list.
    #[inline]
    pub fn settled_degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.main.range(local).len())
    }
}

/// Prefetches the fields of a version that every look-up and append reads, without the offsets. Versions
/// begin anywhere in a cache line, so adjacent fields may be in two lines.
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
