//! The fat tree of the whole container. Each segment has a latch (section 5.1).
//!
//! A reader or writer of an edge finds its segment without a latch. It then latches the segment and checks
//! the fence keys. If the edge has moved to another segment, the search starts again. A reader or writer
//! holds one latch at a time. A rebalance holds the latches of a whole window and the lock of the leaf. Only
//! rebalances use the lock of the leaf.

use std::sync::Arc;

use hedgerow_core::Direction;
use hedgerow_core::sync::ArcCell;
use parking_lot::{Mutex, MutexGuard};

use super::index::{Hint, Index, LeafIds, Table};
use super::leaf::{Latched, Leaf};
use super::options::{MARGIN, Shape};
use super::segment::{NO_HEADER, Segment};
use super::spread::Gathered;
use super::undo::Horizon;
use crate::planted::{Planted, is_on};

/// The tree of all edges in one direction.
pub(super) struct Tree {
    index: ArcCell<Index<Latched>>,
    /// The lock of a replacement of leaves, with the ids of leaves.
    structure: Mutex<LeafIds>,
    shape: Shape,
    direction: Direction,
}

impl Tree {
    pub(super) fn new(shape: Shape, direction: Direction) -> Tree {
        let mut ids = LeafIds::default();
        let index = ArcCell::new(Some(Arc::new(Index::new(&shape, &mut ids))));
        Tree { index, structure: Mutex::new(ids), shape, direction }
    }

    /// Returns the result of `f` for the segment that holds `key`. `f` also gets the place of a header there,
    /// if `hint` leads to that segment.
    #[inline]
    pub(super) fn read<T>(&self, hint: Hint, key: u64, f: impl FnOnce(&Segment, usize) -> T) -> T {
        let mut hinted = true;
        loop {
            let index = self.index.load();
            let Some(index) = index.as_deref() else { continue };
            let (latched, header) = find(index, hint, key, hinted);
            let segment = latched.0.read();
            if segment.covers(key) || (header != NO_HEADER && is_on(Planted::FencesNotChecked)) {
                return f(&segment, header);
            }
            hinted = false;
        }
    }

    /// Calls `f` as [`read`](Self::read) does, to change the segment. Also returns a key of the segment, if
    /// the segment needs a rebalance that no writer has requested.
    #[inline]
    pub(super) fn write<T>(
        &self,
        hint: Hint,
        key: u64,
        f: impl FnOnce(&mut Segment, usize) -> T,
    ) -> (T, Option<u64>) {
        let mut hinted = true;
        loop {
            let index = self.index.load();
            let Some(index) = index.as_deref() else { continue };
            let (latched, header) = find(index, hint, key, hinted);
            let mut segment = latched.0.write();
            if segment.covers(key) {
                let made = f(&mut segment, header);
                let asks = segment.is_full() && !segment.asked;
                segment.asked |= asks;
                return (made, asks.then_some(segment.low));
            }
            hinted = false;
        }
    }

    fn current(&self) -> Arc<Index<Latched>> {
        self.index.load_full().expect("there is always an index")
    }

    /// Rebalances the window of the segment that holds `key`, if this segment is full.
    pub(super) fn rebalance(&self, key: u64, table: &Table, horizon: &dyn Fn() -> Horizon) {
        loop {
            let index = self.current();
            let leaf = &index.leaves[index.place(key)];
            let rebalancing = leaf.rebalancing.lock();
            if *rebalancing {
                continue;
            }
            let i = leaf.find(key);
            let is_full = {
                let mut segment = leaf.segments[i].0.write();
                segment.prune(&horizon());
                segment.asked = segment.is_full();
                segment.asked
            };
            if is_full && !self.spread(leaf, i, table, horizon) {
                self.rebuild(std::slice::from_ref(leaf), vec![rebalancing], table, horizon);
            }
            return;
        }
    }

