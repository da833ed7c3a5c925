//! Sorted adjacency lists: the baseline of Su et al., "Revisiting the design of in-memory dynamic graph
//! storage", section 5.1.
//!
//! A table of vertices, each with a sorted array of neighbours that has room to grow. A writer locks the
//! vertices that it touches in ascending order. It holds the locks until the transaction is published (sorted
//! two-phase locking, section 4.1.2). A reader locks one vertex for each access. Each neighbour has the
//! timestamp of its newest version. A second list next to the array keeps the replaced versions while a
//! reader sees them. [`Adjlst`] is the whole container; [`AdjlstAlone`] has the same lists for one user at a
//! time. Parameters and deviations: `docs/design/lab/adjlst.md`.

use std::sync::Arc;

use hedgerow_core::{Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::RwLockWriteGuard;
use smallvec::SmallVec;

use crate::change::{self, Change, Draft, Effect};
use crate::clock::Clock;
use crate::run::{RUN, Run};
use crate::{GraphForm, LabError};

mod alone;
mod list;
mod records;
mod snapshot;
mod versioned;

pub use alone::{AdjlstAlone, PlainAdjlst, VersionedAdjlst};
use list::List;
use records::{MOST, Record, Shared};
pub use snapshot::AdjlstSnapshot;
use versioned::VersionedList;

/// Sorted arrays with versions and a lock for each vertex.
pub struct Adjlst {
    records: Arc<Shared<VersionedList>>,
    clock: Arc<Clock>,
    form: GraphForm,
}

impl Adjlst {
    /// Returns an empty graph.
    pub fn new(form: GraphForm) -> Adjlst {
        Adjlst { records: Arc::default(), clock: Arc::default(), form }
    }

    /// Locks the vertices that the updates touch, in ascending order: the named vertices, and the neighbours
    /// of removed vertices. Neighbours are known only under the lock. If some of them are not locked, it
    /// releases all locks and takes them again with the new ones.
    fn lock(&self, updates: &[Update]) -> Locked<'_> {
        let mut vertices: SmallVec<[VertexId; 2]> = change::named(updates).collect();
        let removed = |update: &Update| match *update {
            Update::RemoveVertex(v) => Some(v),
            _ => None,
        };
        loop {
            vertices.sort_unstable();
            vertices.dedup();
            let records = vertices.iter().map(|&v| (v, self.records.lock(v))).collect();
            let locked = Locked { table: &self.records, records, at: 0, weighted: self.form.weighted };
            let known = vertices.len();
            for v in updates.iter().filter_map(removed) {
                for &direction in self.form.directions() {
                    let others = locked.targets(v, direction);
                    vertices.extend(others.into_iter().filter(|&other| locked.place(other).is_none()));
                }
            }
            if vertices.len() == known {
                return locked;
            }
        }
    }
}

/// The records that a transaction has locked, ascending.
struct Locked<'a> {
    table: &'a Shared<VersionedList>,
    records: SmallVec<[(VertexId, RwLockWriteGuard<'a, Record<VersionedList>>); 2]>,
    at: u64,
    weighted: bool,
}

impl Locked<'_> {
    fn place(&self, v: VertexId) -> Option<usize> {
        self.records.binary_search_by_key(&v, |(v, _)| *v).ok()
    }

    fn record(&mut self, v: VertexId) -> &mut Record<VersionedList> {
        let place = self.place(v).expect("a transaction locks what it touches");
        &mut self.records[place].1
    }
}

impl Draft for Locked<'_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        if present {
            self.table.cover(v);
        }
        let at = self.at;
        self.record(v).list_mut(Direction::Out).set_present(present, at)
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        let (at, weighted) = (self.at, self.weighted);
        let list = self.record(owner).list_for(direction, changes);
        list.map_or_else(Effect::default, |list| list.apply(changes, weighted, at))
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let record = self.place(owner).map(|place| &self.records[place].1);
        record.and_then(|record| record.list(direction)?.find(target, u64::MAX >> 1)).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        self.place(owner).map_or_else(Vec::new, |place| newest_targets(&self.records[place].1, direction))
    }
}

/// Returns the neighbours after the last transaction.
fn newest_targets<L: List>(record: &Record<L>, direction: Direction) -> Vec<VertexId> {
    let mut targets = Vec::new();
    let Some(list) = record.list(direction) else { return targets };
    let (mut run, mut from) = (Run::default(), Some(0));
    while let Some(first) = from {
        from = list.copy(first, u64::MAX >> 1, RUN, &mut run);
        targets.extend_from_slice(&run.targets[..run.len]);
    }
    targets
}

impl DynamicGraph for Adjlst {
    type Error = LabError;
    type Snapshot = AdjlstSnapshot<Shared<VersionedList>>;

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        let mut locked = self.lock(updates);
        locked.at = self.clock.draw();
        let more = change::make(updates, self.form, &mut locked);
        self.clock.publish(locked.at, more.vertices, more.edges);
        let active = self.clock.active();
        for (_, record) in &mut locked.records {
            record.lists_mut().for_each(|list| list.prune(&active));
        }
        Ok(Written { timestamp: Timestamp(locked.at), vertices: more.vertices, edges: more.edges })
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        let reader = self.clock.register()?;
        Ok(AdjlstSnapshot::registered(self.records.clone(), self.form, reader))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        for record in self.records.all() {
            let mut record = record.write();
            // Reads the readers under the lock: only readers that are registered by now see older versions of
            // the record.
            let active = self.clock.active();
            record.lists_mut().for_each(|list| list.reclaim(&active));
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.records.bytes()
    }
}
