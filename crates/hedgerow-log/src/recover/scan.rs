//! Reads of one segment, record by record.

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::checksum::checksum64;
use hedgerow_io::{Corruption, CorruptionKind, Dir, FileError, FileId, Lsn, StoreId};

use crate::record::{
    ALIGN, Frame, MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RecordType, SEAL_PAYLOAD_BYTES, Seal, record_len,
};
use crate::recover::found::{Found, look};
use crate::recover::window::Window;
use crate::segment::{DATA_START, Preamble, open_segment, read_head};

/// A position between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) lsn: Lsn,
    /// The frame checksum of the record before it.
    pub(crate) chain: u64,
    /// The timestamp of the last commit before it.
    pub(crate) last_ts: Timestamp,
}

/// The end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A seal that names the next segment.
    Rotated(FileId),
    /// A closing seal. The cursor stays before it: the next segment begins at the seal's log position. So it
    /// does not matter whether the seal itself was synced.
    Closed,
    /// No seal.
    Open,
}

/// An accepted commit.
#[derive(Debug)]
pub(crate) struct Commit<'a> {
    pub(crate) ts: Timestamp,
    pub(crate) durable: Lsn,
    pub(crate) payload_checksum: u64,
    /// The payload without padding.
    pub(crate) payload: &'a [u8],
    /// The payload with padding.
    pub(crate) padded: &'a [u8],
}

/// The result of reading one record.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    Commit(Commit<'a>),
    End(End),
}

/// The bytes behind the last valid record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// The largest position that a later frame states as durable.
    pub(crate) durable: Lsn,
    /// The number of bytes up to the last one that is not zero.
    pub(crate) bytes: u64,
}

/// A log segment during its scan.
#[derive(Debug)]
pub(crate) struct SegmentScan {
    window: Window,
    store: StoreId,
    id: FileId,
    preamble: Preamble,
    cursor: Cursor,
    offset: u64,
    records: u64,
    sealed_durable: Lsn,
}

impl SegmentScan {
    /// Opens segment `id` and checks its head.
    pub(crate) fn open(dir: &Dir, store: StoreId, id: FileId) -> Result<SegmentScan, FileError> {
        let file = open_segment(dir, id)?;
        let len = file.byte_len()?;
        let preamble = read_head(&file, len, store, id)?;
        if len > preamble.allocated {
            let kind =
                CorruptionKind::Mismatch { what: "file length", expected: preamble.allocated, found: len };
            return Err(Corruption::new(file.name(), 0, kind).into());
        }
        let Preamble { base: lsn, previous_checksum: chain, last_ts, .. } = preamble;
        Ok(SegmentScan {
            window: Window::new(file, len),
            store,
            id,
            preamble,
            cursor: Cursor { lsn, chain, last_ts },
            offset: DATA_START,
            records: 0,
            sealed_durable: Lsn::ZERO,
        })
    }

    pub(crate) fn id(&self) -> FileId {
        self.id
    }

    pub(crate) fn previous_segment(&self) -> FileId {
        self.preamble.previous_segment
    }

    /// Returns the position where the next record, or the next segment, begins.
    pub(crate) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the position in the file of the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the position in the file after the last commit. This is also the position of the next record,
    /// because the scan does not pass seals in the file.
    pub(crate) fn commits_end(&self) -> u64 {
        self.offset
    }

    /// Returns the number of commits read.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Returns the position that the seal states as durable, after the seal was read.
    pub(crate) fn sealed_durable(&self) -> Lsn {
        self.sealed_durable
    }

