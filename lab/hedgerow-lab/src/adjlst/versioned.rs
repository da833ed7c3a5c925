//! A list whose neighbours have timestamps.

use hedgerow_core::VertexId;

use super::list::{Fresh, List, shrink};
use crate::change::{Change, Effect};
use crate::clock::Active;
use crate::planted::{Planted, is_on};
use crate::run::{RUN, Run};

/// A timestamp; the lowest bit says whether the neighbour was removed at that time.
type Stamp = u64;

/// The target of the versions of the vertex itself; no vertex has this id.
const ITSELF: VertexId = VertexId(u32::MAX);

#[inline]
fn stamp(at: u64, removed: bool) -> Stamp {
    at << 1 | u64::from(removed)
}

#[inline]
fn begin(stamp: Stamp) -> u64 {
    stamp >> 1
}

#[inline]
fn is_removed(stamp: Stamp) -> bool {
    stamp & 1 != 0
}

/// A version that a newer version replaced.
#[derive(Clone, Copy, Debug)]
struct Older {
    target: VertexId,
    stamp: Stamp,
    weight: f64,
}

/// A sorted array of neighbours, parallel arrays with the newest version of each neighbour, and a separate
/// list of older versions.
#[derive(Debug, Default)]
pub struct VersionedList {
    targets: Vec<VertexId>,
    stamps: Vec<Stamp>,
    /// The weights, one for each target; empty if all weights are 1.
    weights: Vec<f64>,
    /// The older versions, sorted by target, then from new to old.
    #[allow(clippy::box_collection, reason = "most lists have none, and 8 bytes instead of 24")]
    older: Option<Box<Vec<Older>>>,
    /// The time since which the vertex exists or does not exist; 0 if it never existed.
    itself: Stamp,
    /// The largest stamp that a neighbour ever got.
    newest: Stamp,
    /// The number of neighbours that are marked as removed.
    removed: u32,
    /// The neighbour that was marked last.
    marked: VertexId,
    /// The number of older versions and marks from which on the list is pruned. It grows with the versions
    /// that readers need, so that not every writer checks them again.
    pruned_from: u32,
}

impl VersionedList {
    fn older(&self) -> &[Older] {
        self.older.as_ref().map_or(&[], |older| older.as_slice())
    }

    /// Returns the older versions of one target, from new to old.
    fn older_of(&self, target: VertexId) -> &[Older] {
        let older = self.older();
        let first = older.partition_point(|o| o.target < target);
        let count = older[first..].iter().take_while(|o| o.target == target).count();
        &older[first..first + count]
    }

    /// Returns the version of `target` at `at`, if its newest version is later. This case is rare, so the
    /// function stays out of the loops.
    #[cold]
    #[inline(never)]
    fn visible_older(&self, target: VertexId, at: u64) -> Option<f64> {
        let version = self.older_of(target).iter().find(|o| begin(o.stamp) <= at)?;
        (!is_removed(version.stamp)).then_some(version.weight)
    }

    /// Keeps a version that is replaced at `at`. Drops a version of the same transaction, because no reader
    /// has seen it.
    fn retire(&mut self, target: VertexId, stamp: Stamp, weight: f64, at: u64) {
        if begin(stamp) == at {
            return;
        }
        let older = self.older.get_or_insert_default();
        let first = older.partition_point(|o| o.target < target);
        older.insert(first, Older { target, stamp, weight });
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Sets the weight of a neighbour in the array, and inserts it again if it is marked as removed. Returns
    /// the effect.
    fn put(&mut self, i: usize, weight: f64, at: u64) -> Effect {
        let old = self.stamps[i];
        if !is_removed(old) && self.weight(i) == weight {
            return Effect::default();
        }
        self.retire(self.targets[i], old, self.weight(i), at);
        let keeps_mark = is_removed(old) && is_on(Planted::RemovalKept);
        self.stamps[i] = stamp(at, keeps_mark);
        if let Some(old) = self.weights.get_mut(i) {
            *old = weight;
        }
        self.newest = self.newest.max(self.stamps[i]);
        if is_removed(old) && !keeps_mark {
            self.removed -= 1;
        }
        Effect { entries: i64::from(is_removed(old)), changed: true }
    }

    fn mark_removed(&mut self, i: usize, at: u64) -> Effect {
        let old = self.stamps[i];
        if is_removed(old) {
            return Effect::default();
        }
        self.retire(self.targets[i], old, self.weight(i), at);
        self.stamps[i] = stamp(at, true);
        self.newest = self.newest.max(self.stamps[i]);
        self.removed += 1;
        self.marked = self.targets[i];
        Effect { entries: -1, changed: true }
    }

    /// Returns the timestamp at which the newest version of `target` replaced its first older version.
    fn begin_of_newest(&self, target: VertexId) -> u64 {
        if target == ITSELF {
            return begin(self.itself);
        }
        self.targets.binary_search(&target).map_or(0, |i| begin(self.stamps[i]))
    }

    fn prune_older(&mut self, active: &Active) {
        let Some(mut older) = self.older.take() else { return };
        if active.is_empty() || is_on(Planted::ReadersForgotten) {
            return;
        }
        let mut last: Option<Older> = None;
        older.retain(|version| {
            let same = last.filter(|last| last.target == version.target);
            let end = same.map_or_else(|| self.begin_of_newest(version.target), |newer| begin(newer.stamp));
            last = Some(*version);
            active.needs(begin(version.stamp), end)
        });
        if !older.is_empty() {
            older.shrink_to_fit();
            self.older = Some(older);
        }
    }

    /// Removes the marked neighbours that have no older versions from the array.
    fn prune_marks(&mut self) {
        if self.removed == 0 || is_on(Planted::TombstonesKept) {
            return;
        }
        // Usually the only mark is from the transaction that prunes.
        if self.removed == 1
            && let Ok(i) = self.targets.binary_search(&self.marked)
            && is_removed(self.stamps[i])
        {
            if self.older_of(self.marked).is_empty() {
                self.remove(i);
            }
            return;
        }
        let mut kept = 0;
        for i in 0..self.targets.len() {
            if is_removed(self.stamps[i]) && self.older_of(self.targets[i]).is_empty() {
                self.removed -= 1;
                continue;
            }
            self.targets[kept] = self.targets[i];
            self.stamps[kept] = self.stamps[i];
            if let Some(&weight) = self.weights.get(i) {
                self.weights[kept] = weight;
            }
            kept += 1;
        }
        self.targets.truncate(kept);
        self.stamps.truncate(kept);
        self.weights.truncate(kept);
        self.shrink();
    }

    fn remove(&mut self, i: usize) {
        self.targets.remove(i);
        self.stamps.remove(i);
        if i < self.weights.len() {
            self.weights.remove(i);
        }
        self.removed -= 1;
        self.shrink();
    }

    fn shrink(&mut self) {
        shrink(&mut self.targets);
        shrink(&mut self.stamps);
        shrink(&mut self.weights);
    }
}

impl List for VersionedList {
    const VERSIONED: bool = true;

