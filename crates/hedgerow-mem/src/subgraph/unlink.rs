//! Which versions of a chain are unlinked, and when they are looked at (rule R6).

use std::ops::ControlFlow;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Ordering;
use hedgerow_core::{Direction, Timestamp};
use smallvec::SmallVec;

use super::Latched;
use crate::grace::{Unlinked, Walk};
use crate::reclaim::{Horizon, Pin, judge};
use crate::version::load_changed;

/// What to do with a version that may be dead.
enum Look {
    Judge,
    /// It stays for what it waits for.
    Pass,
    /// It stays, and all behind it.
    Stop,
}

impl Latched<'_> {
    /// Looks again at the versions of a chain that were said to wait for `gone`, which they need not any more (rule R6):
    /// unlinks those that are dead, and reports what pins the others. O(versions newer than these) steps and few
    /// judgements.
    pub fn reclaim(
        &mut self,
        direction: Direction,
        gone: Pin,
        horizon: &impl Horizon,
        mut pinned: impl FnMut(Pin),
    ) {
        self.unlink_dead(
            direction,
            horizon,
            |begin, end| match gone {
                // The one version that the snapshot read.
                Pin::Snapshot(ts) if begin > ts => Look::Pass,
                Pin::Snapshot(ts) if end <= ts => Look::Stop,
                Pin::Unpublished(first) | Pin::Registering(first) if end < first => Look::Stop,
                _ => Look::Judge,
            },
            |pin| {
                pinned(pin);
                ControlFlow::Continue(())
            },
        );
    }

    /// Looks at the newest versions after a merge, down to the first that a snapshot reads: those behind it have been
    /// judged, and wait for what was reported then. So a merge does not pay for the snapshots that are held.
    pub(super) fn reclaim_recent(
        &mut self,
        direction: Direction,
        horizon: &impl Horizon,
        mut pinned: impl FnMut(Pin),
    ) {
        self.unlink_dead(
            direction,
            horizon,
            |_, _| Look::Judge,
            |pin| {
                pinned(pin);
                if matches!(pin, Pin::Snapshot(_)) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
    }

    /// Unlinks dead versions, newest first, of those that `look` wants judged, as long as `pinned` goes on.
    fn unlink_dead(
        &mut self,
        direction: Direction,
        horizon: &impl Horizon,
        look: impl Fn(Timestamp, Timestamp) -> Look,
        mut pinned: impl FnMut(Pin) -> ControlFlow<()>,
    ) {
        let Some(head) = self.writer.heads[direction as usize].clone() else { return };
        let mut unlinked: SmallVec<[Unlinked; 2]> = SmallVec::new();
        let walk = Walk::begin();
        let mut successor = &*head;
        while let Some(version) = successor.prev.load(&walk) {
            match look(version.begin, successor.begin) {
                Look::Judge => {}
                Look::Pass => {
                    successor = version;
                    continue;
                }
                Look::Stop => break,
            }
            match judge(version.begin, successor.begin, horizon) {
                Some(pin) if pinned(pin).is_break() => break,
                Some(_) => successor = version,
                None => {
                    let changed = load_changed(version) | version.delta_mask(successor.begin);
                    if !faults::is_on(PlantedFault::UnlinkedChangesLost) {
                        successor.changed.fetch_or(changed, Ordering::Relaxed);
                    }
                    unlinked.extend(successor.prev.bypass(&walk));
                }
            }
        }
        drop(walk);
        unlinked.into_iter().for_each(|version| self.subgraph.memory().limbo().take(version));
    }
}
