//! Sortledton: Fuchs, Margan and Giceva, "Sortledton: a universal, transactional graph data structure" (PVLDB
//! 15(6), 2022).
//!
//! The store is an adjacency index of vertices. Each vertex has a latch and an adaptive set of neighbours
//! (section 4). A set is a sorted array while it is short, then an unrolled skip list of sorted blocks. A
//! writer knows the vertices that it changes. It latches them in ascending order, and draws a timestamp.
//! Before it writes to a block, it removes the versions there that no reader needs (section 5). A neighbour
//! has versions only while readers see different states of it; a bit of its id marks this. A reader latches
//! one vertex for each access.
//!
//! [`Sortledton`] is the whole container; [`SortledtonAlone`] has the same sets for one user at a time.
//! Parameters and deviations: `docs/design/lab/sortledton.md`.

use std::sync::Arc;

use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::RwLockWriteGuard;
use smallvec::SmallVec;

use crate::change::{self, Change, Draft, Effect};
use crate::clock::Clock;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod blocks;
mod gate;
mod options;
mod piece;
mod set;
mod skip;
mod snapshot;
mod table;
mod transaction;
mod versions;

pub use alone::{PlainSortledton, SortledtonAlone, VersionedSortledton};
use gate::Gate;
pub use options::SortledtonOptions;
pub use snapshot::SortledtonSnapshot;
use table::{Latched, MOST, Record};
use transaction::{Changed, Transaction};
use versions::{Bound, Horizon, NEWEST};

/// Adaptive sets with a latch for each vertex and, if `VERSIONED`, with versions.
pub struct Latching<const VERSIONED: bool> {
    table: Arc<Latched>,
    clock: Arc<Clock>,
    horizon: Bound,
    /// The gate that keeps writers and snapshots apart if there are no versions.
    gate: Arc<Gate>,
    form: GraphForm,
    block: usize,
}

/// The whole container.
pub type Sortledton = Latching<true>;
/// The container with versioning off, as tables 1 and 2 of RapidStore measure it. Writers and readers latch,
/// and a writer waits until all snapshots are dropped.
pub type UnversionedSortledton = Latching<false>;

impl<const VERSIONED: bool> Latching<VERSIONED> {
    /// Makes an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, SortledtonOptions::default())
    }

    /// Makes an empty graph.
    pub fn with_options(form: GraphForm, options: SortledtonOptions) -> Self {
        Latching {
            table: Arc::default(),
            clock: Arc::default(),
            horizon: Bound::default(),
            gate: Arc::default(),
            form,
            block: options.block(),
        }
    }

    /// Latches the vertices that the updates touch, in ascending order: the named vertices, and the
    /// neighbours of removed vertices. The neighbours are known only under the latch. If some are not latched
    /// yet, the loop releases all latches, and takes them again together with these neighbours.
    fn latch(&self, updates: &[Update]) -> Records<'_> {
        let mut vertices: SmallVec<[VertexId; 2]> = change::named(updates).collect();
        let removed = |update: &Update| match *update {
            Update::RemoveVertex(v) => Some(v),
            _ => None,
        };
        loop {
            vertices.sort_unstable();
            vertices.dedup();
            let records = Records(vertices.iter().map(|&v| (v, self.table.lock(v))).collect());
            let known = vertices.len();
            for v in updates.iter().filter_map(removed) {
                for &direction in self.form.directions() {
                    let others =
                        records.get(v).map_or_else(Vec::new, |record| record.newest_targets(direction));
                    vertices.extend(others.into_iter().filter(|&other| records.get(other).is_none()));
                }
            }
            if vertices.len() == known {
                return records;
            }
        }
    }

    /// Makes the updates at `at` on records that are latched for them. Enters the changes into `changed`.
    fn change(
        &self,
        updates: &[Update],
        records: &mut Records<'_>,
        changed: Option<&mut Changed>,
        at: u64,
    ) -> change::More {
        let horizon = Horizon::shared(&self.clock, &self.horizon);
        let (weighted, block) = (self.form.weighted, self.block);
        let txn = Transaction { at, versioned: VERSIONED, weighted, block, horizon: &horizon };
        change::make(updates, self.form, &mut Latches { table: &self.table, records, changed, txn: &txn })
    }

    /// Removes the versions of a published transaction that no reader needs. O(its changes), not O(the
    /// lists).
    fn collect(&self, records: &mut Records<'_>, changed: &Changed) {
        let horizon = Horizon::shared(&self.clock, &self.horizon);
        records.0.iter_mut().for_each(|(_, record)| record.collect_itself(&horizon));
        for (owner, direction, targets) in changed.lists() {
            records.get_mut(owner).collect_changed(direction, targets, &horizon, self.form.weighted);
        }
    }

    /// Draws a timestamp and publishes it before any change: a planted fault of the tests.
    #[cold]
    fn publish_early(&self) -> u64 {
        let at = self.clock.draw();
        self.clock.publish(at, 0, 0);
        // Waits long enough for other threads to read.
        (0..20).for_each(|_| std::thread::yield_now());
        at
    }
}

