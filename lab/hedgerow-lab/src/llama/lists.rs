//! The multi-level CSR of one direction: a vertex table, and the levels with the fragments of its lists.

use std::ops::ControlFlow;
use std::sync::Arc;

use hedgerow_core::VertexId;

use super::level::Level;
use super::options::Shape;
use super::record::{Fragment, Record};
use super::table::Table;
use crate::run::{FIRST_RUN, RUN, with_run};

/// The lists of all vertices in one direction. A clone copies the indirection table and the list of levels,
/// and shares everything else.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    pub(super) table: Table,
    /// The levels, from old to new.
    pub(super) levels: Vec<Arc<Level>>,
}

/// An entry in the edge table of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    level: usize,
    at: usize,
}

/// The fragments of a list, from new to old.
struct Fragments<'a> {
    levels: &'a [Arc<Level>],
    next: Fragment,
}

impl<'a> Iterator for Fragments<'a> {
    type Item = (&'a Level, Fragment);

    #[inline]
    fn next(&mut self) -> Option<(&'a Level, Fragment)> {
        if self.next.is_none() {
            return None;
        }
        let fragment = self.next;
        let level = &*self.levels[fragment.level()];
        self.next = level.rest(fragment);
        Some((level, fragment))
    }
}

impl Lists {
    pub(super) fn new(shape: &Shape) -> Lists {
        Lists { table: Table::new(shape.paging), levels: Vec::new() }
    }

    #[inline]
    pub(super) fn record(&self, v: VertexId) -> Record {
        self.table.get(v).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn fragments(&self, newest: Fragment) -> impl Iterator<Item = (&Level, Fragment)> {
        Fragments { levels: &self.levels, next: newest }
    }

    /// Returns the place of a target in the list of this record, if the snapshot of an epoch sees the entry.
    /// The newest entry of a target decides, because an older entry was removed before the newer one was
    /// inserted.
    #[inline]
    pub(super) fn find(&self, record: &Record, target: VertexId, epoch: u32) -> Option<Place> {
        let find = |(level, fragment): (&Level, Fragment)| Some((fragment, level.find(fragment, target)?));
        let (fragment, at) = self.fragments(record.newest()).find_map(find)?;
        let level = fragment.level();
        let is_seen = !record.is_marked() || !self.levels[level].is_removed(at, epoch);
        is_seen.then_some(Place { level, at })
    }

    #[inline]
    pub(super) fn weight(&self, place: Place) -> f64 {
        self.levels[place.level].weight(place.at)
    }

    /// Removes an entry from the snapshots of this epoch and of later epochs.
    pub(super) fn mark(&self, place: Place, epoch: u32) {
        self.levels[place.level].mark(place.at, epoch);
    }

    /// Returns the first fragment, if it is the whole list in ascending order.
    #[inline]
    pub(super) fn whole(&self, record: &Record) -> Option<&[VertexId]> {
        let newest = record.newest();
        if newest.is_none() {
            return Some(&[]);
        }
        let level = &self.levels[newest.level()];
        let is_whole = !newest.continues() && !record.is_marked() && level.is_sorted();
        is_whole.then(|| level.targets(newest))
    }

    /// Returns the first fragment, if it is in ascending order and the list has no removed entries.
    #[inline]
    pub(super) fn first(&self, record: &Record) -> Option<&[VertexId]> {
        let newest = record.newest();
        if newest.is_none() || record.is_marked() {
            return None;
        }
        let level = &self.levels[newest.level()];
        level.is_sorted().then(|| level.targets(newest))
    }

    /// Calls `f` with the neighbours that the snapshot of an epoch sees in the list of this record. `f` gets
    /// them in one or more runs, until it breaks. If the list has no removed entries, the runs are its
    /// fragments, without a copy.
    #[inline]
    pub(super) fn runs<const WEIGHTS: bool>(
        &self,
        record: &Record,
        epoch: u32,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if record.newest().is_none() {
            return f(&[], &[]);
        }
        if record.is_marked() {
            return self.copied_runs::<WEIGHTS>(record, epoch, &mut f);
        }
        for (level, fragment) in self.fragments(record.newest()) {
            f(level.targets(fragment), if WEIGHTS { level.weights(fragment) } else { &[] })?;
        }
        ControlFlow::Continue(())
    }

    /// Calls `f` like [`runs`](Self::runs), with copies of the visible entries.
    fn copied_runs<const WEIGHTS: bool>(
        &self,
        record: &Record,
        epoch: u32,
        f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        with_run(|run| {
            let mut most = FIRST_RUN;
            for (level, fragment) in self.fragments(record.newest()) {
                let mut places = fragment.range();
                while !places.is_empty() {
                    let end = places.end.min(places.start + most);
                    run.clear();
                    level.for_each_piece(places.start..end, epoch, |targets, weights| {
                        run.extend(targets, if WEIGHTS { weights } else { &[] });
                    });
                    let has_weights = WEIGHTS && !level.weights(fragment).is_empty();
                    f(run.targets(), if has_weights { run.weights() } else { &[] })?;
                    places.start = end;
                    most = RUN;
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// Returns the neighbours that the snapshot of an epoch sees in the list of this record.
    pub(super) fn targets(&self, record: &Record, epoch: u32) -> Vec<VertexId> {
        let mut targets = Vec::with_capacity(record.degree());
        for (level, fragment) in self.fragments(record.newest()) {
            level.for_each_piece(fragment.range(), epoch, |piece, _| targets.extend_from_slice(piece));
        }
        targets
    }

    /// Returns the number of bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        let counts = 2 * size_of::<usize>();
        let levels = self.levels.iter().map(|level| counts + level.bytes()).sum::<usize>();
        self.table.bytes() + self.levels.capacity() * size_of::<Arc<Level>>() + levels
    }
}
