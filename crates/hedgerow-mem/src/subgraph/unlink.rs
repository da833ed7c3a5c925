//! Unlinking of dead versions of a chain (rule R6), and eviction of chains.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Ordering;
use hedgerow_core::{Direction, Timestamp};
use smallvec::SmallVec;

use super::Latched;
use crate::delta::Delta;
use crate::fold;
use crate::grace::{Kept, KeptHead, Link, ReadGuard, Unlinked};
use crate::main_part::Main;
use crate::op::{LocalOp, Ops};
use crate::reclaim::{Horizon, Pin, VersionPins, judge};
use crate::version::{Version, load_changed};

impl Latched<'_> {
    /// Judges again the versions of a chain that waited for the snapshot `gone`, which has closed (rule R6).
    /// Unlinks dead ones, and returns the pins of the others. O(versions newer than these) steps and few
    /// judgements.
    pub fn reclaim(&mut self, direction: Direction, gone: Pin, horizon: &impl Horizon) -> VersionPins {
        self.unlink_dead(direction, Some(gone), horizon)
    }

    /// Evicts the chains of both directions if files hold their present content. The chains are
    /// [cooling](crate::Memory::cooling) afterwards. `clean` is the timestamp of the checkpoint in those
    /// files.
    ///
    /// This is so if no operation was applied after `clean`, and every reader in `horizon`, now or later,
    /// sees all applied operations (rules E1 and E2 of the protocol). `horizon` ignores readers that have a
    /// page version (E8). True if a chain was evicted. O(versions), and O(readers) once for each `horizon`.
    pub fn evict_clean(&mut self, clean: Timestamp, horizon: &impl Horizon) -> bool {
        let last = self.last_ts();
        let dirty = last > clean && !faults::is_on(PlantedFault::EvictedDirty);
        let held_ignored = faults::is_on(PlantedFault::SnapshotsVersionEvicted);
        // If no reader is at or before `last`, none needs an older version, even a linked one.
        let is_held = || !held_ignored && horizon.pin_in(Timestamp::ZERO, last).is_some();
        if dirty || last > horizon.published() || is_held() {
            return false;
        }
        let directions = [Direction::Out, Direction::In];
        let held = directions.map(|d| self.writer.heads[d as usize].is_some());
        if held.contains(&true) {
            self.cool();
        }
        held.contains(&true)
    }

    /// Marks both chains as not in memory, and keeps their versions for reads that may need them soon (rule
    /// E9 of the protocol).
    fn cool(&mut self) {
        let heads = [Direction::Out, Direction::In].map(|direction| {
            let written = self.writer.heads[direction as usize].take()?;
            let mut all = self.subgraph.heads[direction as usize].evict_all().into_iter();
            let linked = all.next()?;
            // Readers get older versions from their page versions, not from cooling chains.
            all.for_each(|version| self.subgraph.memory().retire_list().take(version));
            Some(KeptHead { linked, written })
        });
        let kept = Kept { stamp: self.subgraph.stamp().0, heads };
        self.subgraph.memory().cool(self.subgraph.name(), kept);
    }

    /// Links the chains again if they are cooling and have not changed after their eviction (rule E9). True
    /// if it linked them. O(log chains that are cooling).
    pub fn relink(&mut self) -> bool {
        let memory = self.subgraph.memory();
        let Some(kept) = memory.cooling().take(self.subgraph.name()) else { return false };
        let is_marked =
            |(direction, head): (&Link, &Option<KeptHead>)| head.is_none() || !direction.is_in_memory();
        let same = kept.stamp == self.subgraph.stamp().0;
        let same = same && self.subgraph.heads.iter().zip(&kept.heads).all(is_marked);
        if !same && !faults::is_on(PlantedFault::CooledNotCompared) {
            memory.retire(kept);
            return false;
        }
        for (place, head) in kept.heads.into_iter().enumerate() {
            let Some(KeptHead { linked, written }) = head else { continue };
            self.writer.heads[place] = Some(written);
            self.subgraph.heads[place].relink(linked);
        }
        true
    }

    /// Replaces the mark of an evicted chain by the content of files, as of the last applied operation. All
    /// readers see that state, except readers with a page version. The mark stays behind the version: readers
    /// with a page version find the mark, not the end of the chain (rule E8). False if the chain was in
    /// memory, or its page was evicted: then another page may have its place (rule P6).
    pub fn reload(&mut self, direction: Direction, main: Main) -> bool {
        let loaded = self.loaded(direction, (self.last_ts(), main), 0);
        loaded.map(|version| self.push(direction, version)).is_some()
    }

    /// Like [`reload`](Self::reload), but with the content as of `begin`, and with the operations of later
    /// commits, ascending, which were kept outside of the chains. Readers find all of it at once. If no
    /// reader in `horizon` is between these commits, they are merged. O(edges + operations).
    pub fn reload_with(
        &mut self,
        direction: Direction,
        below: (Timestamp, Main),
        commits: &[(Timestamp, Vec<LocalOp>)],
        horizon: &impl Horizon,
    ) -> bool {
        let (begin, count) = (below.0, commits.iter().map(|(_, ops)| ops.len()).sum());
        let Some(mut version) = self.loaded(direction, below, count) else { return false };
        let (weighted, arena) = (self.subgraph.is_weighted(), self.subgraph.memory().arena());
        for (ts, ops) in commits {
            let ops = Ops::plain(ops);
            match version.delta.accepts(ops.len(), *ts) {
                true => version.delta.push_all(ops, *ts),
                // So many commits came in between that the offset of the timestamp has no room.
                false => version = fold::all(&version, ops, *ts, weighted, arena),
            }
        }
        if let Some((last, _)) = commits.last()
            && *last <= horizon.published()
            && horizon.pin_in(begin, *last).is_none()
        {
            version = fold::settle(&version, *last, false, weighted, arena);
        }
        self.push(direction, version);
        true
    }

    /// Makes a version of the content of files as of `begin`, with room for `count` operations. Returns
    /// `None` if the chain is in memory, or its page was evicted.
    fn loaded(
        &self,
        direction: Direction,
        (begin, main): (Timestamp, Main),
        count: usize,
    ) -> Option<Version> {
        let left = self.has_left() && !faults::is_on(PlantedFault::EvictedPageFilled);
        if self.subgraph.heads[direction as usize].is_in_memory() || left {
            return None;
        }
        let delta = Delta::new(begin, count, self.subgraph.is_weighted(), self.subgraph.memory().arena());
        let mut version = Version::new(begin, main, delta, 0);
        // Views distinguish versions by number. No earlier version had this number, unless it had the same
        // content: a number is never above the stamp, and the count of settlings never falls.
        version.number = begin.0 << 8 | u64::from(self.subgraph.stamp().settled());
        Some(version)
    }

    /// Notes that chains were [loaded](Self::reload_with) with operations of commits: the stamp differs from
    /// now on. Called before these operations leave their place outside of the chains.
    pub fn note_loaded(&mut self) {
        self.subgraph.note_settled();
    }

    /// Marks all chains in these directions as not in memory, before operations on them are kept outside of
    /// them. Some of them are so marked already; others never had a version, so files have nothing of them.
    pub fn mark_outside(&mut self, directions: &[Direction]) {
        debug_assert!(self.is_out_of_memory() && !self.is_resident());
        for &direction in directions {
            if self.subgraph.heads[direction as usize].is_in_memory() {
                self.evict(direction);
            }
        }
    }

    /// Notes operations of the commit `ts` that are kept [outside](Self::mark_outside) of the chains.
    pub fn note_outside(&mut self, ts: Timestamp) {
        debug_assert!(ts >= self.last_ts() && self.is_out_of_memory());
        self.subgraph.note_applied(ts);
    }

    /// Removes the mark of a chain that files have no image of, as if it had never had a version. No reader
    /// sees other content, now or later. False if the chain was in memory, or its page was evicted.
    pub fn reload_empty(&mut self, direction: Direction) -> bool {
        if self.subgraph.heads[direction as usize].is_in_memory() || self.subgraph.home.has_left() {
            return false;
        }
        self.subgraph.heads[direction as usize].clear_mark();
        true
    }

    /// True if the subgraph's page was evicted from its table: then another page has its place, or will have
    /// it (rule P6).
    pub fn has_left(&self) -> bool {
        self.subgraph.home.has_left()
    }

    /// True if no version of the subgraph is in memory.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.writer.heads.iter().all(Option::is_none)
    }

    /// True if the subgraph's chains are cooling. O(log chains that are cooling).
    pub(crate) fn is_cooling(&self) -> bool {
        self.subgraph.is_cooling()
    }

    /// True if the chains of the subgraph are in memory.
    #[inline]
    pub fn is_resident(&self) -> bool {
        self.subgraph.is_resident()
    }

    /// Evicts a chain: reads of it are [`NotInMemory`](crate::version::NotInMemory) from now on. Its content
    /// is lost unless files hold it. [`evict_clean`](Self::evict_clean) checks that. The eviction of pages
    /// (rule P6) relies on it: a chain of a table loses its last version only by `evict_clean`.
    pub fn evict(&mut self, direction: Direction) {
        self.writer.heads[direction as usize] = None;
        let unlinked = self.subgraph.heads[direction as usize].evict_all();
        unlinked.into_iter().for_each(|version| self.subgraph.memory().retire_list().take(version));
    }

    /// Marks a chain that has no version yet as not in memory, with its content as of `as_of` in files. The
    /// effect is as if it had been [installed](Self::install) and [evicted](Self::evict). `present` is the
    /// mask of the vertices that exist, if this chain records it.
    pub fn install_stored(&mut self, direction: Direction, present: Option<u64>, as_of: Timestamp) {
        if let (Direction::Out, Some(present)) = (direction, present) {
            self.writer.present = present;
        }
        self.subgraph.note_applied(self.last_ts().max(as_of));
        self.evict(direction);
    }

    /// Unlinks dead versions after a merge, from the newest down to the first one that a snapshot reads.
    /// Older versions have been judged before, and wait for the pins that were reported then. So held
    /// snapshots do not slow a merge.
    pub(super) fn reclaim_recent(&mut self, direction: Direction, horizon: &impl Horizon) -> VersionPins {
        self.unlink_dead(direction, None, horizon)
    }

    /// Unlinks dead versions, newest first: the versions that waited for `gone`, or the newest ones if `gone`
    /// is `None`.
    fn unlink_dead(
        &mut self,
        direction: Direction,
        gone: Option<Pin>,
        horizon: &impl Horizon,
    ) -> VersionPins {
        let Some(head) = self.writer.heads[direction as usize].clone() else { return VersionPins::default() };
        let mut pins = VersionPins::default();
        let mut unlinked: SmallVec<[Unlinked; 2]> = SmallVec::new();
        let walk = ReadGuard::begin();
        let mut successor = &*head;
        while let Some(version) = successor.prev.load(&walk) {
            let (begin, end) = (version.begin, successor.begin);
            match gone {
                // This version is newer than the version that the snapshot read.
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
                    pins.push(pin);
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
        pins
    }
}
