//! Reads of a damaged log for salvage. They continue behind each damage, and report the losses in between.
//!
//! Recovery ends at the first record that is not valid. This module takes every valid record whose stated
//! position is its actual one. The rules are in `docs/design/salvage.md`.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_io::{Corruption, CorruptionKind, Dir, FileError, FileId, Lsn, StoreId, Vfs};

use super::remains::{Piece, Remains};
use super::{CommitPlace, Witness};
use crate::ops::Ops;
use crate::record::{Frame, RecordType, Seal};
use crate::segment::{Preamble, parse_segment_name, segment_name};

/// A finding in a damaged log, in the order of the log.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogFinding<'a> {
    /// A commit whose record is valid.
    Commit(CommitPlace, Ops<'a>),
    /// Bytes that cannot be read. If they caused a loss, the loss is the next finding.
    Damage(FileError),
    /// Commits with these timestamps are lost. Timestamps may have gaps, so there may be fewer commits. If
    /// `last` is `None`, their number is unknown.
    Lost {
        /// The first lost timestamp.
        first: Timestamp,
        /// The last lost timestamp.
        last: Option<Timestamp>,
    },
    /// Bytes at the end of the log that are no record, and were not durable according to any witness. They
    /// are the remains of unacknowledged commits after a crash, or damage to the last commits.
    Tail {
        /// The error of these bytes, with the position where they begin.
        error: FileError,
        /// The number of bytes up to the last one that is not zero.
        bytes: u64,
    },
}

const NOT_NEXT: CorruptionKind = CorruptionKind::Invalid("a record that does not follow the one before it");

/// The end of one segment.
enum Ended {
    /// A rotation seal that names the next segment.
    Rotated(FileId),
    /// A closing seal, or no seal and no bytes behind the last record.
    Whole,
    /// Damage: the next segment is unknown.
    Damaged,
}

/// Reads the log segments that the manifest names, those to which rotation seals lead, and behind a damaged
/// end the segments with larger numbers. Passes on every commit after `after`, each once and in timestamp
/// order, and reports all damage. Changes nothing. Has one record in memory. Reads every segment once, and
/// searches in steps of 8 bytes for the next record behind each damaged header.
///
/// # Errors
/// If the directory cannot be listed. Damage is no error.
pub fn read_damaged(
    fs: Arc<dyn Vfs>,
    witness: Witness<'_>,
    after: Timestamp,
    found: &mut dyn FnMut(LogFinding<'_>),
) -> Result<(), FileError> {
    let dir = Dir::new(fs);
    let on_disk: BTreeSet<FileId> = dir.list()?.iter().filter_map(|name| parse_segment_name(name)).collect();
    let mut reading = Reading {
        dir: &dir,
        store: witness.store,
        found,
        last: after,
        segment: FileId(0),
        chain: None,
        gap: false,
        held: None,
        durable: witness.durable,
        end: Lsn::ZERO,
    };
    let mut next = witness.live.first().copied();
    while let Some(id) = next {
        let ended = reading.read_segment(id);
        let behind = || on_disk.range((Bound::Excluded(id), Bound::Unbounded)).next().copied();
        next = witness.live.iter().copied().find(|&named| named > id).or_else(|| match ended {
            Ended::Rotated(next) => Some(next),
            Ended::Whole if reading.durable <= reading.end => None,
            Ended::Whole | Ended::Damaged => behind(),
        });
    }
    reading.end_log();
    Ok(())
}

struct Reading<'r> {
    dir: &'r Dir,
    store: StoreId,
    found: &'r mut dyn FnMut(LogFinding<'_>),
    /// The timestamp up to which every commit was passed on, reported as lost, or not requested.
    last: Timestamp,
    /// The segment that was read last.
    segment: FileId,
    /// The frame checksum of the record before the present position, if known.
    chain: Option<u64>,
    /// True if commits after `last` may be lost before the present position.
    gap: bool,
    /// The error at the end of the last segment, and the number of bytes at it. It is damage only if the log
    /// continues, or should continue.
    held: Option<(FileError, u64)>,
    /// The largest log position that a witness states as durable.
    durable: Lsn,
    /// The log position behind the last record that was accepted.
    end: Lsn,
}

