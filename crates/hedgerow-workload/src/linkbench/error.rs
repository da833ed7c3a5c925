//! Errors in a description of the workload.

use std::path::PathBuf;

/// An error in a description of the workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkBenchError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A line is malformed.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The fault of the line.
        what: String,
    },
    /// A file lacks a required part.
    #[error("{}: no {what}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The name of the missing part.
        what: String,
    },
}
