//! What is wrong with a description of the workload.

use std::path::PathBuf;

/// Why a description of the workload cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkBenchError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A file lacks something.
    #[error("{}: no {what}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is not there.
        what: String,
    },
}
