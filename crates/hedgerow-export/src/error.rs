//! The errors of exports.

use std::io;

/// The error of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused a read.
    #[error(transparent)]
    Store(#[from] hedgerow::Error),
    /// A table cannot be made.
    #[error(transparent)]
    Table(hedgerow_arrow::Error),
    /// The destination does not fit, or an argument makes no sense.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be written.
    #[error("writing {to}: {source}")]
    Write {
        /// The destination.
        to: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl From<hedgerow_arrow::Error> for Error {
    fn from(error: hedgerow_arrow::Error) -> Error {
        match error {
            hedgerow_arrow::Error::Store(error) => Error::Store(error),
            other => Error::Table(other),
        }
    }
}
