//! A piece of sorted neighbours: a short list, or a block of a long list.

use hedgerow_core::VertexId;
use smallvec::SmallVec;

use super::transaction::Transaction;
use super::versions::{Fate, Horizon, Versions};
use crate::change::Effect;
use crate::planted::{Planted, is_on};
use crate::run::Run;

/// The bit of an id that marks a neighbour with versions. Every vertex id is smaller.
const MARK: u32 = 1 << 31;
/// The number of ids that are checked together for a mark.
const LANES: usize = 16;

/// The versions of the marked ids of a piece, in their order.
pub(super) type Marks = SmallVec<[Versions; 1]>;

/// Returns the id without its mark.
#[inline]
fn plain(id: VertexId) -> u32 {
    id.0 & !MARK
}

#[inline]
fn is_marked(id: VertexId) -> bool {
    id.0 & MARK != 0
}

/// Returns the number of ids that are less than `target`.
#[inline]
fn position(targets: &[VertexId], target: u32) -> usize {
    targets.partition_point(|&id| plain(id) < target)
}

/// Returns the number of marked ids.
pub(super) fn count_marks(targets: &[VertexId]) -> usize {
    targets.iter().map(|id| id.0 >> 31).sum::<u32>() as usize
}

/// Returns the place of the first marked id from the place `from` on.
fn next_mark(targets: &[VertexId], from: usize) -> Option<usize> {
    let rest = targets.get(from..)?;
    let skipped = rest.chunks(LANES).take_while(|lanes| lanes.iter().fold(0, |any, id| any | id.0) < MARK);
    let first = from + LANES * skipped.count();
    let found = targets.get(first..)?.iter().position(|&id| is_marked(id))?;
    Some(first + found)
}

/// A piece for reading.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) targets: &'a [VertexId],
    /// As many weights as targets, or none if all weights are 1.
    pub(super) weights: &'a [f64],
    pub(super) marks: &'a [Versions],
}

impl<'a> View<'a> {
    #[inline]
    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Returns the piece without weights, for callers that do not need them.
    #[inline]
    pub(super) fn bare(self) -> View<'a> {
        View { weights: &[], ..self }
    }

    /// Returns the smallest id.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.targets.first().map(|&id| plain(id))
    }

    /// Returns the weight of a neighbour, if a reader at `at` sees it.
    #[inline]
    pub(super) fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        let i = position(self.targets, target.0);
        let id = *self.targets.get(i).filter(|&&id| plain(id) == target.0)?;
        match is_marked(id) {
            false => Some(self.weight(i)),
            true => self.marks[count_marks(&self.targets[..i])].visible(at, self.weight(i)),
        }
    }

    /// Returns the number of neighbours that a reader at `at` sees.
    pub(super) fn degree(&self, at: u64) -> usize {
        let invisible = self.marks.iter().filter(|versions| versions.visible(at, 1.0).is_none());
        self.targets.len() - invisible.count()
    }

    /// Returns the rest of the piece, from the first id that is not less than `from`.
    #[inline]
    pub(super) fn from(&self, from: u32) -> View<'a> {
        match from {
            0 => *self,
            _ => self.split(position(self.targets, from)).1,
        }
    }

    /// Returns the first `count` neighbours, and the remaining neighbours.
    #[inline]
    pub(super) fn split(&self, count: usize) -> (View<'a>, View<'a>) {
        let (targets, more_targets) = self.targets.split_at(count);
        let (weights, more_weights) = self.weights.split_at(count.min(self.weights.len()));
        let marked = if self.marks.is_empty() { 0 } else { count_marks(targets) };
        let (marks, more_marks) = self.marks.split_at(marked);
        (
            View { targets, weights, marks },
            View { targets: more_targets, weights: more_weights, marks: more_marks },
        )
    }

    /// Appends the neighbours that a reader at `at` sees to the run. The run has room for all of them.
    #[inline]
    pub(super) fn copy(&self, at: u64, run: &mut Run) {
        if self.marks.is_empty() {
            return run.extend(self.targets, self.weights);
        }
        if self.marks.iter().all(|versions| versions.is_newest(at)) {
            // This is the usual state after a load: the copy only clears the marks.
            return run.extend_plain(self.targets, self.weights, plain);
        }
        let mut marks = self.marks.iter();
        let (mut done, mut from) = (0, 0);
        while let (Some(versions), Some(i)) = (marks.next(), next_mark(self.targets, from)) {
            run.extend(&self.targets[done..i], self.weights.get(done..i).unwrap_or_default());
            if let Some(weight) = versions.visible(at, self.weight(i)) {
                run.push(VertexId(plain(self.targets[i])), weight);
            }
            (done, from) = (i + 1, i + 1);
        }
        run.extend(&self.targets[done..], self.weights.get(done..).unwrap_or_default());
    }
}

