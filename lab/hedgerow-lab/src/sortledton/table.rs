//! The adjacency index: one record for each vertex, with or without a latch.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId, simd};
use parking_lot::{RwLock, RwLockWriteGuard};

use super::set::Set;
use super::transaction::Transaction;
use super::versions::{Fate, Horizon, Versions};
use crate::change::{Change, Effect};

/// The largest vertex id. A table for larger ids would need a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// A vertex and its neighbours.
#[derive(Default)]
pub struct Record {
    itself: Versions,
    out: Set,
    /// The incoming neighbours in a directed graph, once an edge leads to this vertex.
    into: Option<Box<Set>>,
}

impl Record {
    #[inline]
    pub(super) fn set(&self, direction: Direction) -> Option<&Set> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.into.as_deref(),
        }
    }

    pub(super) fn apply(
        &mut self,
        direction: Direction,
        changes: &[Change],
        txn: &Transaction<'_>,
    ) -> Effect {
        let set = match direction {
            Direction::Out => Some(&mut self.out),
            Direction::In if inserts(changes) => Some(&mut **self.into.get_or_insert_default()),
            Direction::In => self.into.as_deref_mut(),
        };
        set.map_or_else(Effect::default, |set| set.apply(changes, txn))
    }

    #[inline]
    pub(super) fn is_present(&self, at: u64) -> bool {
        self.itself.visible(at, 1.0).is_some()
    }

    /// Makes the vertex exist, or not exist. Returns true if this changed its state.
    pub(super) fn set_present(&mut self, present: bool, txn: &Transaction<'_>) -> bool {
        if present != self.itself.is_removed() {
            return false;
        }
        self.collect_itself(txn.horizon);
        if self.itself.is_new(txn.at) || !txn.versioned {
            // No other transaction sees the old state.
            self.itself = Versions::default();
        }
        if present || !self.itself.is_removed() {
            self.itself.write(txn.at, !present, 1.0);
        }
        true
    }

    /// Removes versions of the vertex that no reader needs.
    pub(super) fn collect_itself(&mut self, horizon: &Horizon<'_>) {
        if self.itself.prune(horizon) == Fate::Gone {
            self.itself = Versions::default();
        }
    }

    /// Removes versions that no reader needs, and releases room.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>, weighted: bool) {
        self.collect_itself(horizon);
        self.out.collect(horizon, weighted);
        if let Some(into) = &mut self.into {
            into.collect(horizon, weighted);
        }
    }

    /// Removes versions of the neighbours in `changed`, which ascend, and other versions in the same blocks.
    /// It keeps the versions that readers need.
    pub(super) fn collect_changed(
        &mut self,
        direction: Direction,
        changed: &[VertexId],
        horizon: &Horizon<'_>,
        weighted: bool,
    ) {
        let set = match direction {
            Direction::Out => Some(&mut self.out),
            Direction::In => self.into.as_deref_mut(),
        };
        if let Some(set) = set {
            set.collect_changed(changed, horizon, weighted);
        }
    }

    /// Returns the neighbours after the last transaction.
    pub(super) fn newest_targets(&self, direction: Direction) -> Vec<VertexId> {
        self.set(direction).map_or_else(Vec::new, Set::newest_targets)
    }

    pub(super) fn bytes(&self) -> usize {
        let into = self.into.as_ref().map_or(0, |into| size_of::<Set>() + into.bytes());
        self.itself.bytes() + self.out.bytes() + into
    }
}

/// True if one of the changes can insert a neighbour.
pub(super) fn inserts(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.weight.is_some())
}

/// Prefetches a record. With its latch a record has 96 bytes, so it is on two cache lines.
#[inline]
fn prefetch_record<R>(record: &R) {
    let address = (&raw const *record).cast::<u8>();
    simd::prefetch(address);
    simd::prefetch(address.wrapping_add(size_of::<R>() - 1));
}

/// A table, as readers see it.
pub trait Table: Send + Sync + 'static {
    /// Returns a number above every id of a vertex that exists or existed.
    fn bound(&self) -> usize;
    /// Returns the result of `f` for a record, if there is one. A latch is held while `f` runs.
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T>;
    /// Returns a record for as long as the table is unchanged. Returns `None` if the table has latches.
    fn lend(&self, v: VertexId) -> Option<Option<&Record>>;
    /// Prefetches a record, if there is one.
    fn prefetch(&self, v: VertexId);
}

/// A table with a latch for each vertex. It grows in pieces, and its records do not move.
pub struct Latched {
    records: Growing<RwLock<Record>, { MOST.0 as usize + 1 }>,
    bound: AtomicUsize,
}

impl Default for Latched {
    fn default() -> Self {
        Latched { records: Growing::default(), bound: AtomicUsize::new(0) }
    }
}

impl Latched {
    /// Latches a record for writing. Makes the record if it is missing.
    pub(super) fn lock(&self, v: VertexId) -> RwLockWriteGuard<'_, Record> {
        self.records.get_or_create(v.index(), |_| {}).write()
    }

    /// Raises the bound for a vertex that a transaction makes exist, before the transaction is published.
    pub(super) fn cover(&self, v: VertexId) {
        if v.index() >= self.bound.load(Ordering::Relaxed) {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
    }

    /// Returns all records.
    pub(super) fn all(&self) -> impl Iterator<Item = &RwLock<Record>> {
        self.records.chunks().flat_map(|(_, records)| records)
    }

    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.all().map(|record| record.read().bytes()).sum::<usize>()
    }
}

impl Table for Latched {
    fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T> {
        Some(f(&self.records.get(v.index())?.read()))
    }

    #[inline]
    fn lend(&self, _v: VertexId) -> Option<Option<&Record>> {
        None
    }

    #[inline]
    fn prefetch(&self, v: VertexId) {
        if let Some(record) = self.records.get(v.index()) {
            prefetch_record(record);
        }
    }
}

/// A table without latches, for one user at a time.
#[derive(Default)]
pub struct Alone {
    pub(super) records: Vec<Record>,
    /// The timestamp of the last transaction.
    pub(super) at: u64,
    pub(super) vertices: i64,
    pub(super) edges: i64,
}

impl Table for Alone {
    fn bound(&self) -> usize {
        self.records.len()
    }

    #[inline]
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T> {
        self.records.get(v.index()).map(f)
    }

    #[inline]
    fn lend(&self, v: VertexId) -> Option<Option<&Record>> {
        Some(self.records.get(v.index()))
    }

    #[inline]
    fn prefetch(&self, v: VertexId) {
        if let Some(record) = self.records.get(v.index()) {
            prefetch_record(record);
        }
    }
}