    /// Reads the next record. Must not be called after the end.
    pub(crate) fn step(&mut self) -> Result<Step<'_>, FileError> {
        let Some((frame, checksum)) = self.read_valid()? else { return self.end_open() };
        if frame.durable > frame.lsn {
            return Err(self.damage(CorruptionKind::Invalid("a record durable before it was written")));
        }
        if frame.kind == RecordType::Commit {
            self.commit(frame, checksum)
        } else {
            self.seal(frame, checksum)
        }
    }

    /// Returns the frame at the present position if its record is valid in every respect.
    fn read_valid(&mut self) -> Result<Option<(Frame, u64)>, FileError> {
        let Some((frame, checksum)) = self.read_frame(self.offset)? else { return Ok(None) };
        let size = record_len(frame.length as usize);
        if frame.previous != self.cursor.chain || size > MAX_RECORD_BYTES {
            return Ok(None);
        }
        let payload =
            self.window.get(self.offset + RECORD_HEADER_BYTES as u64, size - RECORD_HEADER_BYTES)?;
        let unchecked = faults::is_on(PlantedFault::UncheckedTail);
        let intact = payload.is_some_and(|bytes| unchecked || checksum64(bytes) == frame.payload_checksum);
        Ok(intact.then_some((frame, checksum)))
    }

    /// Returns the frame at `offset` if it is valid and belongs exactly to that position.
    fn read_frame(&mut self, offset: u64) -> Result<Option<(Frame, u64)>, FileError> {
        let lsn = Lsn(self.preamble.base.0 + (offset - DATA_START));
        let Some(bytes) = self.window.get(offset, RECORD_HEADER_BYTES)? else { return Ok(None) };
        let Some(bytes) = bytes.first_chunk() else { return Ok(None) };
        Ok(Frame::decode(bytes, self.store, self.id).filter(|(frame, _)| frame.lsn == lsn))
    }

    fn commit(&mut self, frame: Frame, checksum: u64) -> Result<Step<'_>, FileError> {
        if frame.ts <= self.cursor.last_ts {
            return Err(self.damage(CorruptionKind::Mismatch {
                what: "commit timestamp (at least)",
                expected: self.cursor.last_ts.0.saturating_add(1),
                found: frame.ts.0,
            }));
        }
        let size = record_len(frame.length as usize);
        let payload_at = self.offset + RECORD_HEADER_BYTES as u64;
        self.cursor =
            Cursor { lsn: Lsn(self.cursor.lsn.0 + size as u64), chain: checksum, last_ts: frame.ts };
        self.offset += size as u64;
        self.records += 1;
        // The bytes are in the window: `read_valid` has just read them.
        let padded = self.window.get(payload_at, size - RECORD_HEADER_BYTES)?.unwrap_or_default();
        let payload = padded.get(..frame.length as usize).unwrap_or_default();
        let Frame { ts, durable, payload_checksum, .. } = frame;
        Ok(Step::Commit(Commit { ts, durable, payload_checksum, payload, padded }))
    }

    fn seal(&mut self, frame: Frame, checksum: u64) -> Result<Step<'_>, FileError> {
        let size = record_len(frame.length as usize);
        let payload = self.window.get(self.offset + RECORD_HEADER_BYTES as u64, SEAL_PAYLOAD_BYTES)?;
        let seal = payload.and_then(|bytes| Seal::decode(bytes).ok());
        let (Some(seal), SEAL_PAYLOAD_BYTES) = (seal, frame.length as usize) else {
            return Err(self.damage(CorruptionKind::Invalid("a seal of the wrong length")));
        };
        let rotated = frame.kind == RecordType::RotationSeal;
        let makes_sense = seal.records == self.records
            && frame.ts == self.cursor.last_ts
            && if rotated { seal.next > self.id } else { seal.next == FileId(0) };
        if !makes_sense {
            return Err(self.damage(CorruptionKind::Invalid("a seal that does not fit its segment")));
        }
        self.sealed_durable = frame.durable;
        let end = self.offset + size as u64;
        if self.window.len() < self.preamble.allocated && self.window.len() != end {
            let kind =
                CorruptionKind::Mismatch { what: "file length", expected: end, found: self.window.len() };
            return Err(Corruption::new(self.window.name(), self.offset, kind).into());
        }
        if !rotated {
            return Ok(Step::End(End::Closed));
        }
        self.cursor = Cursor { lsn: Lsn(self.cursor.lsn.0 + size as u64), chain: checksum, ..self.cursor };
        Ok(Step::End(End::Rotated(seal.next)))
    }

    /// Ends a segment without a seal. It must have the length of its allocation, because a file is cut only
    /// after its seal is durable. In a shorter file, a record is damaged or the rest is missing.
    fn end_open(&mut self) -> Result<Step<'_>, FileError> {
        if self.window.len() == self.preamble.allocated {
            return Ok(Step::End(End::Open));
        }
        let base = self.preamble.base.0;
        let kind = match look(&mut self.window, (self.store, self.id), self.offset, Some(base))? {
            Found::Nothing(kind) | Found::Damaged(_, _, kind) => kind,
            Found::Whole(frame, _) => CorruptionKind::Mismatch {
                what: "checksum of the previous record",
                expected: self.cursor.chain,
                found: frame.previous,
            },
        };
        Err(self.damage(kind))
    }

    /// Searches the bytes behind the present position for frames that belong to their positions. Their
    /// payloads do not matter: a valid frame proves that it was written, and states how far the log was
    /// durable then.
    pub(crate) fn rest(&mut self) -> Result<Rest, FileError> {
        let mut rest = Rest::default();
        let mut offset = self.offset;
        while offset < self.window.len() {
            let bytes = self.window.some(offset)?;
            let whole = (bytes.len() / ALIGN * ALIGN).max(bytes.len().min(ALIGN));
            let chunk = bytes.get(..whole).unwrap_or_default();
            if let Some(last) = last_nonzero(chunk) {
                rest.bytes = offset + last as u64 + 1 - self.offset;
                rest.durable = rest.durable.max(self.stated_durable(offset, whole as u64)?);
            }
            offset += whole as u64;
        }
        Ok(rest)
    }

    fn stated_durable(&mut self, from: u64, bytes: u64) -> Result<Lsn, FileError> {
        let mut durable = Lsn::ZERO;
        for offset in (from..from + bytes).step_by(ALIGN) {
            let lsn = self.preamble.base.0 + (offset - DATA_START);
            let found = self.window.get(offset + 8, 8)?;
            if found == Some(&lsn.to_le_bytes()[..])
                && let Some((frame, _)) = self.read_frame(offset)?
            {
                durable = durable.max(frame.durable);
            }
        }
        Ok(durable)
    }

    fn damage(&self, kind: CorruptionKind) -> FileError {
        Corruption::new(self.window.name(), self.offset, kind).into()
    }
}

/// Returns the position of the last byte that is not zero. It tests whole chunks first, because most bytes of
/// a segment are zeros.
pub(super) fn last_nonzero(bytes: &[u8]) -> Option<usize> {
    const BLOCK_BYTES: usize = 512;
    let any = |block: &[u8]| block.iter().fold(0, |bits, &b| bits | b) != 0;
    let (i, block) = bytes.chunks(BLOCK_BYTES).enumerate().rfind(|(_, block)| any(block))?;
    block.iter().rposition(|&b| b != 0).map(|within| i * BLOCK_BYTES + within)
}