    /// Spreads the edges of the window around segment `i`. Returns false if every window is too full.
    fn spread(&self, leaf: &Leaf<Latched>, i: usize, table: &Table, horizon: &dyn Fn() -> Horizon) -> bool {
        let used = |i: usize| leaf.segments[i].0.read().used();
        let (window, mut segments) = loop {
            let Some(window) = leaf.window(i, &self.shape, used) else { return false };
            let segments: Vec<_> =
                leaf.segments[window.clone()].iter().map(|latched| latched.0.write()).collect();
            // Writers may have inserted edges since the search. If they have taken all the room that the
            // window had left, the next search finds a wider window.
            let words: usize = segments.iter().map(|segment| segment.used()).sum();
            if words <= (self.shape.words - MARGIN) * window.len() {
                break (window, segments);
            }
        };
        let range = segments[0].low..segments[window.len() - 1].high;
        let gathered = Gathered::of(&mut segments, &horizon());
        gathered.spread(range, &mut segments);
        leaf.set_fences(window.start, segments.iter().map(|segment| segment.low));
        for (segment, i) in segments.iter().zip(window) {
            table.enter(self.direction, segment, leaf.id, i);
        }
        true
    }

    /// Replaces neighbouring leaves with as many new leaves as their edges need. The caller holds the locks
    /// of the old leaves.
    fn rebuild(
        &self,
        leaves: &[Arc<Leaf<Latched>>],
        mut rebalancing: Vec<MutexGuard<'_, bool>>,
        table: &Table,
        horizon: &dyn Fn() -> Horizon,
    ) {
        let (low, high) = (leaves[0].low, leaves[leaves.len() - 1].high);
        let mut old: Vec<_> =
            leaves.iter().flat_map(|leaf| &*leaf.segments).map(|latched| latched.0.write()).collect();
        let gathered = Gathered::of(&mut old, &horizon());
        let mut segments = gathered.segments(low..high, &self.shape);
        let mut structure = self.structure.lock();
        let mut new = Vec::new();
        let each = segments.len().div_ceil(segments.len().div_ceil(self.shape.leaf));
        while !segments.is_empty() {
            let rest = segments.split_off(each.min(segments.len()));
            let id = structure.take();
            for (i, segment) in segments.iter().enumerate() {
                table.enter(self.direction, segment, id, i);
            }
            new.push(Arc::new(Leaf::new(id, segments)));
            segments = rest;
        }
        let index = self.current();
        let first = index.place(low);
        self.index.store(Some(Arc::new(index.replacing(first..first + leaves.len(), new))));
        leaves.iter().for_each(|leaf| structure.give_back(leaf.id));
        rebalancing.iter_mut().for_each(|replaced| **replaced = true);
        // A thread that waits for one of these latches finds an empty key range there, and reads the new
        // index.
        old.iter_mut().for_each(|segment| segment.close());
    }

    /// Prunes the versions that `horizon` does not keep, rebalances full segments, and merges leaves.
    pub(super) fn visit(&self, table: &Table, horizon: &dyn Fn() -> Horizon) {
        for leaf in &self.current().leaves {
            for latched in &leaf.segments {
                let is_full = {
                    let mut segment = latched.0.write();
                    segment.prune(&horizon());
                    segment.undo.shrink_to_fit();
                    segment.is_full().then_some(segment.low)
                };
                if let Some(low) = is_full {
                    self.rebalance(low, table, horizon);
                }
            }
        }
        self.merge(table, horizon);
    }

    /// Merges neighbouring leaves if one leaf is enough for their edges. Makes a leaf smaller if it is less
    /// than half as full as a new leaf.
    fn merge(&self, table: &Table, horizon: &dyn Fn() -> Horizon) {
        let index = self.current();
        let mut first = 0;
        while first < index.leaves.len() {
            let used = |leaf: &Leaf<Latched>| {
                leaf.segments.iter().map(|latched| latched.0.read().used()).sum::<usize>()
            };
            let mut words = used(&index.leaves[first]);
            let mut end = first + 1;
            while let Some(leaf) = index.leaves.get(end) {
                let more = used(leaf);
                if !self.shape.merges(words + more) {
                    break;
                }
                (words, end) = (words + more, end + 1);
            }
            let leaves = &index.leaves[first..end];
            let is_sparse = leaves[0].segments.len() > 2 * self.shape.resized(words);
            if leaves.len() > 1 || is_sparse {
                let rebalancing: Vec<_> = leaves.iter().map(|leaf| leaf.rebalancing.lock()).collect();
                if rebalancing.iter().all(|replaced| !**replaced) {
                    self.rebuild(leaves, rebalancing, table, horizon);
                }
            }
            first = end;
        }
    }