impl Reading<'_> {
    fn read_segment(&mut self, id: FileId) -> Ended {
        let (mut remains, head) = match Remains::open(self.dir, self.store, id) {
            Ok(opened) => opened,
            Err(error) => {
                self.damage(error);
                return Ended::Damaged;
            }
        };
        match head {
            Ok(head) => self.begin_segment(&head),
            Err(error) => self.damage(error),
        }
        self.segment = id;
        loop {
            let piece = match remains.next() {
                Ok(piece) => piece,
                Err(error) => {
                    self.damage(error);
                    return Ended::Damaged;
                }
            };
            if let Some(ended) = self.take(piece, &mut remains) {
                return ended;
            }
        }
    }

    /// Uses the statement of a preamble about the commits before the segment.
    fn begin_segment(&mut self, head: &Preamble) {
        self.end = self.end.max(head.base);
        if head.last_ts > self.last {
            self.tell_held();
            self.lose(self.last, head.last_ts);
        } else if head.previous_segment == self.segment {
            self.gap = false;
        }
        self.chain = Some(head.previous_checksum);
    }

    /// Processes the next record of a log segment, or the bytes in its place. Returns the end of the segment
    /// if it is reached.
    fn take(&mut self, piece: Piece, remains: &mut Remains) -> Option<Ended> {
        match piece {
            Piece::Record(frame, checksum, at) => {
                self.follow(&frame, || remains.damage(at, NOT_NEXT));
                if frame.kind != RecordType::Commit {
                    return Some(self.take_seal(&frame, checksum, at, remains));
                }
                self.chain = Some(checksum);
                self.end = self.end.max(remains.position());
                self.take_commit(&frame, at, remains);
            }
            Piece::Damaged(frame, checksum, at, error) => {
                self.follow(&frame, || remains.damage(at, NOT_NEXT));
                self.end = self.end.max(remains.position());
                self.chain = Some(checksum);
                return self.take_damaged(&frame, error);
            }
            Piece::Hole(error) => {
                self.damage(error);
                self.chain = None;
            }
            Piece::End(error, bytes) => {
                self.end = self.end.max(remains.position());
                if bytes == 0 && remains.has_first_length() {
                    return Some(Ended::Whole);
                }
                self.tell_held();
                self.held = Some((error, bytes));
                self.gap = true;
                return Some(Ended::Damaged);
            }
        }
        None
    }

    /// Processes a record with a valid frame and a damaged payload: the frame shows which commit is lost.
    fn take_damaged(&mut self, frame: &Frame, error: FileError) -> Option<Ended> {
        (self.found)(LogFinding::Damage(error));
        let seal = frame.kind != RecordType::Commit;
        if frame.ts > self.last {
            // If the record follows the one before it, only this commit is lost.
            let alone = !seal && !self.gap;
            self.lose(if alone { Timestamp(frame.ts.0 - 1) } else { self.last }, frame.ts);
        }
        self.gap = false;
        seal.then_some(Ended::Damaged)
    }

    /// Checks that a valid frame continues the chain of the record before it.
    fn follow(&mut self, frame: &Frame, broken: impl FnOnce() -> FileError) {
        self.tell_held();
        self.end = self.end.max(frame.lsn);
        self.durable = self.durable.max(frame.durable);
        if self.chain == Some(frame.previous) {
            self.gap = false;
        } else if self.chain.is_some() && !self.gap {
            self.damage(broken());
        }
    }

    fn take_commit(&mut self, frame: &Frame, at: u64, remains: &mut Remains) {
        let gap = std::mem::take(&mut self.gap);
        if frame.ts <= self.last {
            return;
        }
        if gap {
            self.lose(self.last, Timestamp(frame.ts.0 - 1));
        }
        self.last = frame.ts;
        let (segment, ts) = (self.segment, frame.ts);
        let error = match remains.payload(at, frame) {
            Ok(payload) => match Ops::new(payload) {
                Ok(ops) => {
                    return (self.found)(LogFinding::Commit(CommitPlace { ts, segment, offset: at }, ops));
                }
                Err(kind) => Corruption::new(segment_name(segment), at, kind).into(),
            },
            Err(error) => error,
        };
        (self.found)(LogFinding::Damage(error));
        (self.found)(LogFinding::Lost { first: ts, last: Some(ts) });
    }

    fn take_seal(&mut self, frame: &Frame, checksum: u64, at: u64, remains: &mut Remains) -> Ended {
        if frame.ts > self.last {
            self.lose(self.last, frame.ts);
        }
        self.gap = false;
        let seal = remains.payload(at, frame).ok().and_then(|payload| Seal::decode(payload).ok());
        match (frame.kind, seal) {
            (RecordType::ClosingSeal, _) => Ended::Whole,
            (_, Some(Seal { next, .. })) if next > self.segment => {
                self.chain = Some(checksum);
                self.end = self.end.max(remains.position());
                Ended::Rotated(next)
            }
            _ => {
                self.damage(
                    remains.damage(at, CorruptionKind::Invalid("a seal that does not fit its segment")),
                );
                Ended::Damaged
            }
        }
    }

    /// Reports damage that may have destroyed commits.
    fn damage(&mut self, error: FileError) {
        self.tell_held();
        (self.found)(LogFinding::Damage(error));
        self.gap = true;
    }

    /// Reports the commits after `after` up to `last` as lost.
    fn lose(&mut self, after: Timestamp, last: Timestamp) {
        self.gap = false;
        if after < last {
            (self.found)(LogFinding::Lost { first: Timestamp(after.0 + 1), last: Some(last) });
        }
        self.last = self.last.max(last);
    }

    fn tell_held(&mut self) {
        if let Some((error, _)) = self.held.take() {
            (self.found)(LogFinding::Damage(error));
        }
    }

    /// Ends the reading. The bytes at the end are damage if it is known that they were commits.
    fn end_log(&mut self) {
        let missing = self.durable > self.end;
        match self.held.take() {
            Some((error, bytes)) if self.gap && !missing => {
                return (self.found)(LogFinding::Tail { error, bytes });
            }
            Some((error, _)) => (self.found)(LogFinding::Damage(error)),
            None if missing && !self.gap => {
                let kind = CorruptionKind::DurableRecordLost { durable_lsn: self.durable.0 };
                (self.found)(LogFinding::Damage(Corruption::new(segment_name(self.segment), 0, kind).into()));
            }
            None => {}
        }
        if self.gap || missing {
            let first = Timestamp(self.last.0.saturating_add(1));
            (self.found)(LogFinding::Lost { first, last: None });
        }
    }
}
