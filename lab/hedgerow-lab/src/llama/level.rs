//! A level: the edge table of one snapshot, with the fragments of the lists that changed in that snapshot.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use hedgerow_core::VertexId;

use super::options::Shape;
use super::record::Fragment;
use crate::planted::{Planted, is_on};

/// The number of places in an edge table that share a part of its deletion vector.
const PART: usize = 1024;
/// The mark of an entry that is not removed.
const KEPT: u32 = u32::MAX;
/// The largest length of a fragment that is searched from its beginning.
const SHORT: usize = 32;

type Part = OnceLock<Box<[AtomicU32]>>;

/// Fragments one after another, in the order of their vertices. If a fragment has a continuation record, the
/// record follows the fragment.
#[derive(Debug, Default)]
pub(super) struct Level {
    targets: Vec<VertexId>,
    /// The weights, in the places of the targets; empty if the graph has no weights.
    weights: Vec<f64>,
    /// The vertices of the fragments, ascending.
    vertices: Vec<VertexId>,
    entries: usize,
    is_sorted: bool,
    /// The first epoch that does not see the entry, by place (the deletion vector). A part is made when one
    /// of its entries is removed.
    marks: OnceLock<Box<[Part]>>,
    /// The number of entries that the newest snapshot does not see.
    removed: AtomicUsize,
}

/// True if the snapshot of an epoch does not see an entry with this mark.
#[inline]
fn is_gone(mark: &AtomicU32, epoch: u32) -> bool {
    let mark = mark.load(Relaxed);
    mark <= epoch || (is_on(Planted::MarksOfLaterSnapshots) && mark != KEPT)
}

impl Level {
    #[inline]
    pub(super) fn targets(&self, fragment: Fragment) -> &[VertexId] {
        &self.targets[fragment.range()]
    }

    /// Returns the weights of a fragment; none in a graph without weights.
    #[inline]
    pub(super) fn weights(&self, fragment: Fragment) -> &[f64] {
        self.weights.get(fragment.range()).unwrap_or(&[])
    }

    /// Returns the weight of the entry at a place.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> f64 {
        self.weights.get(at).copied().unwrap_or(1.0)
    }

    /// Returns the fragment where the list continues after this one.
    #[inline]
    pub(super) fn rest(&self, fragment: Fragment) -> Fragment {
        if !fragment.continues() {
            return Fragment::NONE;
        }
        match self.targets[fragment.range().end..].first_chunk() {
            Some(&words) => Fragment::of_words(words),
            None => Fragment::NONE,
        }
    }

    pub(super) fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    pub(super) fn removed(&self) -> usize {
        self.removed.load(Relaxed)
    }

    /// Returns the number of entries that the newest snapshot sees.
    pub(super) fn live(&self) -> usize {
        self.entries.saturating_sub(self.removed())
    }

    #[inline]
    pub(super) fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// Returns the place of a target in a fragment, removed or not. O(log length) if fragments are sorted.
    #[inline]
    pub(super) fn find(&self, fragment: Fragment, target: VertexId) -> Option<usize> {
        let list = self.targets(fragment);
        let at = if self.is_sorted && list.len() > SHORT {
            list.binary_search(&target).ok()
        } else {
            position(list, target)
        };
        at.map(|at| fragment.range().start + at)
    }

    #[inline]
    fn marks(&self, part: usize) -> Option<&[AtomicU32]> {
        self.marks.get()?.get(part)?.get().map(|marks| &**marks)
    }

    /// True if the snapshot of an epoch does not see the entry at a place.
    #[inline]
    pub(super) fn is_removed(&self, at: usize, epoch: u32) -> bool {
        self.marks(at / PART).is_some_and(|marks| is_gone(&marks[at % PART], epoch))
    }

    /// Removes the entry at a place from the snapshots of this epoch and of later epochs. A reader of an
    /// older epoch may read the mark at the same time. The old and the new mark both say that this reader
    /// sees the entry.
    pub(super) fn mark(&self, at: usize, epoch: u32) {
        let parts = self.targets.len().div_ceil(PART);
        let parts = self.marks.get_or_init(|| (0..parts).map(|_| Part::new()).collect());
        let marks = parts[at / PART].get_or_init(|| (0..PART).map(|_| AtomicU32::new(KEPT)).collect());
        marks[at % PART].store(epoch, Relaxed);
        self.lose(1);
    }

    /// Counts more entries that the newest snapshot does not see.
    pub(super) fn lose(&self, entries: usize) {
        if !is_on(Planted::RemovedNotCounted) {
            self.removed.fetch_add(entries, Relaxed);
        }
    }

    /// Calls `f` with the entries at these places that the snapshot of an epoch sees, in as few pieces as
    /// possible.
    #[inline]
    pub(super) fn for_each_piece(
        &self,
        places: Range<usize>,
        epoch: u32,
        mut f: impl FnMut(&[VertexId], &[f64]),
    ) {
        let mut piece = |piece: Range<usize>| {
            if !piece.is_empty() {
                f(&self.targets[piece.clone()], self.weights.get(piece).unwrap_or(&[]));
            }
        };
        let (mut begin, mut at) = (places.start, places.start);
        while at < places.end && self.marks.get().is_some() {
            let end = places.end.min((at / PART + 1) * PART);
            if let Some(marks) = self.marks(at / PART) {
                for (i, mark) in (at..end).zip(&marks[at % PART..]) {
                    if is_gone(mark, epoch) {
                        piece(begin..i);
                        begin = i + 1;
                    }
                }
            }
            at = end;
        }
        piece(begin..places.end);
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let ids = (self.targets.capacity() + self.vertices.capacity()) * size_of::<VertexId>();
        let marks = self.marks.get().map_or(0, |parts| {
            let made = parts.iter().filter(|part| part.get().is_some()).count();
            parts.len() * size_of::<Part>() + made * PART * size_of::<AtomicU32>()
        });
        size_of::<Level>() + ids + self.weights.capacity() * size_of::<f64>() + marks
    }
}

