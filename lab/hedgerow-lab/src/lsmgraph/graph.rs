//! The graph that writers, readers and compaction share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::{Direction, VertexId};
use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::entry::{Entry, NEWEST, stamp};
use super::files::Files;
use super::memory::MemGraph;
use super::options::{LEVELS, LevelIndex, LsmGraphOptions};
use super::picks::Picks;
use super::record::{PLACES, Record, Side};
use super::segment::{Place, Reader, Segment};
use crate::change::Change;
use crate::run::{RUN, Run, with_run};
use crate::{GraphForm, LabError};

/// The data that can be read (section 4.3): memory buffers and files. A version never changes; a change makes
/// the next version.
#[derive(Clone)]
pub(super) struct Version {
    /// The buffers from new to old. Transactions write to the first one.
    pub(super) buffers: SmallVec<[Arc<MemGraph>; 3]>,
    /// The files of the first level by direction, from new to old.
    pub(super) first: [Vec<Arc<Segment>>; 2],
    /// The segments of the later levels by direction, in the order of vertices. With a multi-level index,
    /// only compaction reads them.
    pub(super) levels: [[Vec<Arc<Segment>>; LEVELS - 1]; 2],
}

impl Version {
    fn new() -> Version {
        Version {
            buffers: SmallVec::from_elem(Arc::new(MemGraph::new(1)), 1),
            first: Default::default(),
            levels: Default::default(),
        }
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = &Arc<Segment>> {
        self.first.iter().flatten().chain(self.levels.iter().flatten().flatten())
    }
}

/// The places of the list of a vertex below the memory buffers, from new to old.
pub(super) type Places = SmallVec<[Place; 4]>;

pub(super) struct Graph {
    pub(super) form: GraphForm,
    pub(super) options: LsmGraphOptions,
    pub(super) versioned: bool,
    table: Growing<RwLock<Record>, PLACES>,
    bound: AtomicUsize,
    pub(super) current: RwLock<Arc<Version>>,
    /// The lock that every writer holds for reading. So no transaction writes to a buffer that was replaced.
    pub(super) writing: RwLock<()>,
    pub(super) files: Arc<Files>,
    /// The lock of flushes and compactions, with the next picks.
    pub(super) picks: Mutex<Picks>,
}

impl Graph {
    pub(super) fn new(form: GraphForm, options: LsmGraphOptions, versioned: bool) -> Graph {
        let files = Files::new(options.directory.clone(), options.cache_bytes);
        Graph {
            form,
            options,
            versioned,
            table: Growing::default(),
            bound: AtomicUsize::new(0),
            current: RwLock::new(Arc::new(Version::new())),
            writing: RwLock::new(()),
            files: Arc::new(files),
            picks: Mutex::default(),
        }
    }

    /// Returns a record. Makes it if it is missing.
    pub(super) fn record(&self, v: VertexId) -> &RwLock<Record> {
        self.table.get_or_create(v.index(), |_| {})
    }

    /// Returns a record, if there is one.
    #[inline]
    pub(super) fn known(&self, v: VertexId) -> Option<&RwLock<Record>> {
        self.table.get(v.index())
    }

    /// Returns all records.
    pub(super) fn records(&self) -> impl Iterator<Item = &RwLock<Record>> {
        self.table.chunks().flat_map(|(_, records)| records)
    }

    /// Raises the bound for a vertex that a transaction makes exist, before the transaction is published.
    pub(super) fn cover(&self, v: VertexId) {
        if v.index() >= self.bound.load(Ordering::Relaxed) {
            self.bound.fetch_max(v.index() + 1, Ordering::Relaxed);
        }
    }

    pub(super) fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    pub(super) fn version(&self) -> Arc<Version> {
        self.current.read().clone()
    }

    /// Makes the next version.
    pub(super) fn publish(&self, change: impl FnOnce(&mut Version)) {
        let mut current = self.current.write();
        let mut next = Version::clone(&current);
        change(&mut next);
        *current = Arc::new(next);
    }

