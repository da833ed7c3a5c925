//! The main part of a version: an immutable small CSR of 64 vertices, exactly as large as its content.

use std::sync::Arc;

use hedgerow_core::{
    Columns, InterpolationHint, LocalVertex, PropertyId, PropertyType, RowRef, SUBGRAPH_VERTICES, VertexId,
};

use crate::arena::{Arena, Counted};
use crate::items::{Extra, ItemRef};

mod offsets;

pub use offsets::Offsets;
use offsets::Packed;

/// The sorted neighbour lists of the vertices of one subgraph in one direction, and the mask of the vertices
/// that exist.
#[derive(Clone, Debug, Default)]
pub struct Main {
    pub(crate) present: u64,
    pub(crate) offsets: Packed,
    /// True if edges have ranks. It is a field of the main part, not of `extra`, because every look-up of an
    /// edge reads it.
    pub(crate) ranked: bool,
    /// A counted list, so that a view can refer to the list without its version.
    pub(crate) neighbors: Counted<VertexId>,
    pub(crate) weights: Option<Counted<f64>>,
    /// Ranks and properties; `None` if no edge has any.
    pub(crate) extra: Option<Arc<Extra>>,
}

impl Main {
    /// Makes a main part of arrays that have matching lengths.
    pub(crate) fn new(
        present: u64,
        offsets: &Offsets,
        neighbors: Counted<VertexId>,
        weights: Option<Counted<f64>>,
        extra: Extra,
    ) -> Main {
        let extra = extra.shared();
        let ranked = extra.as_ref().is_some_and(|extra| extra.ranks.is_some());
        Main { present, offsets: Packed::new(offsets), ranked, neighbors, weights, extra }
    }

    /// Returns the address of the attributes, for a prefetch.
    #[inline]
    pub(crate) fn extra_place(&self) -> *const u8 {
        (&raw const self.extra).cast()
    }

    /// Makes a main part from copies in `arena` of the arrays that a checkpoint stores.
    ///
    /// Returns `None` unless the offsets ascend from 0 to the number of neighbours, every list ascends
    /// strictly, and weights, if any, are as many as neighbours. O(edges).
    pub fn from_parts(
        present: u64,
        offsets: &[u32],
        neighbors: &[VertexId],
        weights: Option<&[f64]>,
        arena: &Arena,
    ) -> Option<Main> {
        let offsets: &Offsets = offsets.try_into().ok()?;
        let ends = offsets[0] == 0 && offsets[SUBGRAPH_VERTICES] as usize == neighbors.len();
        if !ends || !offsets.is_sorted() || weights.is_some_and(|w| w.len() != neighbors.len()) {
            return None;
        }
        let lists_ascend = offsets.windows(2).all(|w| {
            neighbors.get(w[0] as usize..w[1] as usize).is_some_and(|list| list.is_sorted_by(|a, b| a < b))
        });
        lists_ascend.then(|| {
            let (neighbors, weights) = (arena.copy(neighbors), weights.map(|w| arena.copy(w)));
            Main::new(present, offsets, neighbors, weights, Extra::default())
        })
    }

    /// Returns the same content in new blocks of `arena`.
    pub(crate) fn copied(&self, arena: &Arena) -> Main {
        let neighbors = arena.copy(&self.neighbors);
        let weights = self.weights.as_ref().map(|w| arena.copy(w));
        Main { neighbors, weights, ..self.clone() }
    }

    /// Returns the mask of the local vertices that exist.
    pub fn present(&self) -> u64 {
        self.present
    }

    /// Returns the index at which each list begins, and the end of the last one. O(64).
    #[inline]
    pub fn offsets(&self) -> Offsets {
        self.offsets.unpacked()
    }

    /// Prefetches the offsets.
    #[inline]
    pub(crate) fn prefetch_offsets(&self) {
        self.offsets.prefetch();
    }

    /// Prefetches the range of the list of `local`.
    #[inline]
    pub(crate) fn prefetch_range(&self, local: LocalVertex) {
        self.offsets.prefetch_of(local);
    }

    /// Returns all lists, one after another.
    pub fn edges(&self) -> &[VertexId] {
        &self.neighbors
    }

    /// Returns the weights parallel to [`edges`](Self::edges), in a weighted graph.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    #[inline]
    pub(crate) fn range(&self, local: LocalVertex) -> std::ops::Range<usize> {
        self.offsets.range(local)
    }

    /// Returns the sorted neighbours of `local`.
    #[inline]
    pub fn neighbors(&self, local: LocalVertex) -> &[VertexId] {
        self.neighbors.get(self.range(local)).unwrap_or(&[])
    }

    /// Returns the place of `dst` among all edges, if it is a neighbour of `local`. O(log degree).
    #[inline]
    pub fn find(&self, local: LocalVertex, dst: VertexId, hint: InterpolationHint) -> Option<usize> {
        let range = self.range(local);
        Some(range.start + hint.find(self.neighbors.get(range)?, dst)?)
    }

    /// Returns the weight at a position that [`find`](Self::find) returned; 1 in a graph without weights.
    #[inline]
    pub fn weight_at(&self, at: usize) -> f64 {
        self.weights.as_ref().and_then(|w| w.get(at).copied()).unwrap_or(1.0)
    }

    /// Returns the bytes of the blocks of the arena.
    pub(crate) fn block_bytes(&self) -> usize {
        self.neighbors.bytes() + self.weights.as_ref().map_or(0, Counted::bytes)
    }

    /// Returns the bytes that the arrays occupy, in the arena and outside.
    pub fn heap_bytes(&self) -> usize {
        self.block_bytes()
            + self.offsets.outside_bytes()
            + self.extra.as_ref().map_or(0, |extra| extra.bytes())
    }
}

