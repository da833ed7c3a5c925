//! A write transaction (section 5). It locks each vertex at its first use, and changes lists invisibly to
//! readers. Then it commits, or rolls back if it does not get a lock in time.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hedgerow_core::{Direction, Update, VertexId};
use parking_lot::MutexGuard;
use smallvec::SmallVec;

use super::horizon::Horizon;
use super::records::{Graph, Record};
use super::store::Address;
use super::tel::{MARK, NEVER};
use super::waste::Waste;
use crate::change::{self, Change, Draft, Effect, More};
use crate::planted::{Planted, is_on};

/// The way in which a transaction takes locks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Locking {
    /// The transaction takes no locks, because there is no other user.
    Alone,
    /// The transaction rolls back if it waits longer than this.
    Timeout(Duration),
    /// The transaction waits without a limit. Only one transaction at a time does so; all other ones have
    /// timeouts.
    Patient,
}

/// The smallest number of neighbours that are removed in one pass through the list.
const ONE_PASS: usize = 8;
/// The index for no list of a transaction.
const NO_LIST: u32 = u32::MAX;

/// A vertex that the transaction has locked.
struct Touched<'a> {
    v: VertexId,
    record: &'a Record,
    _lock: Option<MutexGuard<'a, ()>>,
    /// The indexes of its lists among the lists of the transaction.
    lists: [u32; 2],
    was_present: bool,
    present: bool,
}

/// A list that the transaction reads, and perhaps changes.
struct List {
    owner: u32,
    direction: Direction,
    /// The block that readers find.
    committed: Address,
    /// The block that the transaction changes; the same as `committed` until the transaction copies the list.
    block: Address,
    /// The number of entries before the entries of this transaction.
    base: u32,
    entries: u32,
    valid: u32,
    is_changed: bool,
    has_ended: bool,
}

