//! The same sets without latches, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;

use super::options::SortledtonOptions;
use super::snapshot::SortledtonSnapshot;
use super::table::{Alone, MOST, Record};
use super::transaction::{BATCH, Transaction};
use super::versions::{Horizon, NEWEST};
use crate::change::{self, Change, Draft, Effect};
use crate::{GraphForm, LabError};

/// The same sets for one user at a time, without latches: with `VERSIONED` what the structure costs with its versions, without it what it
/// costs by itself.
pub struct SortledtonAlone<const VERSIONED: bool> {
    table: Mutex<Arc<Alone>>,
    form: GraphForm,
    block: usize,
}

/// Sets without versions.
pub type PlainSortledton = SortledtonAlone<false>;
/// Sets with versions that are kept and looked at.
pub type VersionedSortledton = SortledtonAlone<true>;

impl<const VERSIONED: bool> SortledtonAlone<VERSIONED> {
    /// An empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, SortledtonOptions::default())
    }

    /// An empty graph.
    pub fn with_options(form: GraphForm, options: SortledtonOptions) -> Self {
        SortledtonAlone { table: Mutex::default(), form, block: options.block() }
    }

    /// What `f` makes of the table, once no snapshot is left.
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

/// A transaction, to which the whole table belongs.
struct Whole<'a> {
    records: &'a mut Vec<Record>,
    txn: Transaction<'a>,
}

impl Whole<'_> {
    fn make(&mut self, v: VertexId) {
        if v.index() >= self.records.len() {
            self.records.resize_with(v.index() + 1, Record::default);
        }
    }
}

impl Draft for Whole<'_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        self.make(v);
        self.records[v.index()].set_present(present, &self.txn)
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        self.make(owner);
        self.records[owner.index()].apply(direction, changes, &self.txn)
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
            let mut draft = Whole { records: &mut table.records, txn };
            let more = change::make(updates, self.form, &mut draft);
            if VERSIONED && updates.len() > BATCH {
                let mut vertices: Vec<VertexId> = change::named(updates).collect();
                vertices.sort_unstable();
                vertices.dedup();
                let records = &mut table.records;
                for v in vertices.iter().filter(|v| v.index() < records.len()).collect::<Vec<_>>() {
                    records[v.index()].collect(&Horizon::alone(at), weighted);
                }
            }
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