    fn set_present(&mut self, present: bool, at: u64) -> bool {
        let was = self.itself != 0 && !is_removed(self.itself);
        if was == present {
            return false;
        }
        if self.itself != 0 {
            self.retire(ITSELF, self.itself, 0.0, at);
        }
        self.itself = stamp(at, !present);
        true
    }

    fn is_present(&self, at: u64) -> bool {
        if begin(self.itself) <= at {
            return self.itself != 0 && !is_removed(self.itself);
        }
        self.visible_older(ITSELF, at).is_some()
    }

    fn apply(&mut self, changes: &[Change], weighted: bool, at: u64) -> Effect {
        let mut effect = Effect::default();
        let mut fresh = Fresh::default();
        for change in changes {
            match (self.targets.binary_search(&change.target), change.weight) {
                (Ok(i), Some(weight)) => effect.add(self.put(i, weight, at)),
                (Ok(i), None) => effect.add(self.mark_removed(i, at)),
                (Err(i), Some(weight)) => fresh.push(i, change.target, weight),
                (Err(_), None) => {}
            }
        }
        if !fresh.is_empty() {
            fresh.insert(&mut self.targets, |i| fresh.targets[i]);
            fresh.insert(&mut self.stamps, |_| stamp(at, false));
            if weighted {
                fresh.insert(&mut self.weights, |i| fresh.weights[i]);
            }
            self.newest = self.newest.max(stamp(at, false));
            effect.add(Effect { entries: fresh.len() as i64, changed: true });
        }
        effect
    }

    fn prune(&mut self, active: &Active) {
        let garbage = |list: &Self| list.older().len() as u32 + list.removed;
        if garbage(self) < self.pruned_from.max(1) {
            return;
        }
        self.prune_older(active);
        self.prune_marks();
        self.pruned_from = 2 * garbage(self);
    }

    fn reclaim(&mut self, active: &Active) {
        self.pruned_from = 0;
        self.prune(active);
    }

    fn degree(&self, at: u64) -> usize {
        if begin(self.newest) <= at {
            return self.targets.len() - self.removed as usize;
        }
        let visible = |(&target, &newest): (&VertexId, &Stamp)| match begin(newest) <= at {
            true => !is_removed(newest),
            false => self.visible_older(target, at).is_some(),
        };
        self.targets.iter().zip(&self.stamps).filter(|&entry| visible(entry)).count()
    }

    fn find(&self, target: VertexId, at: u64) -> Option<f64> {
        let i = self.targets.binary_search(&target).ok()?;
        let newest = self.stamps[i];
        if begin(newest) <= at || is_on(Planted::NewestVersionRead) {
            return (!is_removed(newest)).then(|| self.weight(i));
        }
        self.visible_older(target, at)
    }

    fn copy(&self, from: u32, at: u64, most: usize, run: &mut Run) -> Option<u32> {
        let first = match from {
            0 => 0,
            _ => self.targets.partition_point(|t| t.0 < from),
        };
        let end = self.targets.len().min(first + most.min(RUN));
        let (targets, stamps) = (&self.targets[first..end], &self.stamps[first..end]);
        let last_visible = stamp(at, true);
        let mut len = 0;
        for (i, (&target, &newest)) in targets.iter().zip(stamps).enumerate() {
            let slot = len & (RUN - 1);
            run.targets[slot] = target;
            let mut visible = !is_removed(newest);
            if newest > last_visible && !is_on(Planted::NewestVersionRead) {
                let version = self.visible_older(target, at);
                run.weights[slot] = version.unwrap_or(0.0);
                visible = version.is_some();
            } else if let Some(&weight) = self.weights.get(first + i) {
                run.weights[slot] = weight;
            }
            len += usize::from(visible);
        }
        run.len = len;
        self.targets.get(end).map(|next| next.0)
    }

    fn as_slices(&self) -> Option<(&[VertexId], &[f64])> {
        None
    }

    fn bytes(&self) -> usize {
        let older = self.older.as_ref().map_or(0, |older| 24 + older.capacity() * size_of::<Older>());
        self.targets.capacity() * 4 + self.stamps.capacity() * 8 + self.weights.capacity() * 8 + older
    }
}
