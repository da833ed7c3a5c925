//! A transaction: it changes edges in place, each under the latch of one segment, and can undo all changes.
//!
//! A transaction draws its timestamp when it begins. Its changes belong to it until it is published. A
//! younger transaction that meets such a change waits. An older transaction that meets such a change undoes
//! all its own changes. It then begins again, with a new timestamp that comes after the other one. So no
//! transaction that holds changes waits for a younger one, and no circle of transactions waits.
//!
//! A transaction that adds an edge to the list of a vertex relies on the vertex. After the insertion, it
//! checks again that the vertex exists. A transaction that removes a vertex first takes ownership of the
//! vertex, and then reads its list. So either the second transaction meets the edge, or the first one meets
//! the change of the vertex.

use std::cell::Cell;

use hedgerow_core::{Direction, Update, VertexId};
use smallvec::SmallVec;

use super::index::{Hint, is_alive, keys, since};
use super::segment::{Segment, key, target};
use super::shared::{Shared, Store};
use super::undo::{Conflict, admit};
use crate::change::{Change, Draft, Effect};
use crate::planted::{Planted, is_on};

/// A change that the transaction undoes if it has to begin again.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// A vertex, and its life before the change.
    Life(VertexId, u64),
    /// An edge in a tree.
    Edge(Direction, u64),
}

/// A running transaction.
pub(super) struct Transaction<'a> {
    shared: &'a Shared,
    pub(super) at: u64,
    log: SmallVec<[Entry; 4]>,
    /// The timestamp of a younger transaction that this one met. This one then makes no more changes, and
    /// begins again once the younger one is published.
    pub(super) blocked: Cell<Option<u64>>,
    /// The number of vertices that it made exist after it added their edges.
    pub(super) revived: i64,
}

impl<'a> Transaction<'a> {
    pub(super) fn begin(shared: &'a Shared) -> Transaction<'a> {
        let at = shared.clock.draw();
        Transaction { shared, at, log: SmallVec::new(), blocked: Cell::new(None), revived: 0 }
    }

    fn published(&self) -> u64 {
        self.shared.clock.published()
    }

    /// Returns the result of an attempt. Returns `None` if the caller has to try again, and `Some(None)` if a
    /// younger transaction blocks this one.
    fn settled<T>(&self, tried: Result<T, Conflict>) -> Option<Option<T>> {
        match tried {
            Ok(made) => Some(Some(made)),
            Err(Conflict::Younger(timestamp)) => {
                self.blocked.set(Some(timestamp));
                Some(None)
            }
            Err(Conflict::Older(timestamp)) => {
                self.shared.wait_for(timestamp);
                None
            }
        }
    }

    /// Takes ownership of items on which the updates rely, even if the updates do not change them. These are
    /// the vertices of vertex updates, and loops, which the updates read before they change them.
    pub(super) fn reserve(&mut self, updates: &[Update]) {
        for update in updates {
            match *update {
                Update::InsertVertex(v) | Update::RemoveVertex(v) => {
                    self.set_life(v, None);
                }
                Update::InsertEdge(v, w, _) | Update::RemoveEdge(v, w)
                    if v == w && !self.shared.form.directed =>
                {
                    let loops = key(v.0, v.0);
                    loop {
                        let (at, shared) = (self.at, self.shared);
                        let tried = shared.write(Direction::Out, Hint::default(), loops, |segment, _| {
                            segment.touch(loops, at, &shared.shape, || shared.clock.published())
                        });
                        if let Some(settled) = self.settled(tried) {
                            if settled.is_some() {
                                self.log.push(Entry::Edge(Direction::Out, loops));
                            }
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Makes a vertex exist or not exist, or takes ownership of it as it is. Returns true if the vertex
    /// existed.
    fn set_life(&mut self, v: VertexId, present: Option<bool>) -> bool {
        loop {
            if self.blocked.get().is_some() {
                return false;
            }
            let (shared, published) = (self.shared, || self.published());
            let tried = shared.table.set_life(v, present, self.at, published, || shared.horizon());
            let Some(settled) = self.settled(tried) else { continue };
            let Some(life) = settled else { return false };
            if since(life) != self.at {
                self.log.push(Entry::Life(v, life));
            }
            return is_alive(life);
        }
    }

    /// Makes sure that a vertex exists. Returns true if it did not exist.
    fn ensure(&mut self, v: VertexId) -> bool {
        loop {
            let life = self.shared.table.life(v);
            if !is_alive(life) {
                return !self.set_life(v, Some(true)) && self.blocked.get().is_none();
            }
            if self.settled(admit(since(life), self.at, || self.published())).is_some() {
                return false;
            }
        }
    }

    /// Undoes all changes of the transaction.
    pub(super) fn roll_back(&mut self) {
        while let Some(entry) = self.log.pop() {
            match entry {
                Entry::Life(v, life) => self.shared.table.roll_back(v, life, self.at),
                Entry::Edge(direction, key) => {
                    let at = self.at;
                    self.shared
                        .write(direction, Hint::default(), key, |segment, _| segment.roll_back(key, at));
                }
            }
        }
    }

    /// Makes the changes that belong to the segment of the first change. Returns the number of changes made.
    fn change(
        &mut self,
        owner: VertexId,
        direction: Direction,
        changes: &[Change],
        effect: &mut Effect,
    ) -> (usize, Result<(), Conflict>) {
        let (shared, at, log) = (self.shared, self.at, &mut self.log);
        let published = || shared.clock.published();
        let hint = shared.table.hint(owner, direction);
        shared.write(direction, hint, key(owner.0, changes[0].target.0), |segment, header| {
            for (done, change) in changes.iter().enumerate() {
                let key = key(owner.0, change.target.0);
                if !segment.covers(key) {
                    return (done, Ok(()));
                }
                match segment.change((key, header), change.weight, at, &shared.shape, published) {
                    Ok(made) => effect.add(made),
                    Err(conflict) => return (done, Err(conflict)),
                }
                log.push(Entry::Edge(direction, key));
                segment.prune_many(|| shared.horizon());
            }
            (changes.len(), Ok(()))
        })
    }
}

impl Draft for Transaction<'_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        if present { self.ensure(v) } else { self.set_life(v, Some(false)) }
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        if is_on(Planted::ConflictIgnored) {
            // Waits long enough for other transactions to write.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        let mut effect = Effect::default();
        let mut rest = changes;
        while !rest.is_empty() && self.blocked.get().is_none() {
            let (done, tried) = self.change(owner, direction, rest, &mut effect);
            rest = &rest[done..];
            self.settled(tried);
        }
        if changes.iter().any(|change| change.weight.is_some()) {
            self.revived += i64::from(self.ensure(owner));
        }
        effect
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let key = key(owner.0, target.0);
        let newest = |segment: &Segment, header| segment.find(key, header, u64::MAX);
        self.shared.read(direction, self.shared.table.hint(owner, direction), key, newest).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        let mut targets = Vec::new();
        let range = keys(u64::from(owner.0), u64::from(owner.0) + 1);
        let mut from = range.start;
        while from < range.end && self.blocked.get().is_none() {
            let tried = self.shared.read(direction, Hint::default(), from, |segment, _| {
                let part = from..range.end.min(segment.high);
                segment.admits(part.clone(), self.at, || self.published())?;
                segment
                    .for_each_visible(part.clone(), u64::MAX, |key, _| targets.push(VertexId(target(key))));
                Ok(part.end)
            });
            if let Some(Some(end)) = self.settled(tried) {
                from = end;
            }
        }
        targets
    }
}
