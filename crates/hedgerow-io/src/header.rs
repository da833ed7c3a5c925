//! The 64 bytes at the beginning of every file (`docs/format/common.md`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use thiserror::Error;

use crate::checksum::checksum64;
use crate::codec::{PutLe, Reader};

/// The length of a file header.
pub const HEADER_BYTES: usize = 64;
/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"HEDGEROW";
/// The format version that this build reads and writes; a file of another major version is refused.
pub const FORMAT_MAJOR: u16 = 5;
/// The minor format version that this build writes; files with a larger one can be read.
pub const FORMAT_MINOR: u16 = 0;

/// The identity of a store: random, made at creation, and repeated in each of its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoreId(pub [u8; 16]);

impl StoreId {
    /// Returns a fresh identity, from the random seeds that the operating system gives to hash tables.
    pub fn generate() -> StoreId {
        let high = RandomState::new().hash_one("store id, first half");
        let low = RandomState::new().hash_one("store id, second half");
        StoreId(((u128::from(high) << 64) | u128::from(low)).to_be_bytes())
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// The number of a file, unique among the files of its kind in a store and never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FileId(pub u64);

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum FileKind {
    /// A log segment (`.wal`).
    Log = 1,
    /// A segment of subgraph images (`.csr`).
    Segment = 2,
    /// A manifest (`.man`).
    Manifest = 3,
}

impl FileKind {
    fn from_u16(kind: u16) -> Option<FileKind> {
        match kind {
            1 => Some(FileKind::Log),
            2 => Some(FileKind::Segment),
            3 => Some(FileKind::Manifest),
            _ => None,
        }
    }

    /// Returns the incompatible features that this build reads: the key index and the deltas of a segment.
    fn known_features(self) -> u32 {
        if self == FileKind::Segment { 3 } else { 0 }
    }
}

/// The fields of a file header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// The kind of the file.
    pub kind: FileKind,
    /// Features that a reader or writer may ignore.
    pub compat: u32,
    /// Features that a reader may ignore, but a writer must know.
    pub ro_compat: u32,
    /// Features that a reader must know.
    pub incompat: u32,
    /// The store to which the file belongs.
    pub store: StoreId,
    /// The number of the file.
    pub file_id: FileId,
    /// The store's epoch when the file was made; the file's owner chooses and checks it.
    pub epoch: u32,
}

/// The reason why a header was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file is shorter than a header.
    #[error("the file has {found} bytes, its header alone needs {HEADER_BYTES}")]
    Truncated {
        /// The number of bytes of the file.
        found: usize,
    },
    /// The first bytes are not the magic of Hedgerow's files.
    #[error("not a Hedgerow file")]
    NotOurs,
    /// The header is damaged.
    #[error("header checksum {found:#018x} instead of {expected:#018x}")]
    Checksum {
        /// The stored checksum.
        expected: u64,
        /// The checksum of the bytes that are present.
        found: u64,
    },
    /// The file is of another kind than its name has.
    #[error("the file is of kind {found}, but should be of kind {expected:?}")]
    WrongKind {
        /// The expected kind.
        expected: FileKind,
        /// The kind in the header.
        found: u16,
    },
    /// The file was written by a later version.
    #[error("format version {found}, but this build reads versions up to {supported}")]
    FutureVersion {
        /// The major version of the file.
        found: u16,
        /// The largest major version that this build reads.
        supported: u16,
    },
    /// The file has a format that was never released.
    #[error("format version {found} is from before the first release; this build reads version {supported}")]
    OldVersion {
        /// The major version of the file.
        found: u16,
        /// The least major version that this build reads.
        supported: u16,
    },
    /// The file needs a feature that this build does not know.
    #[error("unknown feature bits {bits:#010x}")]
    UnknownFeature {
        /// The unknown bits.
        bits: u32,
    },
    /// The file belongs to another store.
    #[error("the file belongs to store {found}, this is store {expected}")]
    WrongStore {
        /// This store.
        expected: StoreId,
        /// The store of the file.
        found: StoreId,
    },
    /// The number in the file differs from the number in its name.
    #[error("the file has number {found}, but should have number {expected}")]
    WrongFile {
        /// The number in the name.
        expected: FileId,
        /// The number in the header.
        found: FileId,
    },
}