/// A transaction that is not yet committed.
pub(super) struct Work<'a> {
    graph: &'a Graph,
    /// The timestamp of the transaction, or its mark while it has no timestamp.
    mark: u64,
    locking: Locking,
    /// The source of the horizon, which says which entries a copy of a list may leave out.
    horizon: &'a dyn Fn() -> Horizon,
    touched: SmallVec<[Touched<'a>; 2]>,
    lists: SmallVec<[List; 2]>,
    /// The lists and the indexes of the entries that the transaction invalidated.
    ended: SmallVec<[(u32, u32); 2]>,
    has_failed: bool,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        mark: u64,
        locking: Locking,
        horizon: &'a dyn Fn() -> Horizon,
    ) -> Work<'a> {
        Work {
            graph,
            mark,
            locking,
            horizon,
            touched: SmallVec::new(),
            lists: SmallVec::new(),
            ended: SmallVec::new(),
            has_failed: false,
        }
    }

    /// Makes the updates, invisibly to other transactions. Returns `None` if a lock was not free; the
    /// transaction must then be rolled back.
    pub(super) fn make(&mut self, updates: &[Update]) -> Option<More> {
        // These updates read lists before `apply` locks them.
        for update in updates {
            match *update {
                Update::RemoveVertex(v) => drop(self.touch(v)),
                Update::InsertEdge(src, dst, _) | Update::RemoveEdge(src, dst) if src == dst => {
                    self.touch(src);
                }
                _ => {}
            }
        }
        let more = change::make(updates, self.graph.form, self);
        (!self.has_failed).then_some(more)
    }

    /// Locks a vertex. Returns its index among the locked vertices; none if it did not get the lock.
    fn touch(&mut self, v: VertexId) -> Option<usize> {
        if self.has_failed {
            return None;
        }
        let record = self.graph.record_or_create(v);
        let place = record.place.load(Relaxed) as usize;
        if self.touched.get(place).is_some_and(|touched| touched.v == v) {
            return Some(place);
        }
        let lock = match self.locking {
            Locking::Alone => None,
            Locking::Patient => Some(record.lock.lock()),
            Locking::Timeout(most) => {
                let lock = record.lock.try_lock().or_else(|| record.lock.try_lock_for(most));
                self.has_failed = lock.is_none();
                Some(lock?)
            }
        };
        let place = self.touched.len();
        record.place.store(place as u32, Relaxed);
        let present = record.presence().is_present(&self.graph.store);
        let lists = [NO_LIST; 2];
        let touched = Touched { v, record, _lock: lock, lists, was_present: present, present };
        self.touched.push(touched);
        Some(place)
    }

    fn touched(&self, v: VertexId) -> Option<&Touched<'a>> {
        let place = self.graph.record(v)?.place.load(Relaxed) as usize;
        self.touched.get(place).filter(|touched| touched.v == v)
    }

    /// Returns the index of a list of a locked vertex.
    fn list(&mut self, owner: usize, direction: Direction) -> usize {
        let touched = &mut self.touched[owner];
        let list = &mut touched.lists[direction as usize];
        if *list == NO_LIST {
            *list = self.lists.len() as u32;
            let committed = touched.record.list(direction);
            let (entries, valid) = self.graph.tel(committed).counts();
            self.lists.push(List {
                owner: owner as u32,
                direction,
                committed,
                block: committed,
                base: entries as u32,
                entries: entries as u32,
                valid: valid as u32,
                is_changed: false,
                has_ended: false,
            });
        }
        *list as usize
    }

    /// Returns the block of a list as this transaction sees it, and the number of its entries.
    fn seen(&self, owner: VertexId, direction: Direction) -> (Address, usize) {
        let Some(touched) = self.touched(owner) else { return (Address::NONE, 0) };
        match touched.lists[direction as usize] {
            NO_LIST => {
                let address = touched.record.list(direction);
                (address, self.graph.tel(address).counts().0)
            }
            list => {
                let list = &self.lists[list as usize];
                (list.block, list.entries as usize)
            }
        }
    }

    /// Changes one entry. This change and the following ones append up to `coming` entries to the list.
    fn change(&mut self, list: usize, change: &Change, coming: usize) -> Effect {
        let at = &self.lists[list];
        let (tel, entries) = (self.graph.tel(at.block), at.entries as usize);
        match (tel.find_valid(change.target, entries), change.weight) {
            (None, None) => Effect::default(),
            (None, Some(weight)) => {
                self.append(list, change.target, weight, coming);
                Effect { entries: 1, changed: true }
            }
            (Some(i), Some(weight)) if tel.weight(i) == weight => Effect::default(),
            (Some(i), Some(weight)) => {
                if self.end(list, i) {
                    self.append(list, change.target, weight, coming);
                } else {
                    tel.set_weight(i, weight);
                }
                Effect { entries: 0, changed: true }
            }
            (Some(i), None) => self.remove(list, i),
        }
    }

    fn remove(&mut self, list: usize, i: usize) -> Effect {
        if !self.end(list, i) {
            let at = &mut self.lists[list];
            self.graph.tel(at.block).replace_by_last(i, at.entries as usize);
            at.entries -= 1;
            at.valid -= 1;
        }
        Effect { entries: -1, changed: true }
    }

    /// True if these changes remove enough neighbours that one pass costs less than a search for each of
    /// them. A search begins at the newest entry.
    fn is_removal_of_most(&self, list: usize, changes: &[Change]) -> bool {
        let is_much = changes.len() >= ONE_PASS && 2 * changes.len() >= self.lists[list].valid as usize;
        is_much && changes.iter().all(|change| change.weight.is_none())
    }

    /// Removes neighbours in one pass. O(entries log changes).
    fn remove_all(&mut self, list: usize, changes: &[Change]) -> Effect {
        let (block, entries) = (self.lists[list].block, self.lists[list].entries as usize);
        let tel = self.graph.tel(block);
        let is_one = |target| changes.binary_search_by_key(&target, |change| change.target).is_ok();
        let mut effect = Effect::default();
        // Starts at the last entry. Without versions, the last entry takes the place of a removed one, and it
        // has been checked already.
        for i in (0..entries).rev() {
            if tel.ended(i) == NEVER && is_one(tel.target(i)) {
                effect.add(self.remove(list, i));
            }
        }
        effect
    }

    /// Invalidates an entry. Returns false if there are no versions; the caller then changes the entry in
    /// place.
    fn end(&mut self, list: usize, i: usize) -> bool {
        let at = &mut self.lists[list];
        (at.is_changed, at.has_ended) = (true, true);
        if !self.graph.shape.is_versioned {
            return false;
        }
        self.graph.tel(at.block).set_ended(i, self.mark);
        at.valid -= 1;
        self.ended.push((list as u32, i as u32));
        true
    }

    fn append(&mut self, list: usize, target: VertexId, weight: f64, coming: usize) {
        let at = &self.lists[list];
        if at.entries as usize == self.graph.tel(at.block).capacity() {
            self.grow(list, coming);
        }
        let at = &mut self.lists[list];
        self.graph.tel(at.block).append(at.entries as usize, target, weight, self.mark, NEVER);
        at.entries += 1;
        at.valid += 1;
        at.is_changed = true;
    }

    /// Copies a list without room for the changes, and leaves out the entries that no reader needs. After
    /// this transaction has changed entries, a copy keeps all entries in their places. So without this copy,
    /// a list of new weights alone would never lose the old entries.
    fn make_room(&mut self, list: usize, changes: &[Change]) {
        let coming = changes.iter().filter(|change| change.weight.is_some()).count();
        let at = &self.lists[list];
        let is_short = at.entries as usize + coming > self.graph.tel(at.block).capacity();
        let has_invalidated = at.valid < at.entries && !at.is_changed;
        if coming > 0 && is_short && has_invalidated && !is_on(Planted::FullListKept) {
            self.grow(list, coming);
        }
    }

    /// Copies a full list to a larger block. Entries keep their places if this transaction has changed some
    /// of them. Otherwise the copy leaves out the entries that no reader needs. If these are a quarter, the
    /// block is not larger.
    fn grow(&mut self, list: usize, coming: usize) {
        let at = &self.lists[list];
        let (old, entries) = (self.graph.tel(at.block), at.entries as usize);
        let horizon = (!at.is_changed && at.valid < at.entries).then(|| (self.horizon)());
        let keeps = |created, ended| horizon.as_ref().is_none_or(|horizon| horizon.needs(created, ended));
        let kept = match horizon {
            None => entries,
            Some(_) => (0..entries).filter(|&i| keeps(old.created(i), old.ended(i))).count(),
        };
        let room = kept + coming;
        let block = self.graph.new_tel(if kept < entries { room + room / 3 } else { room });
        self.graph.tel(block).append_all(old, entries, keeps);
        let at = &mut self.lists[list];
        if at.block != at.committed {
            self.graph.store.free(at.block);
        }
        at.block = block;
        if !at.is_changed {
            at.base = kept as u32;
        }
        at.entries = kept as u32;
        at.is_changed = true;
    }

    /// Makes the changes visible from `at` on (the apply phase). Returns the replaced blocks.
    pub(super) fn commit(&mut self, at: u64, waste: &Waste) -> SmallVec<[Address; 4]> {
        let mut retired = SmallVec::new();
        if at != self.mark {
            for &(list, i) in &self.ended {
                self.graph.tel(self.lists[list as usize].block).set_ended(i as usize, at);
            }
        }
        for list in self.lists.iter().filter(|list| list.is_changed) {
            let tel = self.graph.tel(list.block);
            let is_moved = list.block != list.committed;
            if at != self.mark && !(is_moved && is_on(Planted::MovedEntriesNotStamped)) {
                (list.base..list.entries).for_each(|i| tel.set_created(i as usize, at));
            }
            tel.commit(at, list.entries as usize, list.valid as usize);
            let owner = &self.touched[list.owner as usize];
            if is_moved {
                owner.record.set_list(list.direction, list.block);
                retired.extend((!list.committed.is_none()).then_some(list.committed));
            }
            if list.has_ended {
                waste.note(owner.v, owner.record);
            }
        }
        for touched in self.touched.iter().filter(|touched| touched.present != touched.was_present) {
            let before = touched.record.presence();
            touched.record.set_presence(before.followed(&self.graph.store, touched.present, at));
            if !touched.present {
                waste.note(touched.v, touched.record);
            }
        }
        retired
    }

    /// Rolls back all changes.
    pub(super) fn roll_back(self) {
        for &(list, i) in &self.ended {
            let tel = self.graph.tel(self.lists[list as usize].committed);
            let is_committed = (i as usize) < tel.counts().0;
            if is_committed && tel.ended(i as usize) == self.mark && !is_on(Planted::AbortKeepsMarks) {
                tel.set_ended(i as usize, NEVER);
            }
        }
        for list in self.lists.iter().filter(|list| list.block != list.committed) {
            self.graph.store.free(list.block);
        }
    }
}

impl Draft for Work<'_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let Some(place) = self.touch(v) else { return false };
        std::mem::replace(&mut self.touched[place].present, present) != present
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        let mut effect = Effect::default();
        let Some(place) = self.touch(owner) else { return effect };
        let list = self.list(place, direction);
        if self.is_removal_of_most(list, changes) {
            return self.remove_all(list, changes);
        }
        self.make_room(list, changes);
        for (i, change) in changes.iter().enumerate() {
            effect.add(self.change(list, change, changes.len() - i));
        }
        effect
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let (block, entries) = self.seen(owner, direction);
        self.graph.tel(block).find_valid(target, entries).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        let (block, entries) = self.seen(owner, direction);
        self.graph.tel(block).valid_targets(entries)
    }
}

/// Returns the mark of the transaction with this number.
pub(super) fn mark(transaction: u64) -> u64 {
    MARK | transaction
}
