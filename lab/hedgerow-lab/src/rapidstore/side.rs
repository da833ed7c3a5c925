//! The lists of one subgraph in one direction: a clustered index of short lists, and a tree for each long
//! one.
//!
//! The clustered index (RapidStore section 6.3) is a sequence of leaves with the edges of all short lists, in
//! the order (source, destination). It is a tree of two levels, because 64 short lists need only a few
//! leaves. The index stores the beginning of the list for each vertex, so a read needs no search for it.

use std::cell::Cell;
use std::ops::ControlFlow;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId};

use super::leaf::{Leaf, cut, find};
use super::shape::{Shape, ShortLists};
use super::tree::Tree;
use crate::change::{Change, Effect};
use crate::merged::Merged;
use crate::planted::{Planted, is_on};

/// The place of a list.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The leaf in which a short list begins.
    leaf: u16,
    /// The position in that leaf at which the list begins.
    start: u16,
    degree: u32,
}

/// The lists of one subgraph in one direction. A copy shares leaves and trees.
#[derive(Clone, Debug)]
pub(super) struct Side {
    places: [Place; SUBGRAPH_VERTICES],
    /// The set of lists that are trees.
    treed: u64,
    leaves: Vec<Leaf>,
    trees: Vec<Tree>,
}

impl Default for Side {
    fn default() -> Self {
        Side {
            places: [Place::default(); SUBGRAPH_VERTICES],
            treed: 0,
            leaves: Vec::new(),
            trees: Vec::new(),
        }
    }
}

/// The buffers in which a writer builds lists. A thread keeps them between two writes.
#[derive(Debug, Default)]
struct Scratch {
    list: Merged,
    leaves: Merged,
}

