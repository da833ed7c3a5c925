//! The adaptive set of neighbours: a sorted array while it is short, then a skip list of blocks.

use std::ops::ControlFlow;

use hedgerow_core::{VertexId, simd};

use super::piece::{Marks, Piece, View};
use super::skip::SkipList;
use super::transaction::Transaction;
use super::versions::{Horizon, NEWEST, Versions};
use crate::change::{Change, Effect};
use crate::run::{RUN, Run, with_run};

/// The room of the smallest array.
const LEAST: usize = 2;
/// The number of cache lines of an array to prefetch; the hardware prefetcher loads the following ones.
const PREFETCHED_LINES: usize = 2;

/// A sorted array with room to grow. The room is a power of two, until it is as large as a block.
#[derive(Default)]
pub(super) struct Array {
    targets: Box<[VertexId]>,
    /// As many weights as targets, or none if all weights are 1.
    weights: Box<[f64]>,
    marks: Marks,
    len: u32,
}

impl Array {
    fn with_room(room: usize, first: View<'_>, marks: Marks, weighted: bool) -> Array {
        let mut array = Array {
            targets: vec![VertexId(0); room].into_boxed_slice(),
            weights: vec![0.0; if weighted { room } else { 0 }].into_boxed_slice(),
            marks,
            len: first.targets.len() as u32,
        };
        array.targets[..first.targets.len()].copy_from_slice(first.targets);
        array.weights[..first.weights.len()].copy_from_slice(first.weights);
        array
    }

    #[inline]
    fn view(&self) -> View<'_> {
        let len = self.len as usize;
        View {
            targets: &self.targets[..len],
            weights: self.weights.get(..len).unwrap_or_default(),
            marks: &self.marks,
        }
    }

    #[inline]
    fn write<T>(&mut self, f: impl FnOnce(&mut Piece<'_>) -> T) -> T {
        let mut piece = Piece {
            targets: &mut self.targets,
            weights: &mut self.weights,
            marks: &mut self.marks,
            len: self.len as usize,
        };
        let made = f(&mut piece);
        self.len = piece.len as u32;
        made
    }

    fn collect(&mut self, horizon: &Horizon<'_>) {
        if !self.marks.is_empty() {
            self.write(|piece| piece.collect(horizon));
        }
    }

    /// Makes a change. Returns `None` if there is no room for it.
    fn change(&mut self, change: &Change, txn: &Transaction<'_>) -> Option<Effect> {
        let full = self.len as usize == self.targets.len();
        self.write(|piece| match (piece.search(change.target), change.weight) {
            (Ok(i), Some(weight)) => Some(piece.put(i, weight, txn)),
            (Ok(i), None) => Some(piece.remove(i, txn)),
            (Err(_), None) => Some(Effect::default()),
            (Err(_), Some(_)) if full => None,
            (Err(i), Some(weight)) => Some(piece.insert(i, change.target, weight, txn)),
        })
    }

    fn resize(&mut self, room: usize, weighted: bool) {
        let marks = std::mem::take(&mut self.marks);
        *self = Array::with_room(room, self.view(), marks, weighted);
    }

    /// Makes the room smaller if more than three quarters of it are free.
    fn shrink(&mut self, weighted: bool) {
        let (room, len) = (self.targets.len(), self.len as usize);
        match len {
            0 if room > 0 => *self = Array::default(),
            _ if room > 2 * LEAST && len < room / 4 => self.resize((2 * len).next_power_of_two(), weighted),
            _ => {}
        }
    }

    /// Returns the number of neighbours after the last transaction.
    fn count(&self) -> usize {
        self.len as usize - self.marks.iter().filter(|versions| versions.is_removed()).count()
    }

    fn bytes(&self) -> usize {
        let spilled = if self.marks.spilled() { self.marks.capacity() * size_of::<Versions>() } else { 0 };
        self.targets.len() * 4
            + self.weights.len() * 8
            + spilled
            + self.marks.iter().map(Versions::bytes).sum::<usize>()
    }
}

/// The neighbours of one vertex in one direction, in ascending order.
pub(super) enum Set {
    /// A set with at most as many neighbours as a block holds.
    Short(Array),
    /// A set with more neighbours. After removals it may have fewer, until it becomes a short set again.
    Long(Box<SkipList>),
}

impl Default for Set {
    fn default() -> Self {
        Set::Short(Array::default())
    }
}

