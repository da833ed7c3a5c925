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
/// How many lines of an array are loaded ahead; the processor follows by itself.
const PREFETCHED_LINES: usize = 2;

/// A sorted array, with room to grow: a power of two, until it is as large as a block.
#[derive(Default)]
pub(super) struct Array {
    targets: Box<[VertexId]>,
    /// As many, or none where all weigh 1.
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

    /// Makes a change, unless there is no room for it.
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

    /// Gives back room, where more than three quarters of it are free.
    fn shrink(&mut self, weighted: bool) {
        let (room, len) = (self.targets.len(), self.len as usize);
        match len {
            0 if room > 0 => *self = Array::default(),
            _ if room > 2 * LEAST && len < room / 4 => self.resize((2 * len).next_power_of_two(), weighted),
            _ => {}
        }
    }

    /// The neighbours after the last transaction.
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

/// The neighbours of one vertex in one direction, ascending.
pub(super) enum Set {
    /// At most as many as a block has.
    Short(Array),
    /// More, or so many until now.
    Long(Box<SkipList>),
}

impl Default for Set {
    fn default() -> Self {
        Set::Short(Array::default())
    }
}

impl Set {
    /// Makes changes, which ascend.
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

    /// Makes an array of a skip list that has become short.
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

    /// Gives up versions that no reader needs, and room.
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

    /// As [`collect`](Self::collect), but of a long set in the blocks alone that have these neighbours, which
    /// ascend, or had them.
    pub(super) fn collect_changed(&mut self, changed: &[VertexId], horizon: &Horizon<'_>, weighted: bool) {
        match self {
            Set::Short(_) => self.collect(horizon, weighted),
            Set::Long(list) => {
                list.collect_changed(changed, horizon);
                self.shorten(weighted);
            }
        }
    }

    /// The number of neighbours. O(their versions) of a short set, O(versions of the size) of a long one.
    #[inline]
    pub(super) fn degree(&self, at: u64) -> usize {
        match self {
            Set::Short(array) => array.view().degree(at),
            Set::Long(list) => list.degree(at),
        }
    }

    /// The weight of one neighbour, if there is one; 1 without weights. O(log degree).
    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        match self {
            Set::Short(array) => array.view().find(target, at),
            Set::Long(list) => list.find(target, at),
        }
    }

    /// Appends to the run neighbours from `from` on, those among the next `most` entries, at most as many as
    /// a run has, and their weights if `WEIGHTS`. Returns from where on to continue, if there are more.
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

    /// Calls `f` with the pieces of the set, at least one, until it breaks.
    #[inline]
    pub(super) fn for_each(&self, mut f: impl FnMut(View<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        match self {
            Set::Short(array) => f(array.view()),
            Set::Long(list) => list.for_each(0, f),
        }
    }

    /// The neighbours in one slice, where they lie so and all are seen by everybody.
    #[inline]
    pub(super) fn whole(&self) -> Option<&[VertexId]> {
        match self {
            Set::Short(array) if array.marks.is_empty() => Some(array.view().targets),
            _ => None,
        }
    }

    /// The neighbours after the last transaction.
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

    /// Starts loading an array, or what a search looks at first of a skip list.
    #[inline]
    pub(super) fn prefetch(&self) {
        match self {
            Set::Short(array) => simd::prefetch_slice(array.view().targets, PREFETCHED_LINES),
            Set::Long(list) => simd::prefetch(&raw const **list),
        }
    }

    /// The bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Set::Short(array) => array.bytes(),
            Set::Long(list) => size_of::<SkipList>() + list.bytes(),
        }
    }
}
