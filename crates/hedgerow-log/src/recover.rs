//! Recovery: reads the log, and distinguishes a torn tail from damage.
//!
//! The rule (`docs/format/log.md`): the log ends at the first record that is not valid, unless a witness
//! states that the log was durable beyond that position. In that case the log is damaged, and nothing is
//! opened. Witnesses are the manifest, seals, and the frame of any later record. Each states how far the log
//! was durable when the witness was written.

mod damaged;
mod found;
mod remains;
mod scan;
mod window;

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::{Corruption, CorruptionKind, Dir, FileError, FileId, IoError, Lsn, StoreId, Vfs};

use crate::ops::Ops;
use crate::segment::{DATA_START, parse_segment_name, segment_name};

pub use damaged::{LogFinding, read_damaged};
pub(crate) use scan::{Cursor, End, SegmentScan, Step};

/// The manifest's statements about the log.
#[derive(Clone, Copy, Debug)]
pub struct Witness<'a> {
    /// The store's identity.
    pub store: StoreId,
    /// The log segments that the manifest names, in order; at least one.
    pub live: &'a [FileId],
    /// The position that was durable when the manifest was written.
    pub durable: Lsn,
}

/// The error of a log that could not be read. Nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecoverError<E> {
    /// A file could not be read, is damaged, or does not belong to this store.
    #[error(transparent)]
    File(#[from] FileError),
    /// The visitor refused a commit.
    #[error("{file}, commit {ts} at byte {offset}: {error}")]
    Visitor {
        /// The log segment's name.
        file: String,
        /// The position of the record in that segment.
        offset: u64,
        /// The commit.
        ts: Timestamp,
        /// The visitor's error.
        error: E,
    },
}

impl<E> From<Corruption> for RecoverError<E> {
    fn from(corruption: Corruption) -> Self {
        RecoverError::File(corruption.into())
    }
}

impl<E> From<IoError> for RecoverError<E> {
    fn from(error: IoError) -> Self {
        RecoverError::File(error.into())
    }
}

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The log ends with a closing seal.
    Closed,
    /// The log ends without a seal, right after a record: a crash that left no torn record.
    Open,
    /// The log ends without a seal, and unusable bytes follow the last record; these bytes are ignored.
    Torn {
        /// The log segment.
        file: String,
        /// The position of the unusable bytes.
        offset: u64,
        /// The number of ignored bytes, up to the last one that is not zero.
        bytes_cut: u64,
    },
}

/// A segment that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSegment {
    pub(crate) id: FileId,
    pub(crate) start: Cursor,
    /// The position where the next segment has to begin.
    pub(crate) end: Cursor,
    /// The position in the file after the last commit.
    pub(crate) commits_end: u64,
    pub(crate) records: u64,
    pub(crate) kind: End,
}

/// The log of a store, read and found sound. [`resume`](Recovered::resume) makes it writable.
#[derive(Debug)]
pub struct Recovered {
    /// The number of accepted commits.
    pub commits: u64,
    /// The timestamp of the last accepted commit, or of the last commit before the segments that were read.
    pub last_ts: Timestamp,
    /// The end of the log.
    pub tail: Tail,
    /// The position that is proved durable.
    pub durable: Lsn,
    /// Log segments in the directory that belong to another store or a later version; recovery does not touch
    /// them.
    pub foreign: Vec<String>,
    pub(crate) dir: Dir,
    pub(crate) store: StoreId,
    pub(crate) segments: Vec<ReadSegment>,
    /// Log segments of this store that neither the manifest nor a seal names.
    pub(crate) strays: Vec<FileId>,
    /// The next unused segment number.
    pub(crate) next_id: FileId,
}

impl Recovered {
    /// Returns the segments that were read, in order, each with the position of its first record.
    pub fn segments(&self) -> impl Iterator<Item = (FileId, Lsn)> {
        self.segments.iter().map(|segment| (segment.id, segment.start.lsn))
    }
}

/// The place of a commit in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitPlace {
    /// The commit.
    pub ts: Timestamp,
    /// The log segment.
    pub segment: FileId,
    /// The position of the record in that segment, in bytes.
    pub offset: u64,
}

