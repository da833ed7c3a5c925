//! A long list: a skip list of blocks. Each block is a sorted piece.
//!
//! The ids of all blocks are in one array. A block begins at its number times the block size, so a link is a
//! number of 4 bytes. A new block goes to the end of the array. When the array has to grow, the blocks are
//! copied in the order of the list. So most of a scan goes through memory in one direction.

use std::ops::ControlFlow;

use hedgerow_core::{VertexId, simd};
use smallvec::SmallVec;

use super::blocks::{Blocks, Path};
use super::piece::{Marks, View};
use super::transaction::Transaction;
use super::versions::Horizon;
use crate::change::{Change, Effect};
use crate::run::{RUN, Run};

/// The number of cache lines of the next block to prefetch; the hardware prefetcher loads the following ones.
const PREFETCHED_LINES: usize = 2;

/// The number of neighbours in the list from a timestamp on.
#[derive(Clone, Copy, Debug)]
struct Size {
    begin: u64,
    count: u32,
}

/// A list with more neighbours than one block holds.
pub(super) struct SkipList {
    blocks: Blocks,
    /// The sizes from old to new, as long as readers need them; at least one size.
    sizes: SmallVec<[Size; 1]>,
}

impl SkipList {
    /// Makes a list of one block, with the neighbours of a short list. `count` neighbours exist after the
    /// changes that the transaction has made so far.
    pub(super) fn new(first: View<'_>, marks: Marks, count: usize, txn: &Transaction<'_>) -> Self {
        let sizes = SmallVec::from_elem(Size { begin: txn.at, count: count as u32 }, 1);
        SkipList { blocks: Blocks::new(first, marks, txn), sizes }
    }

    /// Makes changes, which are in ascending order.
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

    /// Makes one change. Before this, it collects the versions of the block, unless the last change already
    /// did. `collected` is the key of the block that was collected last.
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

    /// Splits the block at the end of `path`. Returns the block and the place to which the place `i` moved.
    fn split(&mut self, path: &Path, i: usize) -> (u32, usize) {
        let (left, right) = (path[0], self.blocks.split(path));
        let kept = self.blocks.len(left);
        if i <= kept { (left, i) } else { (right, i - kept) }
    }

    /// Enters a size that is larger by `more` than the newest size.
    fn add_size(&mut self, more: i64, txn: &Transaction<'_>) {
        let newest = self.newest_size();
        let size = Size { begin: txn.at, count: (i64::from(newest.count) + more) as u32 };
        if !txn.versioned || newest.begin == txn.at {
            self.sizes.pop();
        }
        self.sizes.push(size);
        self.prune_sizes(txn.horizon);
    }

    /// Removes the sizes that no reader needs.
    fn prune_sizes(&mut self, horizon: &Horizon<'_>) {
        // From new to old, so that the end of each size is known. Kept sizes move to the end of the array.
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

    /// True if the list should become a short list: it has a single block, less than half full.
    pub(super) fn is_short(&self) -> bool {
        self.blocks.is_single() && self.blocks.len(0) < self.blocks.size() / 2
    }

    /// Returns the only block of a list that has become short.
    pub(super) fn single(&mut self) -> (View<'_>, Marks) {
        self.blocks.take_single()
    }

    /// Removes versions that no reader needs, in all blocks.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>) {
        self.blocks.collect_all(horizon);
        self.prune_sizes(horizon);
    }

    /// Collects like [`collect`](Self::collect), but only in the blocks that contain, or contained, the
    /// neighbours in `changed`, which ascend.
    pub(super) fn collect_changed(&mut self, changed: &[VertexId], horizon: &Horizon<'_>) {
        self.blocks.collect_changed(changed, horizon);
        self.prune_sizes(horizon);
    }

    pub(super) fn degree(&self, at: u64) -> usize {
        if let Some(size) = self.sizes.iter().rev().find(|size| size.begin <= at) {
            return size.count as usize;
        }
        // The reader is older than the first size of the long list.
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

    /// Copies neighbours from the id `from` on, and their weights if `WEIGHTS`. It reads the next `most`
    /// entries, but not more than a run holds. Returns the id at which to continue, if there are more
    /// entries.
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

    /// Calls `f` with the pieces of the list, from the first id that is not less than `from`, until `f`
    /// breaks.
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
