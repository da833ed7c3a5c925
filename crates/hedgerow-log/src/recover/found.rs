//! The content of a position where a record should begin, and the damage if it is no record.

use hedgerow_io::checksum::checksum64;
use hedgerow_io::{CorruptionKind, FileError, FileId, Lsn, StoreId};

use super::window::Window;
use crate::record::{Frame, MAX_RECORD_BYTES, RECORD_HEADER_BYTES, record_len};
use crate::segment::DATA_START;

/// The content of a position.
#[derive(Debug)]
pub(super) enum Found {
    /// A valid record: its frame, and the frame's checksum. It need not continue the chain of the record
    /// before it.
    Whole(Frame, u64),
    /// A valid frame before a damaged payload.
    Damaged(Frame, u64, CorruptionKind),
    /// No valid frame.
    Nothing(CorruptionKind),
}

/// Reads the record at `offset` in a log segment of (store, file id). `base` is the log position of the
/// segment's first record, if known. Without it a valid frame is accepted at any position.
pub(super) fn look(
    window: &mut Window,
    (store, id): (StoreId, FileId),
    offset: u64,
    base: Option<u64>,
) -> Result<Found, FileError> {
    let len = window.len();
    let cut = |end: u64| CorruptionKind::Truncated { expected: end, found: len };
    let Some(bytes) = window.get(offset, RECORD_HEADER_BYTES)?.and_then(<[u8]>::first_chunk) else {
        return Ok(Found::Nothing(cut(offset + RECORD_HEADER_BYTES as u64)));
    };
    let Some((frame, checksum)) = Frame::decode(bytes, store, id) else {
        return Ok(Found::Nothing(match Frame::checksums(bytes, store, id) {
            Some((expected, found)) if expected != found => CorruptionKind::RecordHeader { expected, found },
            _ => CorruptionKind::Invalid("a record of an unknown type, or without a payload"),
        }));
    };
    if let Some(place) = base.and_then(|base| base.checked_add(offset - DATA_START))
        && Lsn(place) != frame.lsn
    {
        let kind = CorruptionKind::Mismatch {
            what: "the position that a record states",
            expected: place,
            found: frame.lsn.0,
        };
        return Ok(Found::Nothing(kind));
    }
    let size = record_len(frame.length as usize);
    if size > MAX_RECORD_BYTES {
        let kind = CorruptionKind::Invalid("a record longer than records may be");
        return Ok(Found::Damaged(frame, checksum, kind));
    }
    let payload = window.get(offset + RECORD_HEADER_BYTES as u64, size - RECORD_HEADER_BYTES)?;
    let kind = match payload.map(checksum64) {
        Some(found) if found == frame.payload_checksum => return Ok(Found::Whole(frame, checksum)),
        Some(found) => CorruptionKind::Checksum { expected: frame.payload_checksum, found },
        None => cut(offset + size as u64),
    };
    Ok(Found::Damaged(frame, checksum, kind))
}
