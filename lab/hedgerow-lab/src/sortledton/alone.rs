//! The adaptive sets without latches, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;

use super::options::SortledtonOptions;
use super::snapshot::SortledtonSnapshot;
use super::table::{Alone, MOST, Record, inserts};
use super::transaction::{Changed, Transaction};
use super::versions::{Horizon, NEWEST};
use crate::change::{self, Change, Draft, Effect};
use crate::{GraphForm, LabError};

/// The adaptive sets without latches, for one user at a time. With `VERSIONED` they show the cost of the
/// structure with its versions; without it, the cost of the structure alone.
pub struct SortledtonAlone<const VERSIONED: bool> {
    table: Mutex<Arc<Alone>>,
    form: GraphForm,
    block: usize,
}

/// The sets without versions.
pub type PlainSortledton = SortledtonAlone<false>;
/// The sets with versions, which readers check.
pub type VersionedSortledton = SortledtonAlone<true>;

impl<const VERSIONED: bool> SortledtonAlone<VERSIONED> {
    /// Makes an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, SortledtonOptions::default())
    }

    /// Makes an empty graph.
    pub fn with_options(form: GraphForm, options: SortledtonOptions) -> Self {
        SortledtonAlone { table: Mutex::default(), form, block: options.block() }
    }

    /// Waits until no snapshot is left, and returns the result of `f` for the table.
    fn change<T>(&self, f: impl FnOnce(&mut Alone) -> T) -> T {
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
struct Whole<'a> {
    records: &'a mut Vec<Record>,
    changed: Option<Changed>,
    txn: Transaction<'a>,
}

impl Whole<'_> {
    /// Returns the record of `v`. If `inserts`, makes a missing record; otherwise returns `None` for it.
    fn record(&mut self, v: VertexId, inserts: bool) -> Option<&mut Record> {
        if inserts && v.index() >= self.records.len() {
            self.records.resize_with(v.index() + 1, Record::default);
        }
        self.records.get_mut(v.index())
    }

    /// Removes the versions of the transaction, while no reader is active. O(its changes), not O(the lists).
    fn collect(self, updates: &[Update]) {
        let (Some(changed), horizon) = (self.changed, Horizon::alone(self.txn.at)) else { return };
        for v in change::named(updates) {
            if let Some(record) = self.records.get_mut(v.index()) {
                record.collect_itself(&horizon);
            }
        }
        for (owner, direction, targets) in changed.lists() {
            if let Some(record) = self.records.get_mut(owner.index()) {
                record.collect_changed(direction, targets, &horizon, self.txn.weighted);
            }
        }
    }
}

impl Draft for Whole<'_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let txn = self.txn;
        self.record(v, present).is_some_and(|record| record.set_present(present, &txn))
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        if let Some(changed) = &mut self.changed {
            changed.add(owner, direction, changes);
        }
        let txn = self.txn;
        let record = self.record(owner, inserts(changes));
        record.map_or_else(Effect::default, |record| record.apply(direction, changes, &txn))
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let set = self.records.get(owner.index()).and_then(|record| record.set(direction));
        set.and_then(|set| set.find(target, NEWEST)).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        self.records.get(owner.index()).map_or_else(Vec::new, |record| record.newest_targets(direction))
    }
}

impl<const VERSIONED: bool> DynamicGraph for SortledtonAlone<VERSIONED> {
    type Error = LabError;
    type Snapshot = SortledtonSnapshot<Alone>;

    const LACKS: &'static [Capability] = &[Capability::Versions, Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        let weighted = self.form.weighted;
        Ok(self.change(|table| {
            table.at += 1;
            let (at, horizon) = (table.at, Horizon::alone(table.at - 1));
            let txn =
                Transaction { at, versioned: VERSIONED, weighted, block: self.block, horizon: &horizon };
            let changed = Changed::of(updates, VERSIONED);
            let mut draft = Whole { records: &mut table.records, changed, txn };
            let more = change::make(updates, self.form, &mut draft);
            draft.collect(updates);
            table.vertices += more.vertices;
            table.edges += more.edges;
            Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges }
        }))
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        Ok(SortledtonSnapshot::alone(self.table.lock().clone(), self.form))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.change(|table| {
            let horizon = Horizon::alone(table.at);
            table.records.iter_mut().for_each(|record| record.collect(&horizon, self.form.weighted));
        });
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let table = self.table.lock();
        table.records.capacity() * size_of::<Record>()
            + table.records.iter().map(Record::bytes).sum::<usize>()
    }
}
