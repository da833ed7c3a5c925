//! The errors of loads.

use std::path::{Path, PathBuf};

use hedgerow_workload::read::ReadError;

/// The error of a load. Messages spell options as the command line does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options contradict each other, the files, or the store.
    #[error("{0}")]
    Options(String),
    /// An option names a kind that does not exist.
    #[error("--{option}: {source}")]
    Kind {
        /// The option.
        option: &'static str,
        /// The error of the store.
        source: hedgerow::Error,
    },
    /// A file or a directory cannot be loaded.
    #[error("{}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A file cannot be opened.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A row is malformed.
    #[error("{}:{line}: {reason}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, or the row of a table, from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// The store refused the operation.
    #[error(transparent)]
    Store(#[from] hedgerow::Error),
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A table cannot be read.
    #[error(transparent)]
    Table(hedgerow_arrow::Error),
    /// The layout of a file is ambiguous.
    #[error("{source}; say {hint}")]
    Unclear {
        /// The ambiguity.
        source: ReadError,
        /// The options that decide.
        hint: &'static str,
    },
    /// The caller's [`Watch`](crate::Watch) ended the load.
    #[error("interrupted")]
    Interrupted,
    /// The load failed after some of its transactions, which stay in the store.
    #[error("{source} (the first {rows} rows are committed)")]
    Committed {
        /// The number of committed rows.
        rows: u64,
        /// The failure.
        source: Box<Error>,
    },
    /// A transaction could not be committed; the error of the commit replaces this one.
    #[error("a commit failed")]
    CommitFailed,
}

impl Error {
    /// Returns an error about a file.
    pub(crate) fn file(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::File { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Returns the error of the system about a file.
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { path: path.clone(), source }
    }

    pub(crate) fn row(path: &Path, line: u64, reason: String) -> Error {
        Error::Row { path: path.to_owned(), line, reason }
    }

    /// Returns the file and the line at fault, as far as the error has them. O(1).
    pub fn place(&self) -> (Option<&Path>, Option<u64>) {
        match self {
            Error::File { path, .. } | Error::Io { path, .. } => (Some(path), None),
            Error::Row { path, line, .. } => (Some(path), Some(*line)),
            Error::Read(error) | Error::Unclear { source: error, .. } => (Some(error.path()), error.line()),
            Error::Committed { source, .. } => source.place(),
            _ => (None, None),
        }
    }
}

impl From<hedgerow_arrow::Error> for Error {
    fn from(error: hedgerow_arrow::Error) -> Error {
        match error {
            hedgerow_arrow::Error::Store(error) => Error::Store(error),
            other => Error::Table(other),
        }
    }
}
