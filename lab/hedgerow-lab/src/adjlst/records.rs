//! The vertex table: one record for each vertex, behind a lock or not.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::{RwLock, RwLockWriteGuard};

use super::list::List;
use crate::change::Change;

/// The largest id: a table for more would have a directory of its chunks of more than 2 MB.
pub(super) const MOST: VertexId = VertexId((1 << 28) - 1);

/// The lists of one vertex.
#[derive(Debug, Default)]
pub struct Record<L> {
    out: L,
    /// Of a directed graph, once an edge leads here.
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

    /// A list for changes, which is made if need be; none where there is none and nothing is inserted.
    pub(super) fn list_for(&mut self, direction: Direction, changes: &[Change]) -> Option<&mut L> {
        let inserts = changes.iter().any(|change| change.weight.is_some());
        match direction {
            Direction::In if !inserts => self.into.as_deref_mut(),
            _ => Some(self.list_mut(direction)),
        }
    }

    /// Both lists that there are.
    pub(super) fn lists_mut(&mut self) -> impl Iterator<Item = &mut L> {
        std::iter::once(&mut self.out).chain(self.into.as_deref_mut())
    }

    pub(super) fn bytes(&self) -> usize {
        self.out.bytes() + self.into.as_ref().map_or(0, |into| size_of::<L>() + into.bytes())
    }
}

/// A vertex table as readers see it.
pub trait Records: Send + Sync + 'static {
    /// The form of the lists.
    type List: List;

    /// More than every id of a vertex that exists, or did.
    fn bound(&self) -> usize;
    /// What `f` makes of a record, if there is one. A lock is held for as long as `f` runs.
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record<Self::List>) -> T) -> Option<T>;
    /// A list, for as long as the table is unchanged; none where a lock or versions stand before it.
    fn whole(&self, v: VertexId, direction: Direction) -> Option<(&[VertexId], &[f64])>;
}

/// A table with a lock for each vertex, which grows without moving.
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
    /// Locks a record for writing, which is made if need be.
    pub(super) fn lock(&self, v: VertexId) -> RwLockWriteGuard<'_, Record<L>> {
        self.records.get_or_create(v.index(), |_| {}).write()
    }

    /// Raises the bound for a vertex that a transaction makes exist, before that is published.
    pub(super) fn cover(&self, v: VertexId) {
        if v.index() >= self.bound.load(Ordering::Relaxed) {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
    }

    /// All records.
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
    /// The last transaction.
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
