//! The segment to which a running log writes.

use hedgerow_io::{Dir, FileHeader, FileId, FileKind, IoError, Lsn, NamedFile};

use super::types::{LogOptions, LogPosition};
use crate::segment::{CreateError, Preamble, allocated_len, create_segment, segment_name};

/// The segment to which the log writes.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) file: NamedFile,
    pub(super) id: FileId,
    pub(super) base: Lsn,
    pub(super) allocated: u64,
    pub(super) records: u64,
}

/// Returns the length of a segment: `least` bytes, or less if the options allow less, but always enough for
/// `data` bytes.
pub(super) fn length_of(
    options: &LogOptions,
    id: FileId,
    (least, data): (u64, u64),
) -> Result<u64, CreateError> {
    let too_long = || {
        let source = std::io::ErrorKind::FileTooLarge.into();
        CreateError::File(IoError::new(segment_name(id), "allocate", source))
    };
    allocated_len(least.min(options.segment_bytes), data).ok_or_else(too_long)
}

/// Makes the segment `start.segment`, of `allocated` bytes. The file is complete and durable before a seal or
/// manifest names it.
pub(super) fn new_segment(
    dir: &Dir,
    options: &LogOptions,
    start: &LogPosition,
    allocated: u64,
) -> Result<Active, CreateError> {
    let header = FileHeader::new(FileKind::Log, options.store, start.segment, options.epoch);
    let preamble = Preamble {
        base: start.lsn,
        previous_checksum: start.previous_checksum,
        previous_segment: start.previous_segment,
        last_ts: start.last_ts,
        allocated,
    };
    let file = create_segment(dir, &header, &preamble)?;
    Ok(Active { file, id: start.segment, base: start.lsn, allocated, records: 0 })
}
