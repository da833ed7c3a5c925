//! The lists without locks, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;

use super::list::{List, PlainList};
use super::newest_targets;
use super::records::{Alone, MOST, Record};
use super::snapshot::AdjlstSnapshot;
use super::versioned::VersionedList;
use crate::change::{self, Change, Draft, Effect};
use crate::clock::Active;
use crate::{GraphForm, LabError};

/// The same lists without locks, for one user at a time. They give the cost of the structure, alone or with
/// its versions.
#[derive(Debug)]
pub struct AdjlstAlone<L> {
    table: Mutex<Arc<Alone<L>>>,
    form: GraphForm,
}

/// Lists without versions.
pub type PlainAdjlst = AdjlstAlone<PlainList>;
/// Lists with versions that are kept and checked.
pub type VersionedAdjlst = AdjlstAlone<VersionedList>;

impl<L: List> AdjlstAlone<L> {
    /// Returns an empty graph.
    pub fn new(form: GraphForm) -> Self {
        AdjlstAlone { table: Mutex::default(), form }
    }

    /// Waits until no snapshot holds the table, and then calls `f` with the table. Returns the result of `f`.
    fn change<T>(&self, f: impl FnOnce(&mut Alone<L>) -> T) -> T {
        let mut table = self.table.lock();
        loop {
            if let Some(table) = Arc::get_mut(&mut table) {
                return f(table);
            }
            std::thread::yield_now();
        }
    }
}

/// A transaction that owns the whole table.
struct Whole<'a, L> {
    records: &'a mut Vec<Record<L>>,
    at: u64,
    weighted: bool,
}

impl<L: List> Whole<'_, L> {
    /// Returns the record of `v`. Makes a missing record if `inserts`, else returns none.
    fn record(&mut self, v: VertexId, inserts: bool) -> Option<&mut Record<L>> {
        if inserts && v.index() >= self.records.len() {
            self.records.resize_with(v.index() + 1, Record::default);
        }
        self.records.get_mut(v.index())
    }
}

impl<L: List> Draft for Whole<'_, L> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let at = self.at;
        let record = self.record(v, present);
        record.is_some_and(|record| record.list_mut(Direction::Out).set_present(present, at))
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        let (at, weighted) = (self.at, self.weighted);
        let inserts = changes.iter().any(|change| change.weight.is_some());
        let record = self.record(owner, inserts);
        let Some(list) = record.and_then(|record| record.list_for(direction, changes)) else {
            return Effect::default();
        };
        let effect = list.apply(changes, weighted, at);
        // No reader exists while this transaction runs.
        list.prune(&Active::default());
        effect
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let record = self.records.get(owner.index());
        record.and_then(|record| record.list(direction)?.find(target, self.at)).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        self.records.get(owner.index()).map_or_else(Vec::new, |record| newest_targets(record, direction))
    }
}

impl<L: List> DynamicGraph for AdjlstAlone<L> {
    type Error = LabError;
    type Snapshot = AdjlstSnapshot<Alone<L>>;

    const LACKS: &'static [Capability] = &[Capability::Versions, Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        Ok(self.change(|table| {
            table.at += 1;
            let (at, weighted) = (table.at, self.form.weighted);
            let mut draft = Whole { records: &mut table.records, at, weighted };
            let more = change::make(updates, self.form, &mut draft);
            table.vertices += more.vertices;
            table.edges += more.edges;
            Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges }
        }))
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        Ok(AdjlstSnapshot::alone(self.table.lock().clone(), self.form))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.change(|table| {
            let lists = table.records.iter_mut().flat_map(Record::lists_mut);
            lists.for_each(|list| list.reclaim(&Active::default()));
        });
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let table = self.table.lock();
        table.records.capacity() * size_of::<Record<L>>()
            + table.records.iter().map(Record::bytes).sum::<usize>()
    }
}
