//! A long list: a skip list of blocks, each a sorted piece.
//!
//! Ids of all blocks lie in one array, a block's at its number times the block size, so links are numbers of
//! 4 bytes. A new block goes to the end of the array; whenever the array has to grow, the blocks are copied
//! in the order of the list, so that most of a scan goes through memory in one direction.

use std::ops::ControlFlow;

use hedgerow_core::{VertexId, simd};
use smallvec::SmallVec;

use super::blocks::{Blocks, Path};
use super::piece::{Marks, View};
use super::transaction::Transaction;
use super::versions::Horizon;
use crate::change::{Change, Effect};
use crate::run::{RUN, Run};

/// How many lines of the next block are loaded ahead; the processor follows by itself.
const PREFETCHED_LINES: usize = 2;

/// How many neighbours the list has from a timestamp on.
#[derive(Clone, Copy, Debug)]
struct Size {
    begin: u64,
    count: u32,
}

/// A list of more neighbours than a block has.
pub(super) struct SkipList {
    blocks: Blocks,
    /// From old to new, as long as readers need them; at least one.
    sizes: SmallVec<[Size; 1]>,
}

impl SkipList {
    /// A list of one block, which takes over a short one. `count` of the neighbours are there after the
    /// transaction so far.
    pub(super) fn new(first: View<'_>, marks: Marks, count: usize, txn: &Transaction<'_>) -> Self {
        let sizes = SmallVec::from_elem(Size { begin: txn.at, count: count as u32 }, 1);
        SkipList { blocks: Blocks::new(first, marks, txn), sizes }
    }

    /// Makes changes, which ascend.
    pub(super) fn apply(&mut self, changes: &[Change], txn: &Transaction<'_>) -> Effect {
        let mut effect = Effect::default();
        let mut collected = None;
        for change in changes {
            effect.add(self.change(change, &mut collected, txn));
        }
        if effect.entries != 0 {
            self.add_size(effect.entries, txn);
        }
        effect
    }

    /// Makes one change. Versions of the block are collected before, unless they were just now: `collected`
    /// is the key of that block.
    fn change(&mut self, change: &Change, collected: &mut Option<u32>, txn: &Transaction<'_>) -> Effect {
        if change.weight.is_some() {
            self.blocks.make_room();
        }
        let path = self.blocks.locate(change.target.0);
        let mut block = path[0];
        if *collected != Some(self.blocks.key(block)) {
            *collected = Some(self.blocks.key(block));
            self.blocks.collect(block, txn.horizon);
        }
        let found = self.blocks.piece(block).search(change.target);
        let effect = match (found, change.weight) {
            (Ok(i), Some(weight)) => self.blocks.piece(block).put(i, weight, txn),
            (Ok(i), None) => self.blocks.write(block, |piece| piece.remove(i, txn)),
            (Err(_), None) => Effect::default(),
            (Err(mut i), Some(weight)) => {
                if self.blocks.is_full(block) {
                    (block, i) = self.split(&path, i);
                }
                self.blocks.write(block, |piece| piece.insert(i, change.target, weight, txn))
            }
        };
        self.blocks.balance(&path);
        effect
    }

    /// Splits the block that a path leads to. Returns where the place `i` in it is now.
    fn split(&mut self, path: &Path, i: usize) -> (u32, usize) {
        let (left, right) = (path[0], self.blocks.split(path));
        let kept = self.blocks.len(left);
        if i <= kept { (left, i) } else { (right, i - kept) }
    }

    /// Enters that there are so many neighbours more.
    fn add_size(&mut self, more: i64, txn: &Transaction<'_>) {
        let newest = self.newest_size();
        let size = Size { begin: txn.at, count: (i64::from(newest.count) + more) as u32 };
        if !txn.versioned || newest.begin == txn.at {
            self.sizes.pop();
        }
        self.sizes.push(size);
        self.prune_sizes(txn.horizon);
    }

    /// Gives up sizes that no reader asks for.
    fn prune_sizes(&mut self, horizon: &Horizon<'_>) {
        // From new to old, so that the end of each is known; those that are kept move to the end.
        let mut kept = self.sizes.len() - 1;
        let mut end = self.sizes[kept].begin;
        for i in (0..kept).rev() {
            let size = self.sizes[i];
            if horizon.needs(size.begin, end) {
                kept -= 1;
                self.sizes[kept] = size;
            }
            end = size.begin;
        }
        self.sizes.drain(..kept);
        if self.sizes.len() == 1 {
            self.sizes.shrink_to_fit();
        }
    }

    fn newest_size(&self) -> Size {
        self.sizes.last().copied().unwrap_or(Size { begin: 0, count: 0 })
    }

    /// Whether the list would be better off as a short one: a single block, less than half full.
    pub(super) fn is_short(&self) -> bool {
        self.blocks.is_single() && self.blocks.len(0) < self.blocks.size() / 2
    }

    /// The one block of a list that has become short.
    pub(super) fn single(&mut self) -> (View<'_>, Marks) {
        self.blocks.take_single()
    }

    /// Gives up versions that no reader needs, in all blocks.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>) {
        self.blocks.collect_all(horizon);
        self.prune_sizes(horizon);
    }

    /// As [`collect`](Self::collect), in the blocks alone that have these neighbours, which ascend, or had
    /// them.
    pub(super) fn collect_changed(&mut self, changed: &[VertexId], horizon: &Horizon<'_>) {
        self.blocks.collect_changed(changed, horizon);
        self.prune_sizes(horizon);
    }

    pub(super) fn degree(&self, at: u64) -> usize {
        if let Some(size) = self.sizes.iter().rev().find(|size| size.begin <= at) {
            return size.count as usize;
        }
        // From before the list was long.
        let mut degree = 0;
        let _ = self.for_each(0, |view| {
            degree += view.degree(at);
            ControlFlow::Continue(())
        });
        degree
    }

    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        self.blocks.view(self.blocks.find(target.0)).find(target, at)
    }

    /// Copies neighbours from `from` on, those among the next `most` entries, and their weights if `WEIGHTS`.
    /// Returns from where on to continue, if there are more.
    pub(super) fn copy<const WEIGHTS: bool>(
        &self,
        from: u32,
        at: u64,
        most: usize,
        run: &mut Run,
    ) -> Option<u32> {
        let mut room = most.min(RUN);
        let mut next = None;
        let _ = self.for_each(from, |view| {
            let view = if WEIGHTS { view } else { view.bare() };
            if view.targets.len() > room {
                let (part, rest) = view.split(room);
                part.copy(at, run);
                next = rest.first();
                return ControlFlow::Break(());
            }
            room -= view.targets.len();
            view.copy(at, run);
            ControlFlow::Continue(())
        });
        next
    }

    /// Calls `f` with the pieces of the list from the first id that is not less than `from`, until it breaks.
    #[inline]
    pub(super) fn for_each(
        &self,
        from: u32,
        mut f: impl FnMut(View<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut block = Some(if from == 0 { 0 } else { self.blocks.find(from) });
        let mut from = from;
        while let Some(here) = block {
            block = self.blocks.next(here);
            if let Some(next) = block {
                simd::prefetch_slice(self.blocks.view(next).targets, PREFETCHED_LINES);
            }
            f(self.blocks.view(here).from(from))?;
            from = 0;
        }
        ControlFlow::Continue(())
    }

    pub(super) fn bytes(&self) -> usize {
        let sizes = if self.sizes.spilled() { self.sizes.capacity() * size_of::<Size>() } else { 0 };
        self.blocks.bytes() + sizes
    }
}