impl Set {
    /// Makes changes, which are in ascending order.
    pub(super) fn apply(&mut self, changes: &[Change], txn: &Transaction<'_>) -> Effect {
        let mut effect = Effect::default();
        let mut rest = changes;
        if let Set::Short(array) = self {
            array.collect(txn.horizon);
            while let Some((change, behind)) = rest.split_first() {
                if let Some(made) = array.change(change, txn) {
                    effect.add(made);
                    rest = behind;
                    continue;
                }
                if array.targets.len() >= txn.block {
                    break;
                }
                let room = (2 * array.targets.len()).clamp(LEAST, txn.block);
                array.resize(room, txn.weighted);
            }
            if rest.is_empty() {
                array.shrink(txn.weighted);
                return effect;
            }
            let count = array.count();
            let marks = std::mem::take(&mut array.marks);
            *self = Set::Long(Box::new(SkipList::new(array.view(), marks, count, txn)));
        }
        if let Set::Long(list) = self {
            effect.add(list.apply(rest, txn));
        }
        self.shorten(txn.weighted);
        effect
    }

    /// Turns a skip list that has become short into an array.
    fn shorten(&mut self, weighted: bool) {
        let Set::Long(list) = self else { return };
        if list.is_short() {
            let (view, marks) = list.single();
            let room = view.targets.len().next_power_of_two().max(LEAST);
            let mut array = Array::with_room(room, view, marks, weighted);
            array.shrink(weighted);
            *self = Set::Short(array);
        }
    }

    /// Removes versions that no reader needs, and releases room.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>, weighted: bool) {
        match self {
            Set::Short(array) => {
                array.collect(horizon);
                array.shrink(weighted);
            }
            Set::Long(list) => {
                list.collect(horizon);
                self.shorten(weighted);
            }
        }
    }

    /// Collects like [`collect`](Self::collect). In a long set, this visits only the blocks that contain, or
    /// contained, the neighbours in `changed`, which ascend.
    pub(super) fn collect_changed(&mut self, changed: &[VertexId], horizon: &Horizon<'_>, weighted: bool) {
        match self {
            Set::Short(_) => self.collect(horizon, weighted),
            Set::Long(list) => {
                list.collect_changed(changed, horizon);
                self.shorten(weighted);
            }
        }
    }

    /// Returns the number of neighbours. O(their versions) for a short set, O(versions of the size) for a
    /// long set.
    #[inline]
    pub(super) fn degree(&self, at: u64) -> usize {
        match self {
            Set::Short(array) => array.view().degree(at),
            Set::Long(list) => list.degree(at),
        }
    }

    /// Returns the weight of one neighbour, if it exists; 1 without weights. O(log degree).
    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        match self {
            Set::Short(array) => array.view().find(target, at),
            Set::Long(list) => list.find(target, at),
        }
    }

    /// Appends neighbours to the run, from the id `from` on, and their weights if `WEIGHTS`. It reads the
    /// next `most` entries, but not more than a run holds. Returns the id at which to continue, if there are
    /// more entries.
    #[inline]
    pub(super) fn copy<const WEIGHTS: bool>(
        &self,
        from: u32,
        at: u64,
        most: usize,
        run: &mut Run,
    ) -> Option<u32> {
        match self {
            Set::Short(array) => {
                let view = if WEIGHTS { array.view() } else { array.view().bare() };
                let view = view.from(from);
                if view.targets.len() <= most.min(RUN) {
                    view.copy(at, run);
                    return None;
                }
                let (part, rest) = view.split(most.min(RUN));
                part.copy(at, run);
                rest.first()
            }
            Set::Long(list) => list.copy::<WEIGHTS>(from, at, most, run),
        }
    }

    /// Calls `f` with the pieces of the set, at least one, until `f` breaks.
    #[inline]
    pub(super) fn for_each(&self, mut f: impl FnMut(View<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        match self {
            Set::Short(array) => f(array.view()),
            Set::Long(list) => list.for_each(0, f),
        }
    }

    /// Returns the neighbours as one slice, if they are in one array and every reader sees all of them.
    #[inline]
    pub(super) fn whole(&self) -> Option<&[VertexId]> {
        match self {
            Set::Short(array) if array.marks.is_empty() => Some(array.view().targets),
            _ => None,
        }
    }

    /// Returns the neighbours after the last transaction.
    pub(super) fn newest_targets(&self) -> Vec<VertexId> {
        let mut targets = Vec::new();
        with_run(|run| {
            let mut from = Some(0);
            while let Some(first) = from {
                run.clear();
                from = self.copy::<false>(first, NEWEST, RUN, run);
                targets.extend_from_slice(run.targets());
            }
        });
        targets
    }

    /// Prefetches an array, or the data that a search in a skip list reads first.
    #[inline]
    pub(super) fn prefetch(&self) {
        match self {
            Set::Short(array) => simd::prefetch_slice(array.view().targets, PREFETCHED_LINES),
            Set::Long(list) => simd::prefetch(&raw const **list),
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Set::Short(array) => array.bytes(),
            Set::Long(list) => size_of::<SkipList>() + list.bytes(),
        }
    }
}
