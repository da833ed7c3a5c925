//! The step from reading a log to writing it: first it makes the accepted commits durable.
//!
//! Bytes that were read need not be on the disk. After a failed sync the operating system may show data that
//! the disk never got, and a second sync succeeds without writing it. So this module writes again all commits
//! that no witness proves durable.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::{Corruption, CorruptionKind, Dir, FileError, FileId, IoError, Lsn};

use crate::record::Payload;
use crate::recover::{Cursor, End, ReadSegment, Recovered, SegmentScan, Step};
use crate::segment::segment_name;
use crate::writer::{Log, LogError, LogOptions, LogPosition, LogSegmentInfo, ReserveError};

/// A running log after recovery, and the segments that it no longer needs.
#[derive(Debug)]
pub struct Resumed {
    /// The log. [`Log::live_after`] names its segments for the manifest.
    pub log: Log,
    dir: Dir,
    obsolete: Vec<FileId>,
}

impl Resumed {
    /// Returns the files that [`remove_obsolete`](Self::remove_obsolete) will remove.
    pub fn obsolete(&self) -> Vec<String> {
        self.obsolete.iter().map(|&id| segment_name(id)).collect()
    }

    /// Removes the files that the new manifest does not name, and makes the removal durable. The manifest
    /// must be durable. Returns the log.
    ///
    /// # Errors
    /// The errors of the file system; the next opening removes the remaining files.
    pub fn remove_obsolete(self) -> Result<Log, IoError> {
        for &id in &self.obsolete {
            self.dir.unlink_if_there(&segment_name(id))?;
        }
        if !self.obsolete.is_empty() {
            self.dir.sync()?;
        }
        Ok(self.log)
    }
}

impl ReadSegment {
    /// True if the whole segment, with the seal that names the next one, is proved durable and worth keeping.
    /// The last segment is not worth keeping without commits: each opening without writes would add such a
    /// segment.
    fn is_kept(&self, durable: Lsn, is_last: bool) -> bool {
        let sound = durable >= self.end.lsn && !(is_last && (self.kind == End::Open || self.records == 0));
        sound || faults::is_on(PlantedFault::UnprovenTailKept)
    }

    fn info(&self) -> LogSegmentInfo {
        LogSegmentInfo {
            id: self.id,
            first_lsn: self.start.lsn,
            last_ts: self.end.last_ts,
            bytes: self.commits_end,
            sealed: true,
        }
    }
}

impl Recovered {
    /// Makes a fresh segment and writes into it every accepted commit that is not proved durable. Syncs the
    /// segment and the directory, and returns the log that continues in the segment. The segment has `least`
    /// bytes, as far as the options allow, or more if the commits need more. All other files are unchanged
    /// until the manifest names the new segment. The recovered store replaces `options.store`. O(bytes of the
    /// rewritten tail).
    ///
    /// # Errors
    /// The errors of the file system, also of a full disk, and damage that appeared after the first reading.
    /// Then the caller can repeat this call, or the whole recovery.
    pub fn resume(&self, options: LogOptions, least: u64) -> Result<Resumed, FileError> {
        let last = self.segments.len().saturating_sub(1);
        let kept =
            self.segments.iter().enumerate().take_while(|&(i, s)| s.is_kept(self.durable, i == last)).count();
        let (keep, rewrite) = self.segments.split_at(kept);
        let position = self.position(keep, rewrite);
        let options = LogOptions { store: self.store, ..options };
        let data = rewrite.iter().map(|s| s.commits_end).sum();
        let sealed = keep.iter().map(ReadSegment::info).collect();
        let log = Log::create_with(self.dir.clone(), options, position, (least, data), sealed)?;
        if let Err(error) = self.rewrite(rewrite, &log) {
            // No manifest names the new segment. If it cannot be removed now, the next opening removes it.
            let _ = self.dir.unlink(&segment_name(position.segment));
            return Err(error);
        }
        let obsolete = rewrite.iter().map(|s| s.id).chain(self.strays.iter().copied()).collect();
        Ok(Resumed { log, dir: self.dir.clone(), obsolete })
    }

    /// Removes the log files to which no chain of segments leads: the files of openings that were killed.
    /// [`Resumed::remove_obsolete`] also removes them, after the manifest is durable. An opening on a full
    /// disk calls this before, if it needs their room.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn remove_strays(&self) -> Result<(), IoError> {
        self.strays.iter().try_for_each(|&id| self.dir.unlink_if_there(&segment_name(id)).map(drop))
    }

    /// Returns the position of the fresh segment: the beginning of the rewritten commits, or the end of the
    /// kept segments if no commit is rewritten.
    fn position(&self, keep: &[ReadSegment], rewrite: &[ReadSegment]) -> LogPosition {
        let start = Cursor { lsn: Lsn::ZERO, chain: 0, last_ts: LogPosition::START.last_ts };
        let after = keep.last().map_or(start, |s| s.end);
        let Cursor { lsn, chain, last_ts } = rewrite.first().map_or(after, |s| s.start);
        LogPosition {
            segment: self.next_id,
            lsn,
            previous_checksum: chain,
            previous_segment: keep.last().map_or(FileId(0), |s| s.id),
            last_ts,
        }
    }

    fn rewrite(&self, segments: &[ReadSegment], log: &Log) -> Result<(), FileError> {
        for segment in segments {
            self.copy(segment, log)?;
        }
        if !faults::is_on(PlantedFault::RecoveredTailNotSynced) {
            log.flush_and_sync().map_err(|e| stopped(e, self.next_id))?;
        }
        Ok(())
    }

    /// Reads `segment` again, with all checks, and appends its commits to `log`.
    fn copy(&self, segment: &ReadSegment, log: &Log) -> Result<(), FileError> {
        let mut scan = SegmentScan::open(&self.dir, self.store, segment.id)?;
        for _ in 0..segment.records {
            let offset = scan.offset();
            let Step::Commit(commit) = scan.step()? else {
                let kind = CorruptionKind::Invalid("the file changed between two readings");
                return Err(Corruption::new(segment_name(segment.id), offset, kind).into());
            };
            let payload = Payload {
                padded: commit.padded,
                len: commit.payload.len(),
                checksum: commit.payload_checksum,
            };
            let bytes = crate::record::record_len(payload.len) as u64;
            let reserved = log.reserve_bytes(bytes);
            let mut reservation = reserved.map_err(|e| match e {
                ReserveError::DiskFull(e) | ReserveError::TooManyFiles(e) => e.into(),
                ReserveError::Log(e) => stopped(e, segment.id),
            })?;
            reservation.append_payload(payload, commit.ts);
        }
        if scan.cursor().last_ts != segment.end.last_ts {
            let kind = CorruptionKind::Invalid("the file changed between two readings");
            return Err(Corruption::new(segment_name(segment.id), scan.offset(), kind).into());
        }
        Ok(())
    }
}

/// Returns the error that stopped the new log, as a separate error. It has the system's error code, so that a
/// full disk is recognized.
fn stopped(error: LogError, segment: FileId) -> FileError {
    let LogError::Failed(failed) = error else {
        return IoError::new(segment_name(segment), "rewrite", std::io::Error::other(error)).into();
    };
    let source = match failed.source.raw_os_error() {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => std::io::Error::new(failed.source.kind(), failed.source.to_string()),
    };
    IoError::new(&*failed.file, failed.op, source).into()
}
