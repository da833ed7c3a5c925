//! Which versions of a chain are unlinked, and when they are looked at (rule R6).

use hedgerow_core::Direction;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Ordering;
use smallvec::SmallVec;

use super::Latched;
use crate::grace::{ReadGuard, Unlinked};
use crate::reclaim::{Horizon, Pin, judge};
use crate::version::load_changed;

impl Latched<'_> {
    /// Judges the versions of a chain again that were pinned by `gone`, whose snapshot has closed (rule R6):
    /// unlinks those that are dead, and reports what pins the others. O(versions newer than these) steps and few
    /// judgements.
    pub fn reclaim(
        &mut self,
        direction: Direction,
        gone: Pin,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        self.unlink_dead(direction, Some(gone), horizon, pinned);
    }

    /// Takes a chain out of memory: reads of it are [`NotInMemory`](crate::version::NotInMemory) from now on. What it holds is
    /// lost unless it was written before. Nothing in the store calls this yet: it is for the disk tier, and for tests of
    /// what reads say.
    pub fn evict(&mut self, direction: Direction) {
        self.writer.heads[direction as usize] = None;
        let unlinked = self.subgraph.heads[direction as usize].evict();
        unlinked.into_iter().for_each(|version| self.subgraph.memory().retire_list().take(version));
    }

    /// Looks at the newest versions after a merge, down to the first that a snapshot reads: those behind it have been
    /// judged, and wait for what was reported then. So a merge does not pay for the snapshots that are held.
    pub(super) fn reclaim_recent(
        &mut self,
        direction: Direction,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        self.unlink_dead(direction, None, horizon, pinned);
    }

    /// Unlinks dead versions, newest first: of those that waited for `gone`, or, without it, of the newest.
    fn unlink_dead(
        &mut self,
        direction: Direction,
        gone: Option<Pin>,
        horizon: &impl Horizon,
        mut pinned: impl FnMut(Pin),
    ) {
        let Some(head) = self.writer.heads[direction as usize].clone() else { return };
        let mut unlinked: SmallVec<[Unlinked; 2]> = SmallVec::new();
        let walk = ReadGuard::begin();
        let mut successor = &*head;
        while let Some(version) = successor.prev.load(&walk) {
            let (begin, end) = (version.begin, successor.begin);
            match gone {
                // Newer than the one that the snapshot read.
                Some(Pin::Snapshot(ts)) if begin > ts => {
                    successor = version;
                    continue;
                }
                Some(Pin::Snapshot(ts)) if end <= ts => break,
                Some(Pin::Unpublished(first) | Pin::Registering(first)) if end < first => break,
                _ => {}
            }
            match judge(begin, end, horizon) {
                Some(pin) => {
                    pinned(pin);
                    if gone.is_none() && matches!(pin, Pin::Snapshot(_)) {
                        break;
                    }
                    successor = version;
                }
                None => {
                    let changed = load_changed(version) | version.delta_mask(end);
                    if !faults::is_on(PlantedFault::UnlinkedChangesLost) {
                        successor.changed.fetch_or(changed, Ordering::Relaxed);
                    }
                    unlinked.extend(successor.prev.bypass(&walk));
                }
            }
        }
        drop(walk);
        unlinked.into_iter().for_each(|version| self.subgraph.memory().retire_list().take(version));
    }
}
