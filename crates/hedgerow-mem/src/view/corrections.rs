//! The visible delta of a subgraph as sorted corrections of its main part.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, Neighbors, SUBGRAPH_VERTICES, Spread, VertexId, WeightedNeighbors, simd};
use smallvec::SmallVec;

use crate::delta::EdgeOp;
use crate::version::Version;

mod build;
mod few;
mod sorted;

use few::Few;
pub(super) use sorted::Scratch;
use sorted::first_edge;

/// How the lists of a subgraph differ from its main part.
///
/// The fewer differences, the fewer cache lines a refresh writes for them, and the fewer allocations it makes, each of which
/// is a miss that it cannot load ahead: that of the allocator's list of free blocks.
#[derive(Clone, Default)]
pub(super) enum Corrections {
    /// Not at all.
    #[default]
    None,
    /// One neighbour more, or less if the [mask](Masks) of reduced vertices says so. Not in a graph with weights.
    One(LocalVertex, VertexId),
    /// A few neighbours. Not in a graph with weights.
    Few(Arc<Few>),
    /// Anything.
    Many(Arc<Many>),
}

/// Which vertices corrections concern.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Vertices with corrections of their neighbours.
    pub(super) touched: u64,
    /// Vertices from whose lists something is taken away.
    pub(super) reduced: u64,
}

/// Corrections by vertex. What every access needs comes first.
///
/// Those of neighbours that fit are kept in place.
#[repr(C)]
pub(super) struct Many {
    added: SmallVec<[VertexId; FEW]>,
    removed: SmallVec<[VertexId; FEW / 4]>,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    /// The source of each of `added`.
    added_from: SmallVec<[LocalVertex; FEW]>,
    /// Parallel to `added`; empty in a graph without weights.
    added_weights: Box<[f64]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

/// So many added neighbours are kept in place, and a fourth of it removed ones.
const FEW: usize = 16;

/// What was read of a version.
pub(super) struct Corrected {
    pub(super) corrections: Corrections,
    pub(super) masks: Masks,
    /// The vertices that exist.
    pub(super) present: u64,
}

impl Masks {
    /// None.
    pub(super) const NONE: Masks = Masks { touched: 0, reduced: 0 };
}

impl Corrections {
    /// The first `n` entries of the delta, and what comes with them. O(n log n).
    ///
    /// Only effective operations are logged. So the first word about an edge tells whether the main part has it, and
    /// nothing is looked up there except the place of a new weight.
    #[inline]
    pub(super) fn of(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
        match n {
            0 if version.patch.is_none() => unchanged(version),
            1 if version.is_plain() && version.patch.is_none() && version.main().weights().is_none() => {
                one(version)
            }
            _ => several(version, n, scratch),
        }
    }

    /// The corrected neighbours of a vertex, which is among those that are touched.
    #[inline]
    pub(super) fn correct<'a>(
        &'a self,
        main: &'a [VertexId],
        local: LocalVertex,
        masks: Masks,
    ) -> Neighbors<'a> {
        match self {
            Corrections::None => Neighbors::from_slice(main),
            Corrections::One(_, to) if masks.reduced == 0 => {
                Neighbors { main, added: std::slice::from_ref(to), removed: &[] }
            }
            Corrections::One(_, to) => Neighbors { main, added: &[], removed: std::slice::from_ref(to) },
            Corrections::Few(few) => few.correct(main, local),
            Corrections::Many(many) => many.correct(main, local),
        }
    }

    /// The weights for corrected neighbours, whose list in the main part is at `list`.
    pub(super) fn correct_weights<'a>(
        &'a self,
        plain: WeightedNeighbors<'a>,
        list: std::ops::Range<u32>,
        local: LocalVertex,
        masks: Masks,
    ) -> WeightedNeighbors<'a> {
        match self {
            Corrections::Many(many) if (masks.touched | many.reweighted) & local.bit() != 0 => {
                many.correct_weights(plain, list, local)
            }
            _ => plain,
        }
    }

    /// Calls `f` with what is added to lists, if nothing is taken away from any.
    #[inline]
    pub(super) fn for_each_added(&self, mut f: impl FnMut(LocalVertex, VertexId)) {
        let one;
        let (from, to): (&[LocalVertex], &[VertexId]) = match self {
            Corrections::None => return,
            Corrections::One(from, to) => {
                one = (*from, *to);
                (std::slice::from_ref(&one.0), std::slice::from_ref(&one.1))
            }
            Corrections::Few(few) => few.added(),
            Corrections::Many(many) => (&many.added_from, &many.added),
        };
        from.iter().zip(to).for_each(|(&local, &v)| f(local, v));
    }

    /// How many neighbours are added, and how many removed.
    #[inline]
    pub(super) fn counts(&self, masks: Masks) -> (usize, usize) {
        match self {
            Corrections::None => (0, 0),
            Corrections::One(..) if masks.reduced == 0 => (1, 0),
            Corrections::One(..) => (0, 1),
            Corrections::Few(few) => few.counts(),
            Corrections::Many(many) => (many.added.len(), many.removed.len()),
        }
    }

    /// Starts loading what is not in place, with the count of references to it.
    #[inline]
    pub(super) fn warm(&self) {
        let start = match self {
            Corrections::None | Corrections::One(..) => return,
            Corrections::Few(few) => Arc::as_ptr(few).cast::<u64>(),
            Corrections::Many(many) => Arc::as_ptr(many).cast::<u64>(),
        };
        simd::prefetch(start.wrapping_sub(2));
        simd::prefetch(start.wrapping_add(6));
    }

    /// The bytes that are not in place.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Corrections::None | Corrections::One(..) => 0,
            Corrections::Few(_) => size_of::<Few>(),
            Corrections::Many(many) => many.bytes(),
        }
    }
}

