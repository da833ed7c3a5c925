//! Errors of files: refusals of the operating system, and damage or foreign content in a file.

use std::io;

use thiserror::Error;

use crate::header::FormatError;

/// A failed call of the file system, with the file and the operation.
#[derive(Debug, Error)]
#[error("{op} {file}: {source}")]
pub struct IoError {
    /// The file's name in the store's directory; the directory's path for operations on the directory itself.
    pub file: String,
    /// The operation, such as `write` or `sync`.
    pub op: &'static str,
    /// The error of the operating system.
    pub source: io::Error,
}

impl IoError {
    /// Makes the error of `op` on `file`.
    pub fn new(file: impl Into<String>, op: &'static str, source: io::Error) -> Self {
        IoError { file: file.into(), op, source }
    }

    /// True if the process or the system had no file descriptor left to open the file.
    pub fn is_too_many_files(&self) -> bool {
        is_too_many_files(&self.source)
    }

    /// True if the disk, or a quota on it, is full.
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// True if `error` means that the process, or the whole system, has no file descriptor left. The file was not
/// opened; a later attempt may succeed.
fn is_too_many_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// True if `error` means that the disk, or a quota on it, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Damage found in a file. The reader used none of the damaged bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file} is damaged at byte {offset}: {kind}")]
pub struct Corruption {
    /// The file's name in the store's directory.
    pub file: String,
    /// The position of the damage, in bytes from the beginning of the file.
    pub offset: u64,
    /// The kind of damage.
    pub kind: CorruptionKind,
}

impl Corruption {
    /// Makes a report of damage of `kind` in `file` at `offset`.
    pub fn new(file: impl Into<String>, offset: u64, kind: CorruptionKind) -> Self {
        Corruption { file: file.into(), offset, kind }
    }
}

/// The kinds of damage.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorruptionKind {
    /// The file ends early.
    #[error("{expected} bytes expected, {found} found")]
    Truncated {
        /// The number of bytes that the file should have.
        expected: u64,
        /// The number of bytes that the file has.
        found: u64,
    },
    /// A checksum of 64 bits does not match.
    #[error("checksum {found:#018x} instead of {expected:#018x}")]
    Checksum {
        /// The stored checksum.
        expected: u64,
        /// The checksum of the present bytes.
        found: u64,
    },
    /// The checksum of the header of a log record does not match, so its length and its other fields are
    /// unreliable.
    #[error("the header of a record is damaged: checksum {found:#018x} instead of {expected:#018x}")]
    RecordHeader {
        /// The stored checksum.
        expected: u64,
        /// The checksum of the present bytes.
        found: u64,
    },
    /// A checksum of a whole file does not match.
    #[error("file checksum {found:#034x} instead of {expected:#034x}")]
    FileChecksum {
        /// The stored checksum.
        expected: u128,
        /// The checksum of the present bytes.
        found: u128,
    },
    /// The header is unusable.
    #[error("{0}")]
    Header(FormatError),
    /// A file that another file names does not exist.
    #[error("the file is missing")]
    Missing,
    /// A number differs from its copy elsewhere.
    #[error("{what} is {found}, but should be {expected}")]
    Mismatch {
        /// The meaning of the number.
        what: &'static str,
        /// The value that it should have.
        expected: u64,
        /// The value that it has.
        found: u64,
    },
    /// Content that is known to have been durable is unreadable.
    #[error("no valid record here, though the log was durable up to position {durable_lsn}")]
    DurableRecordLost {
        /// The log position up to which the log was durable, according to a witness.
        durable_lsn: u64,
    },
    /// Content that breaks a rule of the format although its checksum is right.
    #[error("{0}")]
    Invalid(&'static str),
}

/// The error of a file that could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file is damaged.
    #[error(transparent)]
    Corruption(#[from] Corruption),
    /// The file is undamaged, but this version or this store cannot use it.
    #[error("{file}: {error}")]
    Format {
        /// The file's name in the store's directory.
        file: String,
        /// The obstacle.
        error: FormatError,
    },
}

impl FileError {
    /// Returns the error of a header: damage, or a file that this store cannot use.
    pub fn from_header(file: &str, error: FormatError) -> Self {
        match error {
            FormatError::Checksum { .. } | FormatError::Truncated { .. } | FormatError::WrongFile { .. } => {
                Corruption::new(file, 0, CorruptionKind::Header(error)).into()
            }
            _ => FileError::Format { file: file.to_owned(), error },
        }
    }
}
