//! Reads of one log segment as far as possible, skipping all damage in it.

use hedgerow_io::{Corruption, CorruptionKind, Dir, FileError, FileId, Lsn, StoreId};

use super::found::{Found, look};
use super::scan::last_nonzero;
use super::window::Window;
use crate::record::{ALIGN, Frame, RECORD_HEADER_BYTES, record_len};
use crate::segment::{DATA_START, Preamble, open_segment, read_head};

/// The next record of a log segment, or the bytes in its place.
#[derive(Debug)]
pub(super) enum Piece {
    /// A valid record: its frame, the frame's checksum, and the record's position.
    Record(Frame, u64, u64),
    /// A valid frame, its checksum, its position, and the damage of the payload behind it.
    Damaged(Frame, u64, u64, FileError),
    /// Bytes that are no record; a valid frame is behind them.
    Hole(FileError),
    /// The end, with no frame behind it: the error at this position, and the number of bytes from it to the
    /// last one that is not zero.
    End(FileError, u64),
}

/// A log segment in which all bytes may be damaged.
#[derive(Debug)]
pub(super) struct Remains {
    window: Window,
    store: StoreId,
    id: FileId,
    /// The log position of the first record. If the preamble is damaged, it is taken from the first frame.
    base: Option<u64>,
    allocated: Option<u64>,
    offset: u64,
}

impl Remains {
    /// Opens segment `id`, and returns its preamble if that can be read.
    pub(super) fn open(
        dir: &Dir,
        store: StoreId,
        id: FileId,
    ) -> Result<(Remains, Result<Preamble, FileError>), FileError> {
        let file = open_segment(dir, id)?;
        let len = file.byte_len()?;
        let head = read_head(&file, len, store, id);
        let (base, allocated) = head.as_ref().map_or((None, None), |p| (Some(p.base.0), Some(p.allocated)));
        let window = Window::new(file, len);
        Ok((Remains { window, store, id, base, allocated, offset: DATA_START }, head))
    }

    /// Returns the log position of the next record.
    pub(super) fn position(&self) -> Lsn {
        Lsn(self.base.unwrap_or(0).saturating_add(self.offset - DATA_START))
    }

    /// True if the file has the length of its allocation, which it must have without a seal. Also true if
    /// that length is unknown.
    pub(super) fn has_first_length(&self) -> bool {
        self.allocated.is_none_or(|allocated| allocated == self.window.len())
    }

    /// Reads the next record, or the bytes in its place. Must not be called after the end.
    pub(super) fn next(&mut self) -> Result<Piece, FileError> {
        let at = self.offset;
        Ok(match look(&mut self.window, (self.store, self.id), at, self.base)? {
            Found::Whole(frame, checksum) => {
                self.pass(&frame);
                Piece::Record(frame, checksum, at)
            }
            Found::Damaged(frame, checksum, kind) => {
                self.pass(&frame);
                Piece::Damaged(frame, checksum, at, self.damage(at, kind))
            }
            Found::Nothing(kind) => {
                let error = self.damage(at, kind);
                match self.find_frame(at)? {
                    (Some(next), _) => {
                        self.offset = next;
                        Piece::Hole(error)
                    }
                    (None, bytes) => Piece::End(error, bytes),
                }
            }
        })
    }

    /// Returns the payload of the record at `at`, which the preceding [`next`](Self::next) has found valid.
    pub(super) fn payload(&mut self, at: u64, frame: &Frame) -> Result<&[u8], FileError> {
        let payload = self.window.get(at + RECORD_HEADER_BYTES as u64, frame.length as usize)?;
        Ok(payload.unwrap_or_default())
    }

    pub(super) fn damage(&self, at: u64, kind: CorruptionKind) -> FileError {
        Corruption::new(self.window.name(), at, kind).into()
    }

    fn pass(&mut self, frame: &Frame) {
        self.base.get_or_insert(frame.lsn.0.saturating_sub(self.offset - DATA_START));
        self.offset = self.offset.saturating_add(record_len(frame.length as usize) as u64);
    }

    /// Returns the first position behind `from` with a frame that belongs to that position, and the number of
    /// bytes up to the last one read that is not zero.
    fn find_frame(&mut self, from: u64) -> Result<(Option<u64>, u64), FileError> {
        let (mut offset, mut bytes) = (from, 0);
        while offset < self.window.len() {
            let chunk = self.window.some(offset)?;
            let whole = (chunk.len() / ALIGN * ALIGN).max(chunk.len().min(ALIGN));
            let last = chunk.get(..whole).and_then(last_nonzero);
            if let Some(last) = last.map(|last| offset + last as u64) {
                bytes = last + 1 - from;
                for at in (offset..=last).step_by(ALIGN).filter(|&at| at > from) {
                    if self.is_frame(at)? {
                        return Ok((Some(at), bytes));
                    }
                }
            }
            offset += whole as u64;
        }
        Ok((None, bytes))
    }

    /// True if `at` has a frame that belongs to that position. Computes the checksum only if some fields are
    /// plausible.
    fn is_frame(&mut self, at: u64) -> Result<bool, FileError> {
        let place = self.base.map(|base| base.saturating_add(at - DATA_START));
        let Some(bytes) = self.window.get(at, RECORD_HEADER_BYTES)?.and_then(<[u8]>::first_chunk) else {
            return Ok(false);
        };
        let fits = match place {
            Some(place) => bytes.get(8..16) == Some(&place.to_le_bytes()[..]),
            None => matches!(bytes.get(4..8), Some([1..=3, 0, 0, 0])),
        };
        Ok(fits && Frame::decode(bytes, self.store, self.id).is_some())
    }
}