/// Like [`recover_commits`], but for a visitor that does not need the position of a commit.
///
/// # Errors
/// The errors of [`recover_commits`].
pub fn recover<E>(
    fs: Arc<dyn Vfs>,
    witness: Witness<'_>,
    mut visitor: impl FnMut(Timestamp, Ops<'_>) -> Result<(), E>,
) -> Result<Recovered, RecoverError<E>> {
    recover_commits(fs, witness, |commit, ops| visitor(commit.ts, ops))
}

/// Reads the log segments that the manifest names, and those to which the last one leads. Passes each commit
/// to `visitor`, in timestamp order. Changes nothing. Reads every segment once, with the unused rest of the
/// last one.
///
/// # Errors
/// If a file cannot be read, the log is damaged, or `visitor` refuses a commit. The caller must then discard
/// the commits that it received.
pub fn recover_commits<E>(
    fs: Arc<dyn Vfs>,
    witness: Witness<'_>,
    visitor: impl FnMut(CommitPlace, Ops<'_>) -> Result<(), E>,
) -> Result<Recovered, RecoverError<E>> {
    let dir = Dir::new(fs);
    let mut on_disk = BTreeSet::new();
    on_disk.extend(dir.list()?.iter().filter_map(|name| parse_segment_name(name)));
    let mut recovery = Recovery {
        dir: &dir,
        store: witness.store,
        visitor,
        segments: Vec::new(),
        commits: 0,
        durable: witness.durable,
        rest: None,
    };
    recovery.read_all(witness.live)?;
    let (strays, foreign) = recovery.look_at_strays(&on_disk)?;
    let tail = recovery.judge_end()?;
    let Recovery { segments, commits, durable, .. } = recovery;
    let named = segments.iter().map(|s| match s.kind {
        End::Rotated(next) => next.max(s.id),
        _ => s.id,
    });
    let largest = named.chain(on_disk.iter().copied()).chain(witness.live.iter().copied()).max();
    let next_id = largest.unwrap_or_default().0.checked_add(1).map(FileId).ok_or_else(|| {
        let kind = CorruptionKind::Invalid("no segment numbers are left");
        Corruption::new(segment_name(FileId(u64::MAX)), 0, kind)
    })?;
    let last_ts = segments.last().map_or(Timestamp::ZERO, |s| s.end.last_ts);
    let store = witness.store;
    Ok(Recovered { commits, last_ts, tail, durable, foreign, dir, store, segments, strays, next_id })
}

struct Recovery<'d, V> {
    dir: &'d Dir,
    store: StoreId,
    visitor: V,
    segments: Vec<ReadSegment>,
    commits: u64,
    /// The largest position that a witness so far states as durable.
    durable: Lsn,
    /// The bytes behind the last record of the last segment.
    rest: Option<scan::Rest>,
}

impl<V> Recovery<'_, V> {
    fn read_all<E>(&mut self, live: &[FileId]) -> Result<(), RecoverError<E>>
    where
        V: FnMut(CommitPlace, Ops<'_>) -> Result<(), E>,
    {
        if live.is_empty() {
            let kind = CorruptionKind::Invalid("the manifest names no log segment");
            return Err(Corruption::new("manifest", 0, kind).into());
        }
        for &id in live {
            self.read_segment(id)?;
        }
        while let Some(&ReadSegment { kind: End::Rotated(next), .. }) = self.segments.last() {
            self.read_segment(next)?;
        }
        Ok(())
    }

    fn read_segment<E>(&mut self, id: FileId) -> Result<(), RecoverError<E>>
    where
        V: FnMut(CommitPlace, Ops<'_>) -> Result<(), E>,
    {
        let mut scan = SegmentScan::open(self.dir, self.store, id)?;
        if let Some(before) = self.segments.last() {
            self.check_joint(before, &scan)?;
        }
        let start = scan.cursor();
        let kind = loop {
            let offset = scan.offset();
            match scan.step()? {
                Step::Commit(commit) => {
                    self.durable = self.durable.max(commit.durable);
                    self.commits += 1;
                    let ts = commit.ts;
                    let ops = Ops::new(commit.payload)
                        .map_err(|kind| Corruption::new(segment_name(id), offset, kind))?;
                    (self.visitor)(CommitPlace { ts, segment: id, offset }, ops).map_err(|error| {
                        RecoverError::Visitor { file: segment_name(id), offset, ts, error }
                    })?;
                }
                Step::End(kind) => break kind,
            }
        };
        self.durable = self.durable.max(scan.sealed_durable());
        let read = ReadSegment {
            id,
            start,
            end: scan.cursor(),
            commits_end: scan.commits_end(),
            records: scan.records(),
            kind,
        };
        self.segments.push(read);
        self.rest = match kind {
            End::Open => Some(scan.rest()?),
            _ => None,
        };
        Ok(())
    }

    /// Checks that a segment begins exactly where the one before it ends.
    fn check_joint(&self, before: &ReadSegment, next: &SegmentScan) -> Result<(), Corruption> {
        let (end, start) = (before.end, next.cursor());
        if end.lsn < start.lsn {
            // The log names the next segment only after all records before it are durable.
            let kind = CorruptionKind::DurableRecordLost { durable_lsn: start.lsn.0 };
            return Err(Corruption::new(segment_name(before.id), before.commits_end, kind));
        }
        let differs = |what, expected, found| {
            let kind = CorruptionKind::Mismatch { what, expected, found };
            Err(Corruption::new(segment_name(next.id()), 0, kind))
        };
        if end.lsn != start.lsn {
            return differs("first log position", end.lsn.0, start.lsn.0);
        }
        if end.chain != start.chain {
            return differs("checksum of the previous record", end.chain, start.chain);
        }
        if next.previous_segment() != before.id {
            return differs("number of the previous segment", before.id.0, next.previous_segment().0);
        }
        if end.last_ts != start.last_ts {
            return differs("last timestamp of the previous segment", end.last_ts.0, start.last_ts.0);
        }
        Ok(())
    }

    /// Lists the log segments that nothing names, which an interrupted rotation, recovery or checkpoint left
    /// behind. Later ones can still be witnesses, if the seal that led to them is damaged.
    fn look_at_strays<E>(
        &mut self,
        on_disk: &BTreeSet<FileId>,
    ) -> Result<(Vec<FileId>, Vec<String>), RecoverError<E>> {
        let last = self.segments.last().map_or(FileId(0), |s| s.id);
        let (mut strays, mut foreign) = (Vec::new(), Vec::new());
        for &id in on_disk {
            if self.segments.iter().any(|s| s.id == id) {
                continue;
            }
            match SegmentScan::open(self.dir, self.store, id) {
                Ok(mut scan) => {
                    strays.push(id);
                    if id > last {
                        self.durable = self.durable.max(scan.rest()?.durable);
                    }
                }
                // The file was not complete when the power failed.
                Err(FileError::Corruption(_)) => strays.push(id),
                Err(FileError::Format { error, .. }) if was_never_headed(&error) => strays.push(id),
                Err(FileError::Format { file, .. }) => foreign.push(file),
                Err(e) => return Err(e.into()),
            }
        }
        Ok((strays, foreign))
    }

    /// Returns the end of the log. Fails with damage if a witness states that the log was durable beyond it.
    fn judge_end(&mut self) -> Result<Tail, Corruption> {
        let Some(last) = self.segments.last() else { return Ok(Tail::Open) };
        let file = segment_name(last.id);
        let rest = self.rest.take().unwrap_or_default();
        let durable = self.durable.max(rest.durable);
        if durable > last.end.lsn && !faults::is_on(PlantedFault::WitnessesIgnored) {
            let kind = CorruptionKind::DurableRecordLost { durable_lsn: durable.0 };
            return Err(Corruption::new(file, last.commits_end, kind));
        }
        self.durable = durable;
        Ok(match (last.kind, rest.bytes) {
            (End::Closed | End::Rotated(_), _) => Tail::Closed,
            (End::Open, 0) => Tail::Open,
            (End::Open, bytes_cut) => Tail::Torn { file, offset: last.commits_end, bytes_cut },
        })
    }
}

/// True if the refused header may never have reached the disk.
fn was_never_headed(error: &hedgerow_io::FormatError) -> bool {
    matches!(error, hedgerow_io::FormatError::NotOurs)
}

const _: () = assert!(DATA_START.is_multiple_of(crate::record::ALIGN as u64));