    /// Prefetches the segment that a hint names.
    #[inline]
    pub(super) fn prefetch(&self, hint: Hint) {
        let index = self.index.load();
        let leaf = index.as_deref().and_then(|index| index.leaf_of(hint));
        if let Some(latched) = leaf.and_then(|leaf| leaf.segments.get(hint.segment())) {
            hedgerow_core::simd::prefetch(latched);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let index = self.current();
        let leaves = index.leaves.iter();
        let segments = |leaf: &Arc<Leaf<Latched>>| -> usize {
            leaf.segments.iter().map(|latched| latched.0.read().bytes()).sum()
        };
        index.bytes() + leaves.map(|leaf| leaf.bytes() + segments(leaf)).sum::<usize>()
    }
}

/// Returns the segment that holds `key`, unless a rebalance moves the key meanwhile. If `hinted`, this is the
/// segment that the hint names, with the place of a header. Otherwise the primary index finds the segment.
#[inline]
fn find(index: &Index<Latched>, hint: Hint, key: u64, hinted: bool) -> (&Latched, usize) {
    if hinted && let Some(latched) = index.leaf_of(hint).and_then(|leaf| leaf.segments.get(hint.segment())) {
        return (latched, hint.header());
    }
    let leaf = index.leaf(key);
    (&leaf.segments[leaf.find(key)], NO_HEADER)
}

#[cfg(test)]
mod tests {
    use super::super::options::TeseoOptions;
    use super::super::segment::key;
    use super::*;
    use crate::GraphForm;
    use crate::planted::sound;

    /// Makes a leaf of several segments; the first segment has `buffered` edges in its buffer. Returns
    /// whether a rebalance kept the leaf, and whether the leaf has room for all edges.
    fn leaf_is_left(buffered: usize) -> (bool, bool) {
        let options =
            TeseoOptions { segment: 32, leaf: 16, tau_h: 1.0, rho_h: 0.1, ..TeseoOptions::default() };
        let shape = Shape::new(GraphForm { directed: true, weighted: false }, options, false);
        let (tree, table) = (Tree::new(shape, Direction::Out), Table::default());
        let horizon = || Horizon::alone(0);
        let insert = |v: u32, target: u32| {
            let key = key(v, target);
            let change = |segment: &mut Segment, _| {
                segment.change((key, NO_HEADER), Some(1.0), 1, &shape, || 0).map(|_| segment.buffered())
            };
            tree.write(Hint::default(), key, change).0.expect("there is no other transaction")
        };
        for v in 0..40 {
            insert(v, 0);
        }
        tree.rebalance(0, &table, &horizon);
        let before = tree.current().leaves[0].clone();
        assert!(before.segments.len() > 4, "several segments");
        let mut edges = 40 + 1;
        while insert(0, edges) < buffered {
            edges += 1;
        }
        let words: usize = before.segments.iter().map(|latched| latched.0.read().used()).sum();
        tree.rebalance(0, &table, &horizon);
        let index = tree.current();
        let segments = index.leaves.iter().flat_map(|leaf| &leaf.segments);
        let mut found = 0;
        segments.for_each(|latched| latched.0.read().for_each(0..u64::MAX, |_, _| found += 1));
        assert_eq!(found, edges, "edges after the rebalance");
        let has_room = words <= (shape.words - MARGIN) * before.segments.len();
        (Arc::ptr_eq(&before, &index.leaves[0]), has_room)
    }

    #[test]
    fn a_leaf_that_has_room_is_not_replaced() {
        let _sound = sound();
        let outcomes: Vec<(bool, bool)> = (1..40).map(leaf_is_left).collect();
        assert!(outcomes.iter().all(|(left, has_room)| left == has_room), "{outcomes:?}");
        assert!(outcomes.contains(&(true, true)) && outcomes.contains(&(false, false)), "{outcomes:?}");
    }
}