impl FileHeader {
    /// Returns a header without feature bits, of the version that this build writes.
    pub fn new(kind: FileKind, store: StoreId, file_id: FileId, epoch: u32) -> Self {
        FileHeader { kind, compat: 0, ro_compat: 0, incompat: 0, store, file_id, epoch }
    }

    /// Returns the header's bytes, checksum included.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        self.encode_version(FORMAT_MAJOR, FORMAT_MINOR)
    }

    fn encode_version(&self, major: u16, minor: u16) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.put_bytes(&MAGIC);
        bytes.put_u16(self.kind as u16);
        bytes.put_u16(major);
        bytes.put_u16(minor);
        bytes.put_u16(0);
        bytes.put_u32(self.compat);
        bytes.put_u32(self.ro_compat);
        bytes.put_u32(self.incompat);
        bytes.put_u32(self.epoch);
        bytes.put_bytes(&self.store.0);
        bytes.put_u64(self.file_id.0);
        bytes.put_u64(checksum64(&bytes));
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&bytes);
        header
    }

    /// Reads the header at the beginning of `bytes`, for a file of `kind`. The owner still has to compare
    /// store and file id ([`check_owner`](Self::check_owner)).
    ///
    /// # Errors
    /// The first reason to refuse the header.
    pub fn decode(bytes: &[u8], kind: FileKind) -> Result<FileHeader, FormatError> {
        let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(FormatError::Truncated { found: bytes.len() });
        };
        if !header.starts_with(&MAGIC) {
            return Err(FormatError::NotOurs);
        }
        let (body, stored) = header.split_at(HEADER_BYTES - 8);
        let expected =
            Reader::new(stored).u64().map_err(|_| FormatError::Truncated { found: bytes.len() })?;
        let found = checksum64(body);
        if expected != found {
            return Err(FormatError::Checksum { expected, found });
        }
        Self::decode_body(body, kind)
    }

    fn decode_body(body: &[u8], kind: FileKind) -> Result<FileHeader, FormatError> {
        let mut r = Reader::new(body);
        let short = |_| FormatError::Truncated { found: body.len() };
        r.bytes(MAGIC.len()).map_err(short)?;
        let found_kind = r.u16().map_err(short)?;
        let major = r.u16().map_err(short)?;
        match major.cmp(&FORMAT_MAJOR) {
            Ordering::Equal => {}
            Ordering::Greater => {
                return Err(FormatError::FutureVersion { found: major, supported: FORMAT_MAJOR });
            }
            Ordering::Less => return Err(FormatError::OldVersion { found: major, supported: FORMAT_MAJOR }),
        }
        if FileKind::from_u16(found_kind) != Some(kind) {
            return Err(FormatError::WrongKind { expected: kind, found: found_kind });
        }
        r.u32().map_err(short)?; // minor version and reserved bytes
        let header = FileHeader {
            kind,
            compat: r.u32().map_err(short)?,
            ro_compat: r.u32().map_err(short)?,
            incompat: r.u32().map_err(short)?,
            epoch: r.u32().map_err(short)?,
            store: StoreId(r.array().map_err(short)?),
            file_id: FileId(r.u64().map_err(short)?),
        };
        match header.incompat & !kind.known_features() | header.ro_compat {
            0 => Ok(header),
            bits => Err(FormatError::UnknownFeature { bits }),
        }
    }

    /// Checks that the file belongs to `store` and has the number `file_id`.
    ///
    /// # Errors
    /// If the store or the number differs.
    pub fn check_owner(&self, store: StoreId, file_id: FileId) -> Result<(), FormatError> {
        if self.store != store {
            return Err(FormatError::WrongStore { expected: store, found: self.store });
        }
        if self.file_id != file_id {
            return Err(FormatError::WrongFile { expected: file_id, found: self.file_id });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
