//! Versions: transactions change edges in place, and the segment keeps the state that a change replaced
//! (section 5.2).
//!
//! An edge that is marked as removed stays among the words until its chain is pruned.

use std::ops::Range;

use super::options::{Shape, UNDO_BEFORE_PRUNING};
use super::segment::{NO_HEADER, Segment};
use super::undo::{Conflict, Horizon, Undo, admit, stamp, state};
use crate::change::Effect;
use crate::planted::{Planted, is_on};

impl Segment {
    #[inline]
    fn chain(&self, key: u64) -> &[Undo] {
        let first = self.undo.partition_point(|entry| entry.key < key);
        &self.undo[first..]
    }

    /// True if the segment holds exactly the edges that a reader at `at` sees, in one order.
    #[inline]
    pub(super) fn is_clean(&self, at: u64) -> bool {
        self.newest <= at && self.removed == 0 && self.buffer.is_none()
    }

    /// Returns the weight of an edge at the timestamp `at`. `hint` may be the place of the header of its
    /// source.
    #[inline]
    pub(super) fn find(&self, key: u64, hint: usize, at: u64) -> Option<f64> {
        let stored = self.stored(key, &self.spot(key, hint));
        if self.newest <= at && self.removed == 0 {
            return stored;
        }
        state(self.chain(key), key, stored, at)
    }

    /// Calls `f` with the edges in a range of keys that a reader at `at` sees, in key order.
    pub(super) fn for_each_visible(&self, range: Range<u64>, at: u64, mut f: impl FnMut(u64, f64)) {
        let mut chain = self.chain(range.start);
        self.for_each(range, |key, weight| {
            while chain.first().is_some_and(|entry| entry.key < key) {
                chain = &chain[1..];
            }
            let seen = match chain.first() {
                Some(entry) if entry.key == key => state(chain, key, Some(weight), at),
                _ => Some(weight),
            };
            if let Some(weight) = seen {
                f(key, weight);
            }
        });
    }

    /// Checks that the transaction of `at` may base a change on the edges in a range of keys.
    pub(super) fn admits(
        &self,
        range: Range<u64>,
        at: u64,
        published: impl Fn() -> u64,
    ) -> Result<(), Conflict> {
        let mut entries = self.chain(range.start).iter().take_while(|entry| entry.key < range.end);
        entries.try_for_each(|entry| admit(entry.at(), at, &published))
    }

    /// Gives an edge a weight, or none, in the transaction of `at`. `hint` may be the place of the header of
    /// its source. A change to the same state also gets an entry. This entry keeps other transactions from
    /// changing an edge on which this transaction relies.
    pub(super) fn change(
        &mut self,
        (key, hint): (u64, usize),
        weight: Option<f64>,
        at: u64,
        shape: &Shape,
        published: impl Fn() -> u64,
    ) -> Result<Effect, Conflict> {
        let spot = self.spot(key, hint);
        let stored = self.stored(key, &spot);
        let was = match shape.versioned {
            true => self.enter(key, stored, weight.is_none(), at, published)?,
            false => stored,
        };
        match (stored, weight) {
            (Some(_), None) if !shape.versioned => self.remove(key),
            (_, None) => {}
            (Some(_), Some(weight)) => self.set_weight(key, &spot, weight),
            (None, Some(weight)) => self.insert(key, &spot, weight),
        }
        let entries = i64::from(weight.is_some()) - i64::from(was.is_some());
        Ok(Effect { entries, changed: was != weight })
    }

    /// Enters a change into the chain of an edge. Returns the weight before the change.
    fn enter(
        &mut self,
        key: u64,
        stored: Option<f64>,
        removes: bool,
        at: u64,
        published: impl Fn() -> u64,
    ) -> Result<Option<f64>, Conflict> {
        let first = self.undo.partition_point(|entry| entry.key < key);
        let head = self.undo.get(first).filter(|entry| entry.key == key).copied();
        let mut was = stored;
        if let Some(head) = head {
            admit(head.at(), at, published)?;
            if head.is_removed() {
                was = None;
                self.removed -= 1;
            }
        }
        let stamp = stamp(at, removes);
        match head {
            // No reader has seen the earlier change of this transaction.
            Some(head) if head.at() == at => self.undo[first].stamp = stamp,
            _ => self.undo.insert(first, Undo { key, stamp, before: was.unwrap_or(f64::NAN) }),
        }
        self.removed += u32::from(removes);
        self.newest = self.newest.max(at);
        Ok(was)
    }

    /// Enters into the chain that the transaction of `at` relies on the current state of an edge.
    pub(super) fn touch(
        &mut self,
        key: u64,
        at: u64,
        shape: &Shape,
        published: impl Fn() -> u64,
    ) -> Result<(), Conflict> {
        let current = self.find(key, NO_HEADER, u64::MAX);
        self.change((key, NO_HEADER), current, at, shape, published).map(drop)
    }