/// The records that a transaction has latched, in ascending order.
struct Records<'a>(SmallVec<[(VertexId, RwLockWriteGuard<'a, Record>); 2]>);

impl Records<'_> {
    fn place(&self, v: VertexId) -> Option<usize> {
        self.0.binary_search_by_key(&v, |(v, _)| *v).ok()
    }

    fn get(&self, v: VertexId) -> Option<&Record> {
        self.place(v).map(|place| &*self.0[place].1)
    }

    fn get_mut(&mut self, v: VertexId) -> &mut Record {
        let place = self.place(v).expect("a transaction latches what it touches");
        &mut self.0[place].1
    }
}

/// A transaction with its latches.
struct Latches<'a, 'b> {
    table: &'a Latched,
    records: &'a mut Records<'b>,
    changed: Option<&'a mut Changed>,
    txn: &'a Transaction<'a>,
}

impl Draft for Latches<'_, '_> {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        if present {
            self.table.cover(v);
        }
        self.records.get_mut(v).set_present(present, self.txn)
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        if let Some(changed) = &mut self.changed {
            changed.add(owner, direction, changes);
        }
        self.records.get_mut(owner).apply(direction, changes, self.txn)
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let set = self.records.get(owner).and_then(|record| record.set(direction));
        set.and_then(|set| set.find(target, NEWEST)).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        self.records.get(owner).map_or_else(Vec::new, |record| record.newest_targets(direction))
    }
}

impl<const VERSIONED: bool> DynamicGraph for Latching<VERSIONED> {
    type Error = LabError;
    type Snapshot = SortledtonSnapshot<Latched>;

    const LACKS: &'static [Capability] = if VERSIONED { &[] } else { &[Capability::Versions] };

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        let _writing = (!VERSIONED).then(|| self.gate.write());
        let early = is_on(Planted::PublishedEarly).then(|| self.publish_early());
        let mut records = self.latch(updates);
        let drawn = self.clock.draw();
        let at = early.unwrap_or(drawn);
        let mut changed = Changed::of(updates, VERSIONED);
        let more = self.change(updates, &mut records, changed.as_mut(), at);
        // Publishes before it releases the latches. A transaction that waits for the same vertices then
        // sleeps, and does not poll for this publication.
        self.clock.publish(drawn, more.vertices, more.edges);
        if let Some(changed) = changed {
            self.collect(&mut records, &changed);
        }
        Ok(Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges })
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        let reading = (!VERSIONED).then(|| Gate::read(&self.gate));
        let reader = self.clock.register()?;
        Ok(SortledtonSnapshot::registered(self.table.clone(), self.form, reader, reading))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        for record in self.table.all() {
            let mut record = record.write();
            // The horizon is read under the latch, and not from the bound alone. So every version that
            // `collect` keeps belongs to a reader that is registered by now.
            record.collect(&Horizon::shared(&self.clock, &self.horizon), self.form.weighted);
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.table.bytes()
    }
}