/// The number of ids that one step compares.
const LANES: usize = 32;

/// Returns the position of a target in an unordered list.
#[inline]
pub(super) fn position(list: &[VertexId], target: VertexId) -> Option<usize> {
    let (steps, rest) = list.as_chunks::<LANES>();
    for (i, step) in steps.iter().enumerate() {
        // Compares all ids of a step, without a branch for each id.
        if step.iter().fold(false, |found, &id| found | (id == target)) {
            return step.iter().position(|&id| id == target).map(|at| i * LANES + at);
        }
    }
    rest.iter().position(|&id| id == target).map(|at| steps.len() * LANES + at)
}

/// A level whose fragments are being written.
#[derive(Debug)]
pub(super) struct LevelBuilder {
    index: usize,
    level: Level,
}

impl LevelBuilder {
    /// Returns a builder of the level at this index, with room for `fragments` fragments with `entries`
    /// entries.
    pub(super) fn new(index: usize, fragments: usize, entries: usize, shape: &Shape) -> LevelBuilder {
        let places = entries + if index == 0 { 0 } else { fragments * Fragment::WORDS };
        let level = Level {
            targets: Vec::with_capacity(places),
            weights: Vec::with_capacity(if shape.weighted { places } else { 0 }),
            vertices: Vec::with_capacity(fragments),
            is_sorted: shape.sorted,
            ..Level::default()
        };
        LevelBuilder { index, level }
    }

    /// Appends the fragment of a vertex, whose list continues at `rest`. Vertices ascend.
    pub(super) fn push(
        &mut self,
        vertex: VertexId,
        (targets, weights): (&[VertexId], &[f64]),
        rest: Fragment,
    ) -> Fragment {
        let level = &mut self.level;
        let start = level.targets.len();
        level.targets.extend_from_slice(targets);
        level.weights.extend_from_slice(weights);
        level.vertices.push(vertex);
        level.entries += targets.len();
        let continues = !rest.is_none() && !is_on(Planted::ContinuationLost);
        if continues {
            level.targets.extend(rest.words());
            // Keeps each weight in the place of its target.
            level
                .weights
                .extend((!weights.is_empty()).then_some([0.0; Fragment::WORDS]).into_iter().flatten());
        }
        Fragment::new(self.index, start, targets.len(), continues)
    }

    /// Returns the level, if it has a fragment.
    pub(super) fn finish(self) -> Option<Level> {
        let mut level = self.level;
        level.targets.shrink_to_fit();
        level.weights.shrink_to_fit();
        level.vertices.shrink_to_fit();
        (level.entries > 0).then_some(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::sound;

    #[test]
    fn a_target_is_found_at_its_place() {
        for len in [0, 1, 31, 32, 33, 64, 100] {
            let list: Vec<VertexId> = (0..len).map(|i| VertexId(i * 7 % 101)).collect();
            for id in (0..102).map(VertexId) {
                assert_eq!(position(&list, id), list.iter().position(|&other| other == id));
            }
        }
    }

    #[test]
    fn pieces_are_what_an_epoch_sees() {
        let _sound = sound();
        let shape = Shape::new(Default::default(), Default::default());
        let mut builder = LevelBuilder::new(0, 1, 3 * PART, &shape);
        let ids: Vec<VertexId> = (0..3 * PART as u32).map(VertexId).collect();
        let fragment = builder.push(VertexId(0), (&ids, &[]), Fragment::NONE);
        let level = builder.finish().expect("a fragment");
        let removed = [0, 1, 5, PART - 1, PART, 3 * PART - 1];
        for (epoch, &at) in (1..).zip(&removed) {
            level.mark(at, epoch);
        }
        for epoch in 0..=removed.len() as u32 {
            let mut seen = Vec::new();
            level.for_each_piece(fragment.range(), epoch, |piece, _| seen.extend_from_slice(piece));
            let gone = &removed[..epoch as usize];
            let expected: Vec<VertexId> =
                ids.iter().copied().filter(|id| !gone.contains(&id.index())).collect();
            assert_eq!(seen, expected, "epoch {epoch}");
            assert!(removed.iter().all(|at| level.is_removed(*at, epoch) == gone.contains(at)));
        }
        assert_eq!(level.live(), 3 * PART - removed.len());
    }
}