thread_local! {
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

impl Side {
    #[inline]
    fn tree(&self, local: LocalVertex) -> Option<&Tree> {
        let bit = local.bit();
        let is_tree = self.treed & bit != 0;
        is_tree.then(|| &self.trees[(self.treed & (bit - 1)).count_ones() as usize])
    }

    #[inline]
    pub(super) fn degree(&self, local: LocalVertex) -> usize {
        self.places[local.index()].degree as usize
    }

    /// Returns the parts of a short list, one from each of its leaves.
    #[inline]
    fn parts(&self, local: LocalVertex) -> impl Iterator<Item = (&[VertexId], &[f64])> {
        let place = self.places[local.index()];
        let (mut leaf, mut start) = (usize::from(place.leaf), usize::from(place.start));
        let mut rest = if self.treed & local.bit() == 0 { place.degree as usize } else { 0 };
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let here = &self.leaves[leaf];
            let end = here.len().min(start + rest);
            let part = here.part(start..end);
            rest -= end - start;
            (leaf, start) = (leaf + 1, 0);
            Some(part)
        })
    }

    /// Returns the whole list, if it is in one piece.
    #[inline]
    pub(super) fn slices(&self, local: LocalVertex) -> Option<(&[VertexId], &[f64])> {
        let place = self.places[local.index()];
        let (start, degree) = (usize::from(place.start), place.degree as usize);
        if degree == 0 {
            return Some((&[], &[]));
        }
        if self.treed & local.bit() != 0 {
            return None;
        }
        let leaf = &self.leaves[usize::from(place.leaf)];
        (start + degree <= leaf.len()).then(|| leaf.part(start..start + degree))
    }

    /// Returns the first run of the list. In a tree, this is the leaf with the least id.
    #[inline]
    pub(super) fn first_run(&self, local: LocalVertex) -> Option<&[VertexId]> {
        match self.tree(local) {
            Some(tree) => tree.first_run(),
            None => self.parts(local).next().map_or(Some(&[]), |(targets, _)| Some(targets)),
        }
    }

    /// Calls `f` with the list in one or more runs, until `f` breaks.
    #[inline]
    pub(super) fn runs(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let Some((targets, weights)) = self.slices(local) {
            return f(targets, weights);
        }
        match self.tree(local) {
            Some(tree) => tree.runs(&mut f),
            None => self.parts(local).try_for_each(|(targets, weights)| f(targets, weights)),
        }
    }

    /// Returns the weight of one neighbour, if it is there.
    #[inline]
    pub(super) fn find(&self, local: LocalVertex, target: VertexId) -> Option<f64> {
        if let Some(tree) = self.tree(local) {
            return tree.find(target);
        }
        let part =
            self.parts(local).find(|(targets, _)| targets.last().is_some_and(|&last| target <= last))?;
        find(part, target)
    }

    /// Applies changes to one list; they ascend.
    pub(super) fn apply(&mut self, local: LocalVertex, changes: &[Change], shape: &Shape) -> Effect {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let effect = match self.tree(local) {
            Some(_) => self.apply_to_tree(local, changes, shape, &mut scratch),
            None => self.apply_to_leaves(local, changes, shape, &mut scratch),
        };
        SCRATCH.set(Some(scratch));
        effect
    }

    fn apply_to_tree(
        &mut self,
        local: LocalVertex,
        changes: &[Change],
        shape: &Shape,
        scratch: &mut Scratch,
    ) -> Effect {
        let index = (self.treed & (local.bit() - 1)).count_ones() as usize;
        let effect = self.trees[index].apply(changes, shape, &mut scratch.leaves);
        let degree = (i64::from(self.places[local.index()].degree) + effect.entries) as u32;
        self.places[local.index()].degree = degree;
        // The limit is well below the length from which on a list is a tree. So a list near that length does
        // not change its form with every write.
        if degree as usize <= shape.longest_short / 2 {
            scratch.list.clear();
            let _ = self.trees[index].runs(&mut |targets, weights| {
                scratch.list.extend((targets, weights));
                ControlFlow::Continue(())
            });
            self.trees.remove(index);
            self.treed &= !local.bit();
            self.places[local.index()].degree = 0;
            self.replace(local, shape, scratch);
        }
        effect
    }

    fn apply_to_leaves(
        &mut self,
        local: LocalVertex,
        changes: &[Change],
        shape: &Shape,
        scratch: &mut Scratch,
    ) -> Effect {
        scratch.list.clear();
        let mut effect = Effect::default();
        let mut rest = changes;
        let mut parts = self.parts(local).peekable();
        while let Some(part) = parts.next() {
            // All remaining changes belong to the last part.
            let last = part.0.last().filter(|_| parts.peek().is_some());
            let here = last.map_or(rest.len(), |last| rest.partition_point(|c| c.target <= *last));
            effect.add(scratch.list.merge(part, &rest[..here], shape.weighted));
            rest = &rest[here..];
        }
        effect.add(scratch.list.merge((&[], &[]), rest, shape.weighted));
        drop(parts);
        if effect.changed {
            self.replace(local, shape, scratch);
        }
        effect
    }

    /// Replaces a short list by the list in `scratch`.
    fn replace(&mut self, local: LocalVertex, shape: &Shape, scratch: &mut Scratch) {
        let Place { leaf, start, degree } = self.places[local.index()];
        let first = usize::from(leaf);
        let (mut last, mut end) = (first, usize::from(start) + degree as usize);
        while self.leaves.get(last).is_some_and(|leaf| end > leaf.len()) {
            end -= self.leaves[last].len();
            last += 1;
        }
        let len = scratch.list.len();
        let is_short = len <= shape.longest_short;
        let list = if is_short { &scratch.list } else { &Merged::default() };
        let before =
            self.leaves.get(first).map_or((&[][..], &[][..]), |leaf| leaf.part(0..usize::from(start)));
        let behind = self.leaves.get(last).map_or((&[][..], &[][..]), |leaf| leaf.part(end..leaf.len()));
        let mut leaves: Vec<Leaf> = Vec::new();
        let out = &mut scratch.leaves;
        let groups: &[&[(&[VertexId], &[f64])]] = match shape.short_lists {
            ShortLists::Clustered => &[&[before, list.whole(), behind]],
            ShortLists::Vectors => &[&[before], &[list.whole()], &[behind]],
        };
        for group in groups {
            out.clear();
            group.iter().for_each(|&part| out.extend(part));
            let step = cut(out.len(), shape.segment);
            leaves.extend((0..out.len()).step_by(step).map(|at| out.leaf(at..out.len().min(at + step))));
        }
        let taken = first.min(self.leaves.len())..(last + 1).min(self.leaves.len());
        // Usually one leaf replaces one leaf. Then only the lists after this one in the leaf move.
        let moves_within = taken.len() == 1 && leaves.len() == 1 && is_short;
        if moves_within {
            self.leaves[first] = leaves.swap_remove(0);
        } else {
            self.leaves.splice(taken, leaves);
        }
        if !is_short {
            let index = (self.treed & (local.bit() - 1)).count_ones() as usize;
            self.trees.insert(index, Tree::of(&scratch.list, shape));
            self.treed |= local.bit();
        }
        self.places[local.index()].degree = len as u32;
        if is_on(Planted::PlacesNotMoved) {
            return;
        }
        if moves_within {
            let more = (len as u16).wrapping_sub(degree as u16);
            let behind = self.places[local.index() + 1..].iter_mut().take_while(|place| place.leaf == leaf);
            behind.for_each(|place| place.start = place.start.wrapping_add(more));
        } else {
            // The lists before this one in its leaf may now be in another leaf, too.
            self.place_from(self.places.partition_point(|place| place.leaf < leaf));
        }
    }

    /// Computes the beginnings of the lists from `first` on, from the lengths of the lists before them.
    fn place_from(&mut self, first: usize) {
        let Place { leaf, start, .. } = self.places[first];
        let (mut leaf, mut start) = (usize::from(leaf), usize::from(start));
        for (local, place) in self.places.iter_mut().enumerate().skip(first) {
            let degree = if self.treed & (1 << local) == 0 { place.degree as usize } else { 0 };
            // A list begins at its first entry. An empty list may begin after the last entry of a leaf.
            while self
                .leaves
                .get(leaf)
                .is_some_and(|here| start > here.len() || start == here.len() && degree > 0)
            {
                start -= self.leaves[leaf].len();
                leaf += 1;
            }
            (place.leaf, place.start) = (leaf as u16, start as u16);
            start += degree;
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>()
            + self.trees.capacity() * size_of::<Tree>()
            + self.leaves.iter().map(Leaf::bytes).sum::<usize>()
            + self.trees.iter().map(Tree::bytes).sum::<usize>()
    }

    /// Returns the address of the place of a list.
    #[inline]
    pub(super) fn place_address(&self, local: LocalVertex) -> *const u8 {
        std::ptr::from_ref(&self.places[local.index()]).cast()
    }
}
