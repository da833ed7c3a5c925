//! The list of one vertex, in the two forms that the cost model needs.

use hedgerow_core::VertexId;

use crate::change::{Change, Effect};
use crate::clock::Active;
use crate::run::{RUN, Run};

/// The neighbours of one vertex in one direction, ascending, and in the outgoing one whether the vertex
/// exists.
///
/// `at` is the timestamp of the transaction that writes, or of the snapshot that reads. A plain list knows
/// none, and ignores it.
pub trait List: Default + Send + Sync + 'static {
    /// Whether each neighbour has a timestamp of its own.
    const VERSIONED: bool;

    /// Makes the vertex exist, or not. Returns whether that changed anything.
    fn set_present(&mut self, present: bool, at: u64) -> bool;
    /// Whether the vertex exists.
    fn is_present(&self, at: u64) -> bool;
    /// Makes changes, which ascend by target.
    fn apply(&mut self, changes: &[Change], weighted: bool, at: u64) -> Effect;
    /// Gives up versions that none of the readers sees.
    fn prune(&mut self, active: &Active);
    /// As [`prune`](Self::prune), however little there is to give up.
    fn reclaim(&mut self, active: &Active);
    /// The number of neighbours. O(1) where the last change is visible, else O(degree).
    fn degree(&self, at: u64) -> usize;
    /// The weight of one neighbour, if there is one; 1 without weights. O(log degree).
    fn find(&self, target: VertexId, at: u64) -> Option<f64>;
    /// Copies neighbours from `from` on, those among the next `most` entries, at most [`RUN`]. Returns from
    /// where on to continue, if there are more.
    fn copy(&self, from: u32, at: u64, most: usize, run: &mut Run) -> Option<u32>;
    /// The whole list and its weights, where no version needs to be looked at.
    fn as_slices(&self) -> Option<(&[VertexId], &[f64])>;
    /// The bytes on the heap.
    fn bytes(&self) -> usize;
}

/// A sorted array, and nothing else: what the structure costs by itself.
#[derive(Debug, Default)]
pub struct PlainList {
    targets: Vec<VertexId>,
    /// As many as there are targets, or none where all weigh 1.
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
        // Removals first, so that new neighbours get their positions in what is left.
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

/// New neighbours, ascending, and where each belongs in the list as it was.
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
            // By a half, not to twice the size: a list is mostly full.
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

/// Gives back room to grow of a list that has become short.
pub(super) fn shrink<T>(list: &mut Vec<T>) {
    if list.capacity() > 8 && list.len() < list.capacity() / 4 {
        list.shrink_to(list.len() + list.len() / 2);
    }
}