impl Main {
    /// Like [`from_parts`](Main::from_parts), but with ranks and properties. Lists ascend strictly by
    /// neighbour and rank.
    pub fn with_extra(
        present: u64,
        offsets: &[u32],
        neighbors: &[VertexId],
        weights: Option<&[f64]>,
        extra: Extra,
        arena: &Arena,
    ) -> Option<Main> {
        let len = neighbors.len();
        let fits = extra.columns.iter().all(|(_, column)| column.len() == len);
        let Some(ranks) = &extra.ranks else {
            let main = Main::from_parts(present, offsets, neighbors, weights, arena)?;
            let Main { present, neighbors, weights, .. } = main;
            return fits.then(|| Main::new(present, &main.offsets.unpacked(), neighbors, weights, extra));
        };
        let offsets: &Offsets = offsets.try_into().ok()?;
        let ends = offsets[0] == 0 && offsets[SUBGRAPH_VERTICES] as usize == len;
        let sized = ranks.len() == len && weights.is_none_or(|w| w.len() == len);
        if !fits || !ends || !sized || !offsets.is_sorted() {
            return None;
        }
        let ascends = |list: std::ops::Range<usize>| {
            let key = |at: usize| (neighbors[at], ranks[at]);
            list.clone().zip(list.skip(1)).all(|(a, b)| key(a) < key(b))
        };
        let sound = offsets.windows(2).all(|w| ascends(w[0] as usize..w[1] as usize));
        sound.then(|| {
            let (neighbors, weights) = (arena.copy(neighbors), weights.map(|w| arena.copy(w)));
            Main::new(present, offsets, neighbors, weights, extra)
        })
    }

    /// Returns the ranks parallel to the edges; `None` if all are 0.
    #[inline]
    pub fn ranks(&self) -> Option<&[u64]> {
        if self.ranked { self.extra.as_ref()?.ranks.as_deref() } else { None }
    }

    /// Returns the property columns parallel to the edges; `None` if no edge has properties.
    #[inline]
    pub fn columns(&self) -> Option<&Columns> {
        self.extra.as_ref().map(|extra| &extra.columns).filter(|columns| !columns.is_empty())
    }

    /// Returns the property of the edges, if they have just one and it has fixed width. Then entries of the
    /// delta are likely to have it too.
    pub(crate) fn word_property(&self) -> Option<(PropertyId, PropertyType)> {
        let mut columns = self.columns()?.iter();
        let (property, column) = columns.next().filter(|_| columns.len() == 0)?;
        column.kind().is_fixed().then_some((property, column.kind()))
    }

    /// Returns the bytes of ranks and properties.
    pub fn extra_bytes(&self) -> usize {
        self.extra.as_ref().map_or(0, |extra| extra.bytes())
    }

    #[inline]
    pub(crate) fn item_key(&self, at: usize) -> (VertexId, u64) {
        (self.neighbors[at], self.rank_at(at))
    }

    /// Returns the rank of the edge at `at`.
    #[inline]
    pub(crate) fn rank_at(&self, at: usize) -> u64 {
        self.ranks().and_then(|ranks| ranks.get(at).copied()).unwrap_or(0)
    }

    /// Returns the first position from `at` to `end` of an edge at or after (`dst`, `rank`); `at` is the
    /// position of the first edge at or after `dst`. O(log edges to `dst`).
    #[inline]
    pub(crate) fn lower_bound_of_rank(&self, at: usize, end: usize, dst: VertexId, rank: u64) -> usize {
        if rank == 0 || at >= end || self.neighbors[at] != dst {
            return at;
        }
        let Some(ranks) = self.ranks() else { return at + 1 };
        let same = self.neighbors[at..end].partition_point(|&v| v == dst);
        at + ranks[at..at + same].partition_point(|&r| r < rank)
    }

    /// Returns the first position in `range` of an edge at or after (`dst`, `rank`). O(log length).
    pub(crate) fn lower_bound(&self, range: std::ops::Range<usize>, dst: VertexId, rank: u64) -> usize {
        let at = range.start + self.neighbors[range.clone()].partition_point(|&v| v < dst);
        self.lower_bound_of_rank(at, range.end, dst, rank)
    }

    /// Returns the place of the edge among all edges. O(log degree).
    #[inline]
    pub(crate) fn find_item(
        &self,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
        hint: InterpolationHint,
    ) -> Option<usize> {
        if self.ranks().is_none() {
            return self.find(local, dst, hint).filter(|_| rank == 0);
        }
        let range = self.range(local);
        let at = self.lower_bound(range.clone(), dst, rank);
        (at < range.end && self.item_key(at) == (dst, rank)).then_some(at)
    }

    #[inline]
    pub(crate) fn item_at(&self, at: usize) -> ItemRef<'_> {
        let (dst, rank) = self.item_key(at);
        let row = self.columns().map_or(RowRef::Empty, |columns| RowRef::Columns(columns, at));
        ItemRef { dst, rank, weight: self.weight_at(at), row }
    }

    /// Calls `f` with the edges at these positions, in order. Edges without weights, ranks and properties
    /// cost a step of a loop over a slice.
    #[inline]
    pub(crate) fn for_each_item<'a>(&'a self, range: std::ops::Range<usize>, mut f: impl FnMut(ItemRef<'a>)) {
        if self.weights.is_none() && self.extra.is_none() {
            for &dst in &self.neighbors[range] {
                f(ItemRef { dst, rank: 0, weight: 1.0, row: RowRef::Empty });
            }
        } else {
            range.for_each(|at| f(self.item_at(at)));
        }
    }
}
