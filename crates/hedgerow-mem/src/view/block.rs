//! The lists of one subgraph of a view, for kernels.

use std::ops::ControlFlow;

use hedgerow_core::{Block, LocalVertex, Neighbors, SUBGRAPH_VERTICES, VertexId, WeightedNeighbors};

use super::corrections::{Corrections, Masks, SmallPatch};

/// Offsets of a subgraph without edges.
pub(super) static NO_LISTS: [u32; SUBGRAPH_VERTICES + 1] = [0; SUBGRAPH_VERTICES + 1];

/// The lists of one subgraph of a [`View`](super::View).
#[derive(Clone, Copy)]
pub struct ViewBlock<'a> {
    pub(super) offsets: &'a [u32; SUBGRAPH_VERTICES + 1],
    pub(super) main: &'a [VertexId],
    pub(super) corrections: &'a Corrections,
    pub(super) near: &'a [SmallPatch],
    /// The vertices with corrections; the lists of others are not corrected.
    pub(super) masks: Masks,
}

impl<'a> ViewBlock<'a> {
    /// The block of a subgraph that does not exist.
    pub(super) const EMPTY: ViewBlock<'static> = ViewBlock {
        offsets: &NO_LISTS,
        main: &[],
        corrections: &Corrections::None,
        near: &[],
        masks: Masks::NONE,
    };

    #[inline]
    pub(super) fn list(&self, local: LocalVertex) -> &'a [VertexId] {
        let i = local.index();
        self.main.get(self.offsets[i] as usize..self.offsets[i + 1] as usize).unwrap_or(&[])
    }

    /// Returns the neighbours of the vertex at `local`. O(1).
    #[inline]
    pub fn neighbors(&self, local: LocalVertex) -> Neighbors<'a> {
        if self.is_corrected(local) { self.corrected(local) } else { Neighbors::from_slice(self.list(local)) }
    }

    /// True if the neighbours of a vertex have corrections.
    #[inline]
    fn is_corrected(&self, local: LocalVertex) -> bool {
        self.masks.touched & local.bit() != 0
    }

    /// Returns the neighbours of a vertex whose list is corrected. Not inlined, to keep the loops over other
    /// lists small.
    #[inline(never)]
    fn corrected(&self, local: LocalVertex) -> Neighbors<'a> {
        self.corrections.get(self.near).correct(self.list(local), local, self.masks)
    }

    /// Returns the first run of the neighbours of the vertex at `local`. True if there may be more runs,
    /// which are then in `rest`.
    #[inline]
    pub(super) fn first_run(&self, local: LocalVertex, rest: &mut Neighbors<'a>) -> (&'a [VertexId], bool) {
        if !self.is_corrected(local) {
            return (self.list(local), false);
        }
        *rest = self.corrected(local);
        (rest.take_run().unwrap_or(&[]), true)
    }

    /// Returns one list with the lists of all vertices, and the offsets of each list in it. `None` if there
    /// are corrections. O(1).
    #[inline]
    pub fn whole(&self) -> Option<(&'a [u32; SUBGRAPH_VERTICES + 1], &'a [VertexId])> {
        let ends = self.offsets[0]..self.offsets[SUBGRAPH_VERTICES];
        let list = self.main.get(..ends.end as usize)?;
        (self.masks.touched == 0 && ends.start == 0).then_some((self.offsets, list))
    }

    /// Returns the number of edges in the lists. O(1), and O(64) if there are corrections.
    pub fn edges(&self) -> usize {
        let each =
            || (0..SUBGRAPH_VERTICES as u8).map(|local| self.neighbors(LocalVertex(local)).len()).sum();
        self.whole().map_or_else(each, |(_, list)| list.len())
    }
}

impl Block for ViewBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        if self.is_corrected(local) { self.corrected(local).len() } else { self.list(local).len() }
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // One call of `f` in the code for all runs, so that it is inlined at any size.
        let mut rest = Neighbors::default();
        let (mut run, more) = self.first_run(local, &mut rest);
        loop {
            f(run)?;
            match more.then(|| rest.take_run()).flatten() {
                Some(next) => run = next,
                None => return ControlFlow::Continue(()),
            }
        }
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        (self.masks.reduced & local.bit() == 0).then(|| self.list(local))
    }

    #[inline]
    fn is_additive(&self) -> bool {
        self.masks.reduced == 0
    }

    #[inline]
    fn for_each_added(&self, f: impl FnMut(LocalVertex, VertexId)) {
        self.corrections.get(self.near).for_each_added(f);
    }
}

/// The lists and weights of one subgraph of a [`View`](super::View).
#[derive(Clone, Copy)]
pub struct WeightedViewBlock<'a> {
    pub(super) block: ViewBlock<'a>,
    /// Parallel to the main lists; empty if all weights are 1.
    pub(super) weights: &'a [f64],
}

impl WeightedViewBlock<'_> {
    /// The block of a subgraph that does not exist.
    pub(super) const EMPTY: WeightedViewBlock<'static> =
        WeightedViewBlock { block: ViewBlock::EMPTY, weights: &[] };
}

impl<'a> WeightedViewBlock<'a> {
    /// Like [`ViewBlock::whole`], but with the weights of that list; the weights are empty if all are 1.
    /// O(1).
    #[inline]
    pub fn whole(&self) -> Option<(&'a [u32; SUBGRAPH_VERTICES + 1], &'a [VertexId], &'a [f64])> {
        let (offsets, list) = self.block.whole()?;
        // An indexed patch may correct only weights.
        if matches!(self.block.corrections, Corrections::IndexedPatch(_)) {
            return None;
        }
        let weights = if self.weights.is_empty() { &[] } else { self.weights.get(..list.len())? };
        Some((offsets, list, weights))
    }

    /// Like [`ViewBlock::first_run`], but with weights.
    #[inline]
    pub(super) fn first_run(
        &self,
        local: LocalVertex,
        rest: &mut WeightedNeighbors<'a>,
    ) -> (&'a [VertexId], &'a [f64], bool) {
        let ViewBlock { offsets, corrections, .. } = self.block;
        // An indexed patch may correct only weights.
        if self.block.is_corrected(local) || matches!(corrections, Corrections::IndexedPatch(_)) {
            *rest = self.corrected(local);
            let (run, weights) = rest.take_run().unwrap_or((&[], &[]));
            return (run, weights, true);
        }
        let range = offsets[local.index()] as usize..offsets[local.index() + 1] as usize;
        (self.block.list(local), self.weights.get(range).unwrap_or(&[]), false)
    }

    /// Returns corrected neighbours with weights. Not inlined, like [`ViewBlock::corrected`].
    #[inline(never)]
    fn corrected(&self, local: LocalVertex) -> WeightedNeighbors<'a> {
        self.weighted_neighbors(local)
    }

    /// Returns the neighbours of the vertex at `local` and their weights. O(1).
    #[inline]
    pub fn weighted_neighbors(&self, local: LocalVertex) -> WeightedNeighbors<'a> {
        let ViewBlock { offsets, corrections, masks, .. } = self.block;
        let (from, to) = (offsets[local.index()], offsets[local.index() + 1]);
        let neighbors = self.block.neighbors(local);
        let main = self.weights.get(from as usize..to as usize).unwrap_or(&[]);
        let plain = WeightedNeighbors { neighbors, main, ..WeightedNeighbors::default() };
        corrections.correct_weights(plain, from..to, local, masks)
    }
}