impl Many {
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
        size_of::<Many>()
            + spilled(&self.added)
            + spilled(&self.removed)
            + spilled(&self.added_from)
            + size_of_val(&*self.added_weights)
            + size_of_val(&*self.updated)
    }
}

/// The bytes that are not kept in place.
fn spilled<A: smallvec::Array>(values: &SmallVec<A>) -> usize {
    if values.spilled() { values.capacity() * size_of::<A::Item>() } else { 0 }
}

#[inline]
fn unchanged(version: &Version) -> Corrected {
    let present = version.main().present();
    Corrected { corrections: Corrections::None, masks: Masks::default(), present }
}

/// As [`Corrections::of`] for the first entry alone of a version without weights, ranks and patch.
#[inline]
fn one(version: &Version) -> Corrected {
    let ((local, op), dst) = (version.delta().source(0), version.delta().destination(0));
    let (bit, present) = (local.bit(), version.main().present());
    let (masks, present) = match op {
        EdgeOp::Insert => (Masks { touched: bit, reduced: 0 }, present),
        EdgeOp::Remove => (Masks { touched: bit, reduced: bit }, present),
        EdgeOp::Update => (Masks::default(), present),
        EdgeOp::Vertex if dst.0 != 0 => (Masks::default(), present | bit),
        EdgeOp::Vertex => (Masks::default(), present & !bit),
    };
    let corrections = if masks.touched == 0 { Corrections::None } else { Corrections::One(local, dst) };
    Corrected { corrections, masks, present }
}

fn several(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    if version.is_ranked() {
        return ranked(version, n, scratch);
    }
    if version.patch.is_some() {
        return patched(version, n, scratch);
    }
    let present = scratch.sort(version, n);
    let Scratch { sorted, build, .. } = scratch;
    let weighted = version.main().weights().is_some();
    build.clear();
    let mut rest = &sorted[..];
    while let Some((edge, others)) = first_edge(rest) {
        rest = others;
        build.add(version, &edge, weighted);
    }
    build.finish(weighted, present)
}

/// As [`Corrections::of`] where an edge is told from others by its rank too: a neighbour comes once for each edge.
fn ranked(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    let (changes, vertices) = crate::items::reduce(version.delta().items(n));
    let build = &mut scratch.build;
    build.clear();
    for change in &changes {
        let found = version.main().find_item(change.local, change.dst, change.rank).is_some();
        match (found, &change.state) {
            // Ranked edges have no weights.
            (false, Some(_)) => build.add_neighbor(change.local, change.dst, None),
            (true, None) => build.remove_neighbor(change.local, change.dst),
            _ => {}
        }
    }
    let present = vertices.iter().fold(version.main().present(), |mask, &(local, inserted)| {
        if inserted { mask | local.bit() } else { mask & !local.bit() }
    });
    build.finish(false, present)
}

/// As [`Corrections::of`] where the main part has a patch, which comes under the delta.
fn patched(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    let weighted = version.main().weights().is_some();
    let build = &mut scratch.build;
    build.clear();
    for change in &version.changes(n, None) {
        match (version.main().find(change.local, change.dst, Spread::UNKNOWN), change.weight) {
            (None, Some(weight)) => build.add_neighbor(change.local, change.dst, weighted.then_some(weight)),
            (Some(_), None) => build.remove_neighbor(change.local, change.dst),
            (Some(at), Some(weight)) if weighted => build.reweight(change.local, at, weight),
            _ => {}
        }
    }
    build.finish(weighted, version.at_delta(n).present())
}
