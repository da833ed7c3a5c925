//! Errors of files: what the operating system refused, and what a file turned out to hold.

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
    /// What the operating system said.
    pub source: io::Error,
}

impl IoError {
    /// An error of `op` on `file`.
    pub fn new(file: impl Into<String>, op: &'static str, source: io::Error) -> Self {
        IoError { file: file.into(), op, source }
    }

    /// Whether there was no file descriptor left to open the file with.
    pub fn is_too_many_files(&self) -> bool {
        is_too_many_files(&self.source)
    }

    /// Whether the disk, or a quota on it, is full.
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// Whether `error` says that the process, or the whole system, has no file descriptor left: the file was not opened, and may be later.
fn is_too_many_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Whether `error` says that the disk, or a quota on it, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Damage found in a file. Nothing of the damaged part was used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file} is damaged at byte {offset}: {kind}")]
pub struct Corruption {
    /// The file's name in the store's directory.
    pub file: String,
    /// The position of the damaged part, in bytes from the beginning of the file.
    pub offset: u64,
    /// What is wrong.
    pub kind: CorruptionKind,
}

impl Corruption {
    /// Damage of `kind` in `file` at `offset`.
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
        /// How many bytes should be there.
        expected: u64,
        /// How many are.
        found: u64,
    },
    /// A checksum of 64 bits does not match.
    #[error("checksum {found:#018x} instead of {expected:#018x}")]
    Checksum {
        /// The stored checksum.
        expected: u64,
        /// The checksum of what is there.
        found: u64,
    },
    /// The checksum of the header of a log record does not match, so neither its length nor anything else in it can be
    /// believed.
    #[error("the header of a record is damaged: checksum {found:#018x} instead of {expected:#018x}")]
    RecordHeader {
        /// The stored checksum.
        expected: u64,
        /// The checksum of what is there.
        found: u64,
    },
    /// A checksum of a whole file does not match.
    #[error("file checksum {found:#034x} instead of {expected:#034x}")]
    FileChecksum {
        /// The stored checksum.
        expected: u128,
        /// The checksum of what is there.
        found: u128,
    },
    /// The header is unusable.
    #[error("{0}")]
    Header(FormatError),
    /// A file that another one names does not exist.
    #[error("the file is missing")]
    Missing,
    /// A number differs from what another place says about it.
    #[error("{what} is {found}, should be {expected}")]
    Mismatch {
        /// What the number means.
        what: &'static str,
        /// What it should be.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// Content that was known durable is unreadable.
    #[error("no valid record here, though the log was durable up to position {durable_lsn}")]
    DurableRecordLost {
        /// The log position that some witness states as durable.
        durable_lsn: u64,
    },
    /// Content with a right checksum that makes no sense.
    #[error("{0}")]
    Invalid(&'static str),
}

/// Why a file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file is damaged.
    #[error(transparent)]
    Corruption(#[from] Corruption),
    /// The file is whole, but not one that this version, or this store, can use.
    #[error("{file}: {error}")]
    Format {
        /// The file's name in the store's directory.
        file: String,
        /// What stands in the way.
        error: FormatError,
    },
}

impl FileError {
    /// The error of a header: damage, or a file that is not for us.
    pub fn from_header(file: &str, error: FormatError) -> Self {
        match error {
            FormatError::Checksum { .. } | FormatError::Truncated { .. } | FormatError::WrongFile { .. } => {
                Corruption::new(file, 0, CorruptionKind::Header(error)).into()
            }
            _ => FileError::Format { file: file.to_owned(), error },
        }
    }
}
