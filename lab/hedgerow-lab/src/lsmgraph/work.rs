//! A transaction. It makes changes while it holds the locks of its vertices, and undoes them if a file cannot
//! be read.

use std::cell::Cell;

use hedgerow_core::{Direction, Update, VertexId};
use parking_lot::RwLockWriteGuard;
use smallvec::SmallVec;

use super::graph::{Graph, Version};
use super::record::{Presence, Record};
use crate::LabError;
use crate::change::{self, Change, Draft, Effect, More};
use crate::planted::{Planted, is_on};

/// The records that a transaction may change.
pub(super) trait Records {
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T>;
    fn write<T>(&mut self, v: VertexId, f: impl FnOnce(&mut Record) -> T) -> T;
}

/// The records that are locked until the transaction is published, in ascending order.
pub(super) struct Locked<'a>(pub(super) SmallVec<[(VertexId, RwLockWriteGuard<'a, Record>); 2]>);

impl Locked<'_> {
    fn place(&self, v: VertexId) -> Option<usize> {
        self.0.binary_search_by_key(&v, |(v, _)| *v).ok()
    }

    pub(super) fn has(&self, v: VertexId) -> bool {
        self.place(v).is_some()
    }
}

impl Records for Locked<'_> {
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T> {
        self.place(v).map(|place| f(&self.0[place].1))
    }

    fn write<T>(&mut self, v: VertexId, f: impl FnOnce(&mut Record) -> T) -> T {
        let place = self.place(v).expect("a transaction locks what it touches");
        f(&mut self.0[place].1)
    }
}

/// The records of a graph with one user. Each record is locked while it is changed.
pub(super) struct Unlocked<'a>(pub(super) &'a Graph);

impl Records for Unlocked<'_> {
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T> {
        self.0.known(v).map(|record| f(&record.read()))
    }

    fn write<T>(&mut self, v: VertexId, f: impl FnOnce(&mut Record) -> T) -> T {
        f(&mut self.0.record(v).write())
    }
}

/// The state before a change.
enum Before {
    Vertex(VertexId, Presence),
    Degree(VertexId, Direction, u32, u64),
}

/// A transaction.
pub(super) struct Work<'a, R> {
    graph: &'a Graph,
    version: &'a Version,
    pub(super) records: R,
    at: u64,
    before: SmallVec<[Before; 2]>,
    /// The first error of a file. The transaction changes nothing after it.
    failed: Cell<Option<LabError>>,
}

impl<'a, R: Records> Work<'a, R> {
    pub(super) fn new(graph: &'a Graph, version: &'a Version, records: R, at: u64) -> Self {
        Work { graph, version, records, at, before: SmallVec::new(), failed: Cell::new(None) }
    }

    /// Makes all updates, or none of them if a file cannot be read.
    pub(super) fn make(&mut self, updates: &[Update]) -> Result<More, LabError> {
        let more = change::make(updates, self.graph.form, self);
        match self.failed.get() {
            None => Ok(more),
            Some(error) => {
                if !is_on(Planted::FailureKept) {
                    self.take_back();
                }
                Err(error)
            }
        }
    }

    fn take_back(&mut self) {
        while let Some(before) = self.before.pop() {
            match before {
                Before::Vertex(v, presence) => self.records.write(v, |record| record.itself = presence),
                Before::Degree(v, direction, degree, changed) => {
                    self.version.buffers[0].retract(v, direction, self.at);
                    self.records.write(v, |record| {
                        let side = record.side_mut(direction);
                        (side.degree, side.changed) = (degree, changed);
                    });
                }
            }
        }
    }

    /// Returns the value that was read. After an error, it keeps the error and returns the default.
    fn read<T: Default>(&self, read: Option<Result<T, LabError>>) -> T {
        let failed = |error| {
            self.failed.set(self.failed.get().or(Some(error)));
            T::default()
        };
        read.map_or_else(T::default, |read| read.unwrap_or_else(failed))
    }
}

impl<R: Records> Draft for Work<'_, R> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let (graph, at, before) = (self.graph, self.at, &mut self.before);
        if self.failed.get().is_some() {
            return false;
        }
        if present {
            graph.cover(v);
        }
        self.records.write(v, |record| {
            if record.itself.at(super::entry::NEWEST) == present {
                return false;
            }
            before.push(Before::Vertex(v, record.itself.clone()));
            record.itself.set(present, at, graph.versioned)
        })
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        let (graph, version, at, before) = (self.graph, self.version, self.at, &mut self.before);
        if self.failed.get().is_some() {
            return Effect::default();
        }
        let made = self.records.write(owner, |record| {
            let (degree, changed) = record.side(direction).map_or((0, 0), |side| (side.degree, side.changed));
            before.push(Before::Degree(owner, direction, degree, changed));
            graph.change(version, record, (owner, direction), changes, at)
        });
        let (entries, changed) = self.read(Some(made));
        Effect { entries, changed }
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let find = |record: &Record| -> Result<bool, LabError> {
            let Some(side) = record.side(direction) else { return Ok(false) };
            let found =
                self.graph.find(self.version, side, (owner, direction), target, super::entry::NEWEST)?;
            Ok(found.is_some_and(|entry| entry.live().is_some()))
        };
        self.read(self.records.read(owner, find))
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        let targets = |record: &Record| match record.side(direction) {
            Some(side) => self.graph.newest_targets(self.version, side, (owner, direction)),
            None => Ok(Vec::new()),
        };
        self.read(self.records.read(owner, targets))
    }
}
