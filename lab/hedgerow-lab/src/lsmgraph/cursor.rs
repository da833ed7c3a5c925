//! The reading of a list that is in several places. Each place is read in order, and the newest version of
//! each neighbour counts.

use hedgerow_core::VertexId;
use parking_lot::{RwLock, RwLockReadGuard};

use super::entry::{Entry, begin};
use super::memory::MemList;
use super::segment::{Place, Reader};
use crate::LabError;
use crate::run::Run;

/// The number of cache lines of a list in a buffer to prefetch when a read begins. Some kernels stop early.
const FIRST_LINES: usize = 256;
/// The number of cache lines to prefetch when a read continues.
const LINES: usize = 4096;

enum Source<'a> {
    Buffer(RwLockReadGuard<'a, MemList>),
    File(Reader<'a>, u32),
}

/// A place of a list, and the position of the read in it.
pub(super) struct Cursor<'a, const WEIGHTS: bool> {
    source: Source<'a>,
    position: u32,
    last: Option<VertexId>,
    head: Option<Entry>,
}

impl<'a, const WEIGHTS: bool> Cursor<'a, WEIGHTS> {
    /// Makes a cursor in a memory buffer. It holds the lock of the list as long as it exists.
    pub(super) fn buffer(list: &'a RwLock<MemList>, from: VertexId) -> Self {
        let list = list.read();
        list.prefetch(if from == VertexId(0) { FIRST_LINES } else { LINES });
        let position = list.seek(from);
        Cursor { source: Source::Buffer(list), position, last: None, head: None }
    }

    /// Makes a cursor in a file, for a reader at `at`.
    pub(super) fn file(place: &'a Place, from: VertexId, at: u64) -> Result<Self, LabError> {
        let mut reader = Reader::new(&place.segment, at);
        let end = place.start + place.len;
        let position = match from {
            VertexId(0) => place.start,
            _ => reader.lower_bound(place.start..end, from)?,
        };
        Ok(Cursor { source: Source::File(reader, end), position, last: None, head: None })
    }

    /// Returns the version at `at` of the next target that has one.
    #[inline]
    fn next(&mut self, at: u64) -> Result<Option<Entry>, LabError> {
        match &mut self.source {
            Source::Buffer(list) => {
                while let Some((entry, next)) = list.get(self.position) {
                    self.position = next;
                    if begin(entry.stamp) <= at && self.last != Some(entry.target) {
                        self.last = Some(entry.target);
                        return Ok(Some(*entry));
                    }
                }
            }
            Source::File(reader, end) => {
                while self.position < *end {
                    let i = self.position;
                    self.position += 1;
                    let (target, stamp) = (reader.target(i)?, reader.stamp(i)?);
                    if begin(stamp) <= at && self.last != Some(target) {
                        self.last = Some(target);
                        let weight = if WEIGHTS { reader.weight(i)? } else { 0.0 };
                        return Ok(Some(Entry { target, stamp, weight }));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Appends the neighbours of all places, which go from new to old, until there are `most`. Returns the
    /// neighbour at which to continue, if there are more.
    pub(super) fn merge(
        cursors: &mut [Self],
        at: u64,
        most: usize,
        run: &mut Run,
    ) -> Result<Option<VertexId>, LabError> {
        if let [only] = cursors {
            return only.copy(at, most, run);
        }
        for cursor in cursors.iter_mut() {
            cursor.head = cursor.next(at)?;
        }
        while let Some(target) = cursors.iter().filter_map(|cursor| Some(cursor.head?.target)).min() {
            if run.len == most {
                return Ok(Some(target));
            }
            let mut newest: Option<Entry> = None;
            for cursor in cursors.iter_mut() {
                if let Some(head) = cursor.head.filter(|head| head.target == target) {
                    newest.get_or_insert(head);
                    cursor.head = cursor.next(at)?;
                }
            }
            if let Some(weight) = newest.and_then(Entry::live) {
                run.push(target, weight);
            }
        }
        Ok(None)
    }

    /// Merges as [`merge`](Self::merge) does, with a single place.
    fn copy(&mut self, at: u64, most: usize, run: &mut Run) -> Result<Option<VertexId>, LabError> {
        while let Some(entry) = self.next(at)? {
            if run.len == most {
                return Ok(Some(entry.target));
            }
            if let Some(weight) = entry.live() {
                run.push(entry.target, weight);
            }
        }
        Ok(None)
    }
}
