//! The adjacency index: one record for each vertex, behind a latch or not.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::{RwLock, RwLockWriteGuard};

use super::set::Set;
use super::transaction::Transaction;
use super::versions::{Fate, Horizon, Versions};
use crate::change::{Change, Effect};

/// The largest id: a table for more would have a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// A vertex and its neighbours.
#[derive(Default)]
pub struct Record {
    itself: Versions,
    out: Set,
    /// Of a directed graph, once an edge leads here.
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
            Direction::Out => &mut self.out,
            Direction::In => self.into.get_or_insert_default(),
        };
        set.apply(changes, txn)
    }

    #[inline]
    pub(super) fn is_present(&self, at: u64) -> bool {
        self.itself.visible(at, 1.0).is_some()
    }

    /// Makes the vertex exist, or not. Returns whether that changed anything.
    pub(super) fn set_present(&mut self, present: bool, txn: &Transaction<'_>) -> bool {
        if present != self.itself.is_removed() {
            return false;
        }
        self.collect_itself(txn.horizon);
        if self.itself.is_new(txn.at) || !txn.versioned {
            // Nobody else has seen it.
            self.itself = Versions::default();
        }
        if present || !self.itself.is_removed() {
            self.itself.write(txn.at, !present, 1.0);
        }
        true
    }

    fn collect_itself(&mut self, horizon: &Horizon<'_>) {
        if self.itself.prune(horizon) == Fate::Gone {
            self.itself = Versions::default();
        }
    }

    /// Gives up versions that no reader needs, and room.
    pub(super) fn collect(&mut self, horizon: &Horizon<'_>, weighted: bool) {
        self.collect_itself(horizon);
        self.out.collect(horizon, weighted);
        if let Some(into) = &mut self.into {
            into.collect(horizon, weighted);
        }
    }

    /// The neighbours after the last transaction.
    pub(super) fn newest_targets(&self, direction: Direction) -> Vec<VertexId> {
        self.set(direction).map_or_else(Vec::new, Set::newest_targets)
    }

    pub(super) fn bytes(&self) -> usize {
        let into = self.into.as_ref().map_or(0, |into| size_of::<Set>() + into.bytes());
        self.itself.bytes() + self.out.bytes() + into
    }
}

/// A table as readers see it.
pub trait Table: Send + Sync + 'static {
    /// More than every id that has a record.
    fn bound(&self) -> usize;
    /// What `f` makes of a record, if there is one. A latch is held for as long as `f` runs.
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T>;
    /// A record, for as long as the table is unchanged; none where there are latches.
    fn lend(&self, v: VertexId) -> Option<Option<&Record>>;
}

/// A table with a latch for each vertex, which grows in pieces without moving.
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
    /// Latches a record for writing, which is made if need be.
    pub(super) fn lock(&self, v: VertexId) -> RwLockWriteGuard<'_, Record> {
        let record = self.records.get_or_create(v.index(), |_| {});
        if v.index() >= self.bound.load(Ordering::Relaxed) {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
        record.write()
    }

    /// All records.
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
}

/// A table without latches, for one user at a time.
#[derive(Default)]
pub struct Alone {
    pub(super) records: Vec<Record>,
    /// The last transaction.
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
}