/// A piece for writing.
pub(super) struct Piece<'a> {
    /// The ids, and room for more ids.
    pub(super) targets: &'a mut [VertexId],
    /// As many weights as ids, or none.
    pub(super) weights: &'a mut [f64],
    pub(super) marks: &'a mut Marks,
    pub(super) len: usize,
}

impl Piece<'_> {
    /// Returns the place of a neighbour, or the place for its insertion.
    #[inline]
    pub(super) fn search(&self, target: VertexId) -> Result<usize, usize> {
        let targets = &self.targets[..self.len];
        let i = position(targets, target.0);
        match targets.get(i) {
            Some(&id) if plain(id) == target.0 => Ok(i),
            _ => Err(i),
        }
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Returns the index in `marks` for the id at `i`: of its mark, or for the insertion of a mark.
    fn mark_of(&self, i: usize) -> usize {
        if self.marks.is_empty() { 0 } else { count_marks(&self.targets[..i]) }
    }

    /// Inserts a neighbour that the piece does not contain. There is room for it.
    pub(super) fn insert(
        &mut self,
        i: usize,
        target: VertexId,
        weight: f64,
        txn: &Transaction<'_>,
    ) -> Effect {
        if txn.versioned {
            let mark = self.mark_of(i);
            self.marks.insert(mark, Versions::inserted(txn.at));
        }
        self.targets.copy_within(i..self.len, i + 1);
        self.targets[i] = VertexId(target.0 | if txn.versioned { MARK } else { 0 });
        if !self.weights.is_empty() {
            self.weights.copy_within(i..self.len, i + 1);
            self.weights[i] = weight;
        }
        self.len += 1;
        Effect { entries: 1, changed: true }
    }

    /// Gives a weight to a neighbour in the piece, which may be marked as removed.
    pub(super) fn put(&mut self, i: usize, weight: f64, txn: &Transaction<'_>) -> Effect {
        let before = self.weight(i);
        let mut entries = 0;
        if is_marked(self.targets[i]) {
            let mark = self.mark_of(i);
            let versions = &mut self.marks[mark];
            if !versions.is_removed() && before == weight {
                return Effect::default();
            }
            entries = i64::from(versions.is_removed());
            versions.write(txn.at, false, before);
        } else if before == weight {
            return Effect::default();
        } else if txn.versioned {
            let mark = self.mark_of(i);
            self.marks.insert(mark, Versions::updated(txn.at, before));
            self.targets[i].0 |= MARK;
        }
        if let Some(old) = self.weights.get_mut(i) {
            *old = weight;
        }
        Effect { entries, changed: true }
    }

    /// Removes a neighbour, or marks it as removed if other transactions may see it.
    pub(super) fn remove(&mut self, i: usize, txn: &Transaction<'_>) -> Effect {
        if !is_marked(self.targets[i]) {
            if txn.versioned {
                let mark = self.mark_of(i);
                self.marks.insert(mark, Versions::removed(txn.at));
                self.targets[i].0 |= MARK;
            } else {
                self.take(i);
            }
            return Effect { entries: -1, changed: true };
        }
        let (mark, weight) = (self.mark_of(i), self.weight(i));
        let versions = &mut self.marks[mark];
        if versions.is_removed() {
            return Effect::default();
        }
        if versions.is_new(txn.at) {
            self.marks.remove(mark);
            self.take(i);
        } else {
            versions.write(txn.at, true, weight);
        }
        Effect { entries: -1, changed: true }
    }

    /// Takes a neighbour out of the piece, and closes the gap.
    fn take(&mut self, i: usize) {
        self.targets.copy_within(i + 1..self.len, i);
        if !self.weights.is_empty() {
            self.weights.copy_within(i + 1..self.len, i);
        }
        self.len -= 1;
    }

    /// Removes versions that no reader needs, marks of neighbours without other versions, and removed
    /// neighbours that no reader sees.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>) {
        let mut marks = std::mem::take(self.marks);
        let mut from = 0;
        marks.retain(|versions| {
            let Some(i) = next_mark(&self.targets[..self.len], from) else { return false };
            from = i + 1;
            match versions.prune(horizon) {
                Fate::Kept => return true,
                Fate::Settled => self.targets[i].0 &= !MARK,
                Fate::Gone if is_on(Planted::TombstonesKept) => return true,
                Fate::Gone => {
                    self.take(i);
                    from = i;
                }
            }
            false
        });
        if marks.spilled() && marks.len() <= marks.capacity() / 4 {
            marks.shrink_to_fit();
        }
        *self.marks = marks;
    }
}
