//! Log segments as files: their names, and the 128 bytes before the first record.

use hedgerow_core::Timestamp;
use hedgerow_io::checksum::checksum64;
use hedgerow_io::codec::{OutOfBytes, PutLe, Reader};
use hedgerow_io::{
    Access, Corruption, CorruptionKind, Dir, FileError, FileHeader, FileId, FileKind, HEADER_BYTES, IoError,
    Lsn, NamedFile, StoreId,
};

use crate::record::SEAL_BYTES;

/// The position of the first record of a segment: after the file header and the preamble.
pub const DATA_START: u64 = 128;

const PREAMBLE_BYTES: usize = DATA_START as usize - HEADER_BYTES;
/// Bytes at the end of a segment that no record may use, so that a sealed segment is always shorter than its
/// allocation. So a reader can distinguish a cut file from a file that was never sealed.
const GUARD_BYTES: u64 = 8;

/// Returns the name of log segment `id`.
pub fn segment_name(id: FileId) -> String {
    format!("log-{:016x}.wal", id.0)
}

/// Returns the log segment with this name; `None` if this is no name of a log segment.
pub fn parse_segment_name(name: &str) -> Option<FileId> {
    let digits = name.strip_prefix("log-")?.strip_suffix(".wal")?;
    let id = FileId(u64::from_str_radix(digits, 16).ok()?);
    (segment_name(id) == name).then_some(id)
}

/// A bound for log positions and file lengths, so that their sums stay within 64 bits.
const LAST_POSITION: u64 = 1 << 61;

/// A segment's statements about its position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preamble {
    /// The position of the first record.
    pub(crate) base: Lsn,
    /// The frame checksum of the record before the segment.
    pub(crate) previous_checksum: u64,
    /// The segment of that record; 0 if no record is before the segment.
    pub(crate) previous_segment: FileId,
    /// The timestamp of the last commit before this segment.
    pub(crate) last_ts: Timestamp,
    /// The length of the file until it is sealed.
    pub(crate) allocated: u64,
}

impl Preamble {
    fn encode(&self, header: &[u8; HEADER_BYTES]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(DATA_START as usize);
        bytes.put_bytes(header);
        bytes.put_u64(self.base.0);
        bytes.put_u64(self.previous_checksum);
        bytes.put_u64(self.previous_segment.0);
        bytes.put_u64(self.last_ts.0);
        bytes.put_u64(self.allocated);
        bytes.put_u128(0);
        bytes.put_u64(checksum64(&bytes));
        bytes
    }

    fn decode(bytes: &[u8; DATA_START as usize]) -> Result<Preamble, CorruptionKind> {
        let short = |_: OutOfBytes| CorruptionKind::Invalid("preamble too short");
        let (covered, stored) = bytes.split_at(DATA_START as usize - 8);
        let expected = Reader::new(stored).u64().map_err(short)?;
        let found = checksum64(covered);
        if expected != found {
            return Err(CorruptionKind::Checksum { expected, found });
        }
        let mut r = Reader::new(covered);
        r.bytes(HEADER_BYTES).map_err(short)?;
        let preamble = Preamble {
            base: Lsn(r.u64().map_err(short)?),
            previous_checksum: r.u64().map_err(short)?,
            previous_segment: FileId(r.u64().map_err(short)?),
            last_ts: Timestamp(r.u64().map_err(short)?),
            allocated: r.u64().map_err(short)?,
        };
        match r.u128().map_err(short)? {
            0 => Ok(preamble),
            _ => Err(CorruptionKind::Invalid("reserved bytes of the preamble in use")),
        }
    }
}

const _: () = assert!(PREAMBLE_BYTES == 64 && GUARD_BYTES as usize >= crate::record::ALIGN);

/// Returns the length of a segment that has room for `data` bytes of commits and is at least `least` bytes
/// long; `None` if that exceeds the bound for files.
pub(crate) fn allocated_len(least: u64, data: u64) -> Option<u64> {
    let len =
        data.checked_add(DATA_START + SEAL_BYTES + GUARD_BYTES)?.max(least).checked_next_multiple_of(8)?;
    (len <= LAST_POSITION).then_some(len)
}

/// Returns the position in the file up to which commits may reach.
pub(crate) fn capacity_end(allocated: u64) -> u64 {
    allocated.saturating_sub(SEAL_BYTES + GUARD_BYTES)
}

/// The reason why a segment could not be made.
#[derive(Debug)]
pub(crate) enum CreateError {
    /// The file could not be made; the directory is unchanged.
    File(IoError),
    /// The directory could not be synced: other changes in it may be lost too.
    Directory(IoError),
}

impl CreateError {
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, CreateError::File(e) if e.is_disk_full())
    }

    pub(crate) fn into_io(self) -> IoError {
        match self {
            CreateError::File(e) | CreateError::Directory(e) => e,
        }
    }
}

/// Makes a segment: allocated, with a head, synced, and its directory entry durable. After a failure it
/// removes the file if possible. A remaining file is harmless, because nothing names it.
pub(crate) fn create_segment(
    dir: &Dir,
    header: &FileHeader,
    preamble: &Preamble,
) -> Result<NamedFile, CreateError> {
    let name = segment_name(header.file_id);
    let file = dir.create(&name).map_err(CreateError::File)?;
    let bytes = preamble.encode(&header.encode());
    let filled = file
        .allocate(preamble.allocated)
        .and_then(|()| file.write_all_at(&bytes, 0))
        .and_then(|()| file.sync_all());
    if let Err(e) = filled {
        let _ = dir.unlink(&name);
        return Err(CreateError::File(e));
    }
    dir.sync().map_err(CreateError::Directory)?;
    Ok(file)
}

/// Opens a log segment for reading. A missing file is damage, because the manifest or a seal names it.
pub(crate) fn open_segment(dir: &Dir, id: FileId) -> Result<NamedFile, FileError> {
    let name = segment_name(id);
    dir.open(&name, Access::Read).map_err(|e| match e.source.kind() {
        std::io::ErrorKind::NotFound => Corruption::new(name, 0, CorruptionKind::Missing).into(),
        _ => e.into(),
    })
}

/// Reads and checks the file header and the preamble.
pub(crate) fn read_head(
    file: &NamedFile,
    len: u64,
    store: StoreId,
    id: FileId,
) -> Result<Preamble, FileError> {
    let mut bytes = [0; DATA_START as usize];
    if len < DATA_START {
        let kind = CorruptionKind::Truncated { expected: DATA_START, found: len };
        return Err(Corruption::new(file.name(), 0, kind).into());
    }
    file.read_exact_at(&mut bytes, 0)?;
    FileHeader::decode(&bytes, FileKind::Log)
        .and_then(|header| header.check_owner(store, id))
        .map_err(|e| FileError::from_header(file.name(), e))?;
    let preamble =
        Preamble::decode(&bytes).map_err(|kind| Corruption::new(file.name(), HEADER_BYTES as u64, kind))?;
    let beyond = preamble.base.0 > LAST_POSITION || preamble.allocated > LAST_POSITION;
    if preamble.allocated < DATA_START || beyond {
        let kind = CorruptionKind::Invalid("impossible sizes in the preamble");
        return Err(Corruption::new(file.name(), HEADER_BYTES as u64, kind).into());
    }
    Ok(preamble)
}
