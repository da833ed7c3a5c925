//! The vertex table: one record for each vertex, behind a lock or not.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::{RwLock, RwLockWriteGuard};

use super::list::List;
use crate::change::Change;

/// The largest id. A table for larger ids would have a chunk directory of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// The lists of one vertex.
#[derive(Debug, Default)]
pub struct Record<L> {
    out: L,
    /// The incoming list of a directed graph; made with the first edge to this vertex.
    into: Option<Box<L>>,
}

impl<L: List> Record<L> {
    pub(super) fn list(&self, direction: Direction) -> Option<&L> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.into.as_deref(),
        }
    }

    pub(super) fn list_mut(&mut self, direction: Direction) -> &mut L {
        match direction {
            Direction::Out => &mut self.out,
            Direction::In => self.into.get_or_insert_default(),
        }
    }

    /// Returns the list for the changes. Makes a missing list if a change inserts a neighbour, else returns
    /// none.
    pub(super) fn list_for(&mut self, direction: Direction, changes: &[Change]) -> Option<&mut L> {
        let inserts = changes.iter().any(|change| change.weight.is_some());
        match direction {
            Direction::In if !inserts => self.into.as_deref_mut(),
            _ => Some(self.list_mut(direction)),
        }
    }

    /// Returns the outgoing list, and the incoming list if it exists.
    pub(super) fn lists_mut(&mut self) -> impl Iterator<Item = &mut L> {
        std::iter::once(&mut self.out).chain(self.into.as_deref_mut())
    }

    pub(super) fn bytes(&self) -> usize {
        self.out.bytes() + self.into.as_ref().map_or(0, |into| size_of::<L>() + into.bytes())
    }
}

/// The vertex table as readers see it.
pub trait Records: Send + Sync + 'static {
    /// The form of the lists.
    type List: List;

    /// Returns a number above the id of every vertex that exists or existed.
    fn bound(&self) -> usize;
    /// Calls `f` with a record, if it exists. Returns the result of `f`. A lock is held while `f` runs, if
    /// the table has locks.
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record<Self::List>) -> T) -> Option<T>;
    /// Returns a list, valid while the table is unchanged; none if the list has a lock or versions.
    fn whole(&self, v: VertexId, direction: Direction) -> Option<(&[VertexId], &[f64])>;
}

/// A table with a lock for each vertex. It grows without moving its records.
pub struct Shared<L> {
    records: Growing<RwLock<Record<L>>, { MOST.0 as usize + 1 }>,
    bound: AtomicUsize,
}

impl<L: List> Default for Shared<L> {
    fn default() -> Self {
        Shared { records: Growing::default(), bound: AtomicUsize::new(0) }
    }
}

impl<L: List> Shared<L> {
    /// Locks a record for writing. Makes a missing record.
    pub(super) fn lock(&self, v: VertexId) -> RwLockWriteGuard<'_, Record<L>> {
        self.records.get_or_create(v.index(), |_| {}).write()
    }

    /// Raises the bound for a vertex that a transaction inserts. Called before the transaction is published.
    pub(super) fn cover(&self, v: VertexId) {
        if v.index() >= self.bound.load(Ordering::Relaxed) {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
    }

    /// Returns all records.
    pub(super) fn all(&self) -> impl Iterator<Item = &RwLock<Record<L>>> {
        self.records.chunks().flat_map(|(_, records)| records)
    }

    pub(super) fn bytes(&self) -> usize {
        self.records.bytes() + self.all().map(|record| record.read().bytes()).sum::<usize>()
    }
}

impl<L: List> Records for Shared<L> {
    type List = L;

    fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    #[inline]
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record<L>) -> T) -> Option<T> {
        Some(f(&self.records.get(v.index())?.read()))
    }

    #[inline]
    fn whole(&self, _v: VertexId, _direction: Direction) -> Option<(&[VertexId], &[f64])> {
        None
    }
}

/// A table without locks, for one user at a time.
#[derive(Debug, Default)]
pub struct Alone<L> {
    pub(super) records: Vec<Record<L>>,
    /// The timestamp of the last transaction.
    pub(super) at: u64,
    pub(super) vertices: i64,
    pub(super) edges: i64,
}

impl<L: List> Records for Alone<L> {
    type List = L;

    fn bound(&self) -> usize {
        self.records.len()
    }

    #[inline]
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record<L>) -> T) -> Option<T> {
        self.records.get(v.index()).map(f)
    }

    #[inline]
    fn whole(&self, v: VertexId, direction: Direction) -> Option<(&[VertexId], &[f64])> {
        match self.records.get(v.index()).and_then(|record| record.list(direction)) {
            Some(list) => list.as_slices(),
            None if L::VERSIONED => None,
            None => Some((&[], &[])),
        }
    }
}