    /// Undoes a change of the transaction of `at`.
    pub(super) fn roll_back(&mut self, key: u64, at: u64) {
        let first = self.undo.partition_point(|entry| entry.key < key);
        let own = |entry: &&Undo| entry.key == key && entry.at() == at;
        let Some(entry) = self.undo.get(first).filter(own).copied() else { return };
        self.undo.remove(first);
        let older = self.undo.get_mut(first).filter(|older| older.key == key);
        let has_older = older.is_some();
        if let Some(older) = older
            && !is_on(Planted::UncoveredEntryTrusted)
        {
            // A prune may have removed the entry behind this one, which uncovers an older entry. The older
            // entry must now state whether the edge existed before this change. The older entry's own
            // statement belongs to timestamps that no reader has.
            *older = Undo { stamp: stamp(older.at(), entry.before().is_none()), ..*older };
        }
        let spot = self.spot(key, NO_HEADER);
        let stored = self.stored(key, &spot);
        match (entry.before(), stored) {
            (Some(weight), Some(_)) => self.set_weight(key, &spot, weight),
            (Some(weight), None) => self.insert(key, &spot, weight),
            // If there is an older entry, it marks the edge as removed.
            (None, Some(_)) if !has_older => self.remove(key),
            (None, _) => {}
        }
        self.recount();
    }

    /// Computes the number of removed edges and the newest timestamp again, from the entries.
    pub(super) fn recount(&mut self) {
        let heads = self.undo.chunk_by(|a, b| a.key == b.key);
        self.removed = heads.filter(|chain| chain[0].is_removed()).count() as u32;
        self.newest = self.undo.iter().map(Undo::at).max().unwrap_or(0);
    }

    /// Prunes on behalf of a writer. This happens only if there are many entries, and twice as many as the
    /// last prune kept.
    #[inline]
    pub(super) fn prune_many(&mut self, horizon: impl FnOnce() -> Horizon) {
        if self.undo.len() >= UNDO_BEFORE_PRUNING && self.undo.len() == self.undo.capacity() {
            self.prune(&horizon());
            // The next prune happens once this room is full.
            let room = (2 * self.undo.len()).max(UNDO_BEFORE_PRUNING);
            self.undo.shrink_to(room);
            self.undo.reserve_exact(room - self.undo.len());
        }
    }

    /// Removes the entries that `horizon` does not keep. Also removes the edges that are then removed for all
    /// readers.
    pub(super) fn prune(&mut self, horizon: &Horizon) {
        if self.undo.is_empty() {
            return;
        }
        let mut kept: Vec<Undo> = Vec::new();
        let mut gone: Vec<u64> = Vec::new();
        for chain in self.undo.chunk_by(|a, b| a.key == b.key) {
            let end = |i: usize| chain.get(i + 1).map_or(0, Undo::at);
            let needs = |i: usize| horizon.keeps(end(i), chain[i].at());
            if (0..chain.len()).any(needs) {
                // The newest entry states whether the edge exists now.
                kept.push(chain[0]);
                kept.extend((1..chain.len()).filter(|&i| needs(i)).map(|i| chain[i]));
            } else if chain[0].is_removed() {
                gone.push(chain[0].key);
            }
        }
        if kept.len() < self.undo.len() {
            self.undo.clear();
            self.undo.extend_from_slice(&kept);
        }
        if !is_on(Planted::TombstonesKept) {
            gone.into_iter().for_each(|key| self.remove(key));
        }
        self.recount();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::options::TeseoOptions;
    use super::super::segment::{END, key};
    use super::*;
    use crate::GraphForm;
    use crate::clock::Clock;
    use crate::planted::sound;

    /// Checks a change at 9 that is rolled back after a prune of the entry of 7. A reader is at 2, and
    /// earlier changes are at 3 and 7.
    fn taken_back(first: Option<f64>, changes: [Option<f64>; 3]) {
        let clock = Arc::new(Clock::default());
        let publish = |until: u64| (clock.published()..until).for_each(|_| clock.publish(clock.draw(), 0, 0));
        let shape = Shape::new(GraphForm { directed: true, weighted: true }, TeseoOptions::default(), true);
        let (mut segment, key) = (Segment::new(0, END, &shape), key(1, 2));
        let change = |segment: &mut Segment, weight, at: u64| {
            segment.change((key, NO_HEADER), weight, at, &shape, || at - 1).expect("all before is published");
        };
        if first.is_some() {
            change(&mut segment, first, 1);
        }
        publish(2);
        let reader = clock.register().expect("a slot");
        publish(8);
        [3, 7, 9].into_iter().zip(changes).for_each(|(at, weight)| change(&mut segment, weight, at));
        segment.prune(&Horizon::now(&clock));
        assert_eq!(segment.undo.iter().map(Undo::at).collect::<Vec<_>>(), [9, 3], "7 is pruned, 3 is read");
        segment.roll_back(key, 9);
        let seen = |segment: &Segment, at| segment.find(key, NO_HEADER, at);
        assert_eq!([2, 8, u64::MAX].map(|at| seen(&segment, at)), [first, changes[1], changes[1]]);
        drop(reader);
        segment.prune(&Horizon::now(&clock));
        assert!(segment.undo.is_empty() && segment.removed == 0);
        assert_eq!(seen(&segment, u64::MAX), changes[1]);
        assert_eq!(segment.used() == 0, changes[1].is_none(), "a removed edge takes no room");
    }

    #[test]
    fn a_change_taken_back_leaves_what_was_published() {
        let _sound = sound();
        taken_back(None, [Some(3.0), None, Some(9.0)]);
        taken_back(Some(1.0), [None, Some(7.0), None]);
        taken_back(Some(1.0), [None, Some(7.0), Some(9.0)]);
        taken_back(Some(1.0), [Some(3.0), Some(7.0), Some(9.0)]);
    }
}
