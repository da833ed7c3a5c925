//! The visible delta of a subgraph as sorted corrections of its main part.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, Neighbors, SUBGRAPH_VERTICES, VertexId, WeightedNeighbors, simd};
use smallvec::SmallVec;

use crate::op::EdgeOp;

mod beside;
mod build;
mod logged;
mod pending;
mod several;
mod small_patch;
mod sorted;

pub(super) use beside::Beside;
pub(super) use pending::{Kind, ListsUnder, Pending};
pub(super) use small_patch::SmallPatch;
pub(super) use sorted::Scratch;

/// The differences between the lists of a subgraph and its main part, in the form that a chunk stores.
///
/// The fewer differences, the fewer cache lines a refresh writes for them. Corrections that fit into the
/// chunk are not allocated, because a refresh cannot prefetch the allocator's list of free blocks.
#[derive(Clone, Default)]
pub(super) enum Corrections {
    /// No difference.
    #[default]
    None,
    /// One added neighbour, or one removed neighbour if its vertex is in the [mask](Masks) of reduced
    /// vertices. Not in a graph with weights.
    One(LocalVertex, VertexId),
    /// A few neighbours, in this element of the chunk's `near`. Not in a graph with weights.
    Near(u8),
    /// A few neighbours, if the chunk has no room. Not in a graph with weights.
    SmallPatch(Arc<SmallPatch>),
    /// Any differences.
    IndexedPatch(Arc<IndexedPatch>),
    /// The neighbours by other labels, in a view of several. Not in a graph with weights.
    Beside(Arc<Beside>),
}

/// [`Corrections`] in a form for reading.
#[derive(Clone, Copy)]
pub(super) enum Correcting<'a> {
    None,
    One(LocalVertex, &'a VertexId),
    SmallPatch(&'a SmallPatch),
    IndexedPatch(&'a IndexedPatch),
    Beside(&'a Beside),
}

/// The vertices that have corrections.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Vertices whose neighbours have corrections.
    pub(super) touched: u64,
    /// Vertices with removed neighbours.
    pub(super) reduced: u64,
}

/// Corrections by vertex. The fields that every access needs come first.
///
/// A few added and removed neighbours are stored in place.
#[repr(C)]
pub(super) struct IndexedPatch {
    added: SmallVec<[VertexId; IN_PLACE]>,
    removed: SmallVec<[VertexId; IN_PLACE / 4]>,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    /// The source of each neighbour in `added`.
    added_from: SmallVec<[LocalVertex; IN_PLACE]>,
    /// Parallel to `added`; empty in a graph without weights.
    added_weights: Box<[f64]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

/// Number of added neighbours that are stored in place, and four times the number of removed ones.
const IN_PLACE: usize = 16;

/// The result of reading a version.
pub(super) struct Corrected {
    pub(super) corrections: Corrections,
    /// True if the corrections are a few, which are in the scratch buffers instead. The caller keeps them in
    /// the chunk or outside.
    pub(super) few: bool,
    pub(super) masks: Masks,
    /// The vertices that exist.
    pub(super) present: u64,
    /// The number of added and of removed neighbours.
    pub(super) counts: (usize, usize),
}

impl Masks {
    /// No vertices.
    pub(super) const NONE: Masks = Masks { touched: 0, reduced: 0 };
}

impl Corrections {
    /// Returns the corrections for reading; `near` are the small patches of the chunk.
    #[inline]
    pub(super) fn get<'a>(&'a self, near: &'a [SmallPatch]) -> Correcting<'a> {
        match self {
            Corrections::None => Correcting::None,
            Corrections::One(from, to) => Correcting::One(*from, to),
            Corrections::Near(place) => {
                near.get(usize::from(*place)).map_or(Correcting::None, Correcting::SmallPatch)
            }
            Corrections::SmallPatch(few) => Correcting::SmallPatch(few),
            Corrections::IndexedPatch(many) => Correcting::IndexedPatch(many),
            Corrections::Beside(beside) => Correcting::Beside(beside),
        }
    }

    /// Returns the weights for corrected neighbours; `list` is the range of their list in the main part.
    /// Inlined, because most vertices have no corrections, and `plain` would go through memory.
    #[inline(always)]
    pub(super) fn correct_weights<'a>(
        &'a self,
        plain: WeightedNeighbors<'a>,
        list: std::ops::Range<u32>,
        local: LocalVertex,
        masks: Masks,
    ) -> WeightedNeighbors<'a> {
        match self {
            Corrections::IndexedPatch(many) if (masks.touched | many.reweighted) & local.bit() != 0 => {
                many.correct_weights(plain, list, local)
            }
            _ => plain,
        }
    }

    /// Prefetches corrections outside the chunk, with their reference count.
    #[inline]
    pub(super) fn prefetch(&self) {
        let start = match self {
            Corrections::None | Corrections::One(..) | Corrections::Near(_) => return,
            Corrections::SmallPatch(few) => Arc::as_ptr(few).cast::<u64>(),
            Corrections::IndexedPatch(many) => Arc::as_ptr(many).cast::<u64>(),
            Corrections::Beside(beside) => Arc::as_ptr(beside).cast::<u64>(),
        };
        simd::prefetch(start.wrapping_sub(2));
        simd::prefetch(start.wrapping_add(6));
    }

    /// Prefetches the entries that locate the corrections of a vertex; the vertex is in `touched`.
    #[inline]
    pub(super) fn prefetch_places(&self, near: &[SmallPatch], local: LocalVertex) {
        match self {
            Corrections::None | Corrections::One(..) => {}
            Corrections::Near(place) => {
                near.get(usize::from(*place)).into_iter().for_each(|few| simd::prefetch(few))
            }
            Corrections::SmallPatch(few) => simd::prefetch(Arc::as_ptr(few)),
            Corrections::Beside(beside) => beside.prefetch(local),
            Corrections::IndexedPatch(many) => {
                let many = Arc::as_ptr(many);
                simd::prefetch(many);
                // The address may be out of bounds: it is only prefetched, not read.
                let offsets = many.cast::<u8>().wrapping_add(std::mem::offset_of!(IndexedPatch, added_at));
                simd::prefetch(offsets.wrapping_add(local.index() * size_of::<u16>()));
            }
        }
    }

    /// Returns the bytes outside the chunk.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Corrections::None | Corrections::One(..) | Corrections::Near(_) => 0,
            Corrections::SmallPatch(_) => size_of::<SmallPatch>(),
            Corrections::IndexedPatch(many) => many.bytes(),
            Corrections::Beside(beside) => beside.bytes(),
        }
    }

    /// Returns the bytes of lists to which nothing else refers.
    pub(super) fn kept_bytes(&self) -> usize {
        if let Corrections::Beside(beside) = self { beside.kept_bytes() } else { 0 }
    }
}