    /// Calls `f` with each segment where `v` has edges, and with its list there, from new to old. Stops when
    /// `f` returns an answer.
    fn in_files<T>(
        &self,
        version: &Version,
        side: &Side,
        (v, direction): (VertexId, Direction),
        mut f: impl FnMut(&Arc<Segment>, u32, u32) -> Result<Option<T>, LabError>,
    ) -> Result<Option<T>, LabError> {
        let mut ask = |segment: &Arc<Segment>| match segment.list(v) {
            Some(list) => f(segment, list.start, list.end - list.start),
            None => Ok(None),
        };
        for segment in version.first[direction as usize].iter().filter(|s| s.order >= side.floor) {
            if let Some(answer) = ask(segment)? {
                return Ok(Some(answer));
            }
        }
        if !self.options.is_indexed() {
            for level in &version.levels[direction as usize] {
                let place = level.partition_point(|segment| segment.greatest < v);
                let Some(segment) = level.get(place).filter(|segment| segment.least <= v) else { continue };
                let asks_filter = self.options.level_index == LevelIndex::BloomFilters;
                let filter = segment.filter.as_ref().filter(|_| asks_filter);
                if filter.is_none_or(|filter| filter.may_have_vertex(v))
                    && let Some(answer) = ask(segment)?
                {
                    return Ok(Some(answer));
                }
            }
        }
        for place in &side.places {
            if let Some(answer) = f(&place.segment, place.start, place.len)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Returns the version of an edge that a reader at `at` sees. The caller holds the lock of `v`.
    pub(super) fn find(
        &self,
        version: &Version,
        side: &Side,
        (v, direction): (VertexId, Direction),
        target: VertexId,
        at: u64,
    ) -> Result<Option<Entry>, LabError> {
        self.find_below(0, version, side, (v, direction), target, at)
    }

    /// Searches as [`find`](Self::find) does, without the `skipped` newest buffers.
    #[inline]
    fn find_below(
        &self,
        skipped: usize,
        version: &Version,
        side: &Side,
        (v, direction): (VertexId, Direction),
        target: VertexId,
        at: u64,
    ) -> Result<Option<Entry>, LabError> {
        for buffer in version.buffers.iter().skip(skipped).filter(|buffer| buffer.order >= side.floor) {
            let list = buffer.list(v, direction);
            if let Some(entry) = list.and_then(|list| list.read().find(target, at)) {
                return Ok(Some(entry));
            }
        }
        self.in_files(version, side, (v, direction), |segment, start, len| {
            match segment.may_have(v, target) {
                true => Reader::new(segment, at).find(start..start + len, target, at),
                false => Ok(None),
            }
        })
    }

    /// Returns the places of the list of a vertex in files. The caller holds the lock of the vertex.
    pub(super) fn places(&self, version: &Version, side: &Side, of: (VertexId, Direction)) -> Places {
        let mut places = Places::new();
        // This call fails only if the closure fails, which never happens.
        let _ = self.in_files::<()>(version, side, of, |segment, start, len| {
            places.push(Place { segment: segment.clone(), start, len });
            Ok(None)
        });
        places
    }

    /// Fills `run` with at most `most` neighbours of `v` at `at`, from `from` on. Returns the next neighbour.
    pub(super) fn fill<const WEIGHTS: bool>(
        &self,
        (version, floor, places): (&Version, u32, &Places),
        of: (VertexId, Direction),
        (from, at): (VertexId, u64),
        most: usize,
        run: &mut Run,
    ) -> Result<Option<VertexId>, LabError> {
        run.clear();
        let buffers = version.buffers.iter().filter(|buffer| buffer.order >= floor);
        let mut cursors: SmallVec<[Cursor<'_, WEIGHTS>; 6]> =
            buffers.filter_map(|buffer| Some(Cursor::buffer(buffer.list(of.0, of.1)?, from))).collect();
        for place in places {
            cursors.push(Cursor::file(place, from, at)?);
        }
        Cursor::merge(&mut cursors, at, most.min(RUN), run)
    }

    /// Returns the neighbours after the last transaction. The caller holds the lock of the vertex.
    pub(super) fn newest_targets(
        &self,
        version: &Version,
        side: &Side,
        of: (VertexId, Direction),
    ) -> Result<Vec<VertexId>, LabError> {
        let places = self.places(version, side, of);
        let mut targets = Vec::new();
        with_run(|run| {
            let mut from = Some(VertexId(0));
            while let Some(first) = from {
                from = self.fill::<false>((version, side.floor, &places), of, (first, NEWEST), RUN, run)?;
                targets.extend_from_slice(run.targets());
            }
            Ok(targets)
        })
    }

    /// Makes changes of a list at `at`. The changes are in ascending order. The caller holds the lock of the
    /// vertex for writing. Returns the increase of the number of neighbours, and whether anything is
    /// different.
    pub(super) fn change(
        &self,
        version: &Version,
        record: &mut Record,
        of: (VertexId, Direction),
        changes: &[Change],
        at: u64,
    ) -> Result<(i64, bool), LabError> {
        let (mut more, mut changed) = (0, false);
        if record.side(of.1).is_none() && changes.iter().all(|change| change.weight.is_none()) {
            return Ok((0, false));
        }
        let side = record.side_mut(of.1);
        for change in changes {
            let removed = change.weight.is_none();
            let mut was = None;
            let decide = |found: Option<&Entry>| {
                let newest = match found {
                    Some(found) => Some(*found),
                    None => self.find_below(1, version, side, of, change.target, NEWEST)?,
                };
                was = newest.and_then(Entry::live);
                let is_same = match (was, change.weight) {
                    (None, None) => true,
                    (Some(was), Some(weight)) => !self.form.weighted || was == weight,
                    _ => false,
                };
                let (target, weight) = (change.target, change.weight.unwrap_or(0.0));
                Ok((!is_same).then_some(Entry { target, stamp: stamp(at, removed), weight }))
            };
            let (cache, buffer) = (self.options.memory_cache, &version.buffers[0]);
            if !buffer.update(of, change.target, cache, self.versioned, decide)? {
                continue;
            }
            let now = i64::from(!removed) - i64::from(was.is_some());
            more += now;
            side.degree = side.degree.wrapping_add_signed(now as i32);
            side.changed = at;
            changed = true;
        }
        Ok((more, changed))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let version = self.version();
        let records: usize = self.records().map(|record| record.read().bytes()).sum();
        let buffers: usize = version.buffers.iter().map(|buffer| buffer.bytes()).sum();
        let segments: usize = version.segments().map(|segment| segment.bytes()).sum();
        self.table.bytes() + records + buffers + segments + self.files.memory_bytes()
    }
}
