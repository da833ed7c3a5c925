//! The list of one vertex, in the two forms that the cost model needs.

use hedgerow_core::VertexId;

use crate::change::{Change, Effect};
use crate::clock::Active;
use crate::run::{RUN, Run};

/// The neighbours of one vertex in one direction, ascending. The outgoing list also stores whether the vertex
/// exists.
///
/// `at` is the timestamp of the transaction that writes, or of the snapshot that reads. A plain list has no
/// timestamps and ignores `at`.
pub trait List: Default + Send + Sync + 'static {
    /// Whether each neighbour has a timestamp of its own.
    const VERSIONED: bool;

    /// Inserts the vertex if `present`, else removes it. Returns true if that changed anything.
    fn set_present(&mut self, present: bool, at: u64) -> bool;
    /// True if the vertex exists at `at`.
    fn is_present(&self, at: u64) -> bool;
    /// Applies the changes, which ascend by target.
    fn apply(&mut self, changes: &[Change], weighted: bool, at: u64) -> Effect;
    /// Removes the versions that no reader sees.
    fn prune(&mut self, active: &Active);
    /// Prunes like [`prune`](Self::prune), even if there are only few versions to remove.
    fn reclaim(&mut self, active: &Active);
    /// Returns the number of neighbours. O(1) if the last change is visible, else O(degree).
    fn degree(&self, at: u64) -> usize;
    /// Returns the weight of one neighbour, if there is one; 1 without weights. O(log degree).
    fn find(&self, target: VertexId, at: u64) -> Option<f64>;
    /// Copies the visible neighbours among the next `most` entries from the id `from` on, at most [`RUN`].
    /// Returns the id from which to continue, if there are more entries.
    fn copy(&self, from: u32, at: u64, most: usize, run: &mut Run) -> Option<u32>;
    /// Returns the whole list and its weights, if no version needs a check.
    fn as_slices(&self) -> Option<(&[VertexId], &[f64])>;
    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;
}

/// A sorted array, and nothing else: the cost of the structure alone.
#[derive(Debug, Default)]
pub struct PlainList {
    targets: Vec<VertexId>,
    /// The weights, one for each target; empty if all weights are 1.
    weights: Vec<f64>,
    present: bool,
}

impl List for PlainList {
    const VERSIONED: bool = false;

    fn set_present(&mut self, present: bool, _at: u64) -> bool {
        std::mem::replace(&mut self.present, present) != present
    }

    fn is_present(&self, _at: u64) -> bool {
        self.present
    }

    fn apply(&mut self, changes: &[Change], weighted: bool, _at: u64) -> Effect {
        let mut effect = Effect::default();
        // Removes neighbours first, so that new neighbours get their positions in the remaining list.
        for change in changes.iter().filter(|change| change.weight.is_none()) {
            if let Ok(i) = self.targets.binary_search(&change.target) {
                self.targets.remove(i);
                if weighted {
                    self.weights.remove(i);
                }
                effect.add(Effect { entries: -1, changed: true });
            }
        }
        let mut fresh = Fresh::default();
        for change in changes {
            let Some(weight) = change.weight else { continue };
            match self.targets.binary_search(&change.target) {
                Err(i) => fresh.push(i, change.target, weight),
                Ok(i) if weighted && self.weights[i] != weight => {
                    self.weights[i] = weight;
                    effect.changed = true;
                }
                Ok(_) => {}
            }
        }
        fresh.insert(&mut self.targets, |i| fresh.targets[i]);
        if weighted {
            fresh.insert(&mut self.weights, |i| fresh.weights[i]);
        }
        effect.add(Effect { entries: fresh.len() as i64, changed: !fresh.is_empty() });
        effect
    }

    fn prune(&mut self, _active: &Active) {
        shrink(&mut self.targets);
        shrink(&mut self.weights);
    }

    fn reclaim(&mut self, active: &Active) {
        self.prune(active);
    }

    fn degree(&self, _at: u64) -> usize {
        self.targets.len()
    }

    fn find(&self, target: VertexId, _at: u64) -> Option<f64> {
        let i = self.targets.binary_search(&target).ok()?;
        Some(self.weights.get(i).copied().unwrap_or(1.0))
    }

    fn copy(&self, from: u32, _at: u64, most: usize, run: &mut Run) -> Option<u32> {
        let first = self.targets.partition_point(|t| t.0 < from);
        let rest = &self.targets[first..];
        run.len = rest.len().min(most).min(RUN);
        run.targets[..run.len].copy_from_slice(&rest[..run.len]);
        if let Some(weights) = self.weights.get(first..first + run.len) {
            run.weights[..weights.len()].copy_from_slice(weights);
        }
        rest.get(run.len).map(|next| next.0)
    }

    fn as_slices(&self) -> Option<(&[VertexId], &[f64])> {
        Some((&self.targets, &self.weights))
    }

    fn bytes(&self) -> usize {
        self.targets.capacity() * 4 + self.weights.capacity() * 8
    }
}

/// New neighbours, ascending, and the position of each in the old list.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    positions: smallvec::SmallVec<[usize; 2]>,
    pub(super) targets: smallvec::SmallVec<[VertexId; 4]>,
    pub(super) weights: smallvec::SmallVec<[f64; 2]>,
}

impl Fresh {
    pub(super) fn push(&mut self, position: usize, target: VertexId, weight: f64) {
        self.positions.push(position);
        self.targets.push(target);
        self.weights.push(weight);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Inserts `value(i)` at the position of each new neighbour, in one pass from the end.
    pub(super) fn insert<T: Copy + Default>(&self, list: &mut Vec<T>, value: impl Fn(usize) -> T) {
        let (before, count) = (list.len(), self.positions.len());
        if list.capacity() < before + count {
            // Grows by a half, not to twice the size, so that a list has little unused room.
            list.reserve_exact(count.max(before / 2).max(2));
        }
        list.resize(before + count, T::default());
        let mut end = before;
        for (i, &position) in self.positions.iter().enumerate().rev() {
            list.copy_within(position..end, position + i + 1);
            list[position + i] = value(i);
            end = position;
        }
    }
}

/// Releases the unused room of a list that became short.
pub(super) fn shrink<T>(list: &mut Vec<T>) {
    if list.capacity() > 8 && list.len() < list.capacity() / 4 {
        list.shrink_to(list.len() + list.len() / 2);
    }
}