impl<'a> Correcting<'a> {
    /// Returns the corrected neighbours of a vertex; the vertex is in `touched`.
    #[inline]
    pub(super) fn correct(self, main: &'a [VertexId], local: LocalVertex, masks: Masks) -> Neighbors<'a> {
        match self {
            Correcting::None => Neighbors::from_slice(main),
            Correcting::One(_, to) if masks.reduced == 0 => {
                Neighbors { main, added: std::slice::from_ref(to), removed: &[] }
            }
            Correcting::One(_, to) => Neighbors { main, added: &[], removed: std::slice::from_ref(to) },
            Correcting::SmallPatch(few) => few.correct(main, local),
            Correcting::IndexedPatch(many) => many.correct(main, local),
            Correcting::Beside(beside) => Neighbors { main, added: beside.list(local), removed: &[] },
        }
    }

    /// Calls `f` with all added neighbours, if no list has removed neighbours.
    #[inline]
    pub(super) fn for_each_added(self, mut f: impl FnMut(LocalVertex, VertexId)) {
        let (from, to): (&[LocalVertex], &[VertexId]) = match self {
            Correcting::None => return,
            Correcting::One(from, to) => return f(from, *to),
            Correcting::SmallPatch(few) => few.added(),
            Correcting::IndexedPatch(many) => (&many.added_from, &many.added),
            Correcting::Beside(beside) => beside.added(),
        };
        from.iter().zip(to).for_each(|(&local, &v)| f(local, v));
    }
}

impl Corrected {
    /// Returns the result if nothing differs from the main part.
    #[inline]
    pub(super) fn unchanged(present: u64) -> Corrected {
        let (corrections, masks) = (Corrections::None, Masks::NONE);
        Corrected { corrections, few: false, masks, present, counts: (0, 0) }
    }

    /// Returns the result for [one](Kind::One) entry.
    #[inline(always)]
    pub(super) fn one(pending: &Pending<'_>) -> Corrected {
        let (delta, at) = (pending.version.delta(), pending.entries.start);
        let ((local, op), dst) = (delta.source(at), delta.destination(at));
        let (bit, present) = (local.bit(), pending.present);
        let (masks, counts) = match op {
            EdgeOp::Insert => (Masks { touched: bit, reduced: 0 }, (1, 0)),
            EdgeOp::Remove => (Masks { touched: bit, reduced: bit }, (0, 1)),
            EdgeOp::Update => return Corrected::unchanged(present),
            EdgeOp::Vertex if dst.0 != 0 => return Corrected::unchanged(present | bit),
            EdgeOp::Vertex => return Corrected::unchanged(present & !bit),
        };
        Corrected { corrections: Corrections::One(local, dst), few: false, masks, present, counts }
    }
}

impl IndexedPatch {
    #[inline]
    fn correct<'a>(&'a self, main: &'a [VertexId], local: LocalVertex) -> Neighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let added = self.added.get(added).unwrap_or(&[]);
        if self.removed.is_empty() {
            return Neighbors { main, added, removed: &[] };
        }
        let removed = self.removed_at[i] as usize..self.removed_at[i + 1] as usize;
        Neighbors { main, added, removed: self.removed.get(removed).unwrap_or(&[]) }
    }

    /// Prefetches the neighbours that are added to a vertex's list, with their weights.
    #[inline]
    pub(super) fn prefetch_added(&self, local: LocalVertex) {
        let at = self.added_at[local.index()] as usize;
        simd::prefetch(self.added.as_ptr().wrapping_add(at));
        if !self.added_weights.is_empty() {
            simd::prefetch(self.added_weights.as_ptr().wrapping_add(at));
        }
    }

    #[inline(never)]
    fn correct_weights<'a>(
        &'a self,
        plain: WeightedNeighbors<'a>,
        list: std::ops::Range<u32>,
        local: LocalVertex,
    ) -> WeightedNeighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let position = |end: u32| self.updated.partition_point(|u| u.0 < end);
        WeightedNeighbors {
            added: self.added_weights.get(added).unwrap_or(&[]),
            updated: self.updated.get(position(list.start)..position(list.end)).unwrap_or(&[]),
            first: list.start,
            ..plain
        }
    }

    fn bytes(&self) -> usize {
        size_of::<IndexedPatch>()
            + spilled(&self.added)
            + spilled(&self.removed)
            + spilled(&self.added_from)
            + size_of_val(&*self.added_weights)
            + size_of_val(&*self.updated)
    }
}

/// Returns the bytes that are not stored in place.
fn spilled<A: smallvec::Array>(values: &SmallVec<A>) -> usize {
    if values.spilled() { values.capacity() * size_of::<A::Item>() } else { 0 }
}
