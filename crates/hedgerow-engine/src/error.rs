//! Errors of the store.

use hedgerow_core::{KeyKind, Timestamp, VertexKey};
use hedgerow_io::{Corruption, LockHolder};

use crate::config::GraphConfig;

/// The result of a call into the store.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong. Every variant carries the facts: which file, which key, which timestamp.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory is open already, in this process or another. Only readers share it.
    #[error("{path} is locked: {holder}")]
    Locked {
        /// The directory.
        path: String,
        /// The process that has it open.
        holder: LockHolder,
    },
    /// The directory does not hold a store, and is not an empty directory to create one in.
    #[error("{path} is not a store: {reason}")]
    NotAStore {
        /// The directory.
        path: String,
        /// What was found instead.
        reason: String,
    },
    /// The store was written by a later version.
    #[error("{file} has format version {found}; this version reads up to {supported}")]
    FutureVersion {
        /// The file.
        file: String,
        /// Its version.
        found: String,
        /// The latest version that can be read.
        supported: String,
    },
    /// The options disagree with what the graph was created with.
    #[error(
        "the graph was created {}, but {} was asked for",
        difference(found, wanted),
        difference(wanted, found)
    )]
    ConfigMismatch {
        /// What the options ask for.
        wanted: GraphConfig,
        /// What the store is.
        found: GraphConfig,
    },
    /// A file is damaged. Nothing of the damaged part was used.
    #[error(transparent)]
    Corruption(#[from] Corruption),
    /// The operating system reported an error.
    #[error("{operation} {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was being done.
        operation: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is no space for the log. Nothing of the transaction was applied; the store stays usable.
    #[error("the disk is full: the transaction was not applied")]
    DiskFull,
    /// Something that this transaction read or wrote was changed by a commit after its snapshot. Run it again.
    #[error("conflict with the commit at {with}: run the transaction again")]
    Conflict {
        /// The timestamp of a conflicting commit; a retry makes sense once it is published.
        with: Timestamp,
    },
    /// The log failed while this commit was on its way: after reopening the store the transaction is either wholly
    /// present or wholly absent. The store takes no more writes.
    #[error("the log failed during the commit: reopen the store to learn the outcome")]
    OutcomeUnknown,
    /// The log failed earlier: the store takes no more writes. Reopen it.
    #[error("the log failed earlier: the store takes no more writes until it is reopened")]
    Poisoned,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The process was forked since the store was opened; the child cannot use it.
    #[error("the store was opened before this process was forked")]
    Forked,
    /// The function given to [`Graph::pipeline`](crate::Graph::pipeline) panicked earlier: the pipeline takes no more
    /// operations. Those submitted before are executed, and not acknowledged.
    #[error("the pipeline takes no more operations: the function that it calls for each panicked")]
    AckPanicked,
    /// The store was opened for reading only.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// An edge names a vertex that does not exist, and the transaction does not create endpoints.
    #[error("no vertex {key}")]
    NoSuchVertex {
        /// The vertex.
        key: VertexKey,
    },
    /// A label was named that is not defined.
    #[error("no label {label}: the labels are {}", listed(known))]
    NoSuchLabel {
        /// The label.
        label: String,
        /// The names of those there are; the default label's is empty.
        known: Vec<String>,
    },
    /// Edges have different labels, and what was asked for reads the edges of one.
    #[error("the edges have {} labels, {}: name one of them", labels.len(), listed(labels))]
    SeveralLabels {
        /// Their names; the default label's is empty.
        labels: Vec<String>,
    },
    /// A label is defined otherwise.
    #[error("label {name} is {found}, not {wanted}")]
    SchemaConflict {
        /// The label.
        name: String,
        /// What was asked for.
        wanted: String,
        /// What it is.
        found: String,
    },
    /// A property has another type.
    #[error("property {property} is of type {expected}, the value of type {found}")]
    PropertyType {
        /// The name of the property.
        property: String,
        /// Its type.
        expected: hedgerow_core::PropertyType,
        /// The type that was given.
        found: hedgerow_core::PropertyType,
    },
    /// An argument is out of range.
    #[error("{0}")]
    InvalidArgument(String),
    /// A limit was exceeded.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// What was too large.
        what: String,
        /// The limit.
        limit: u64,
    },
}

/// The most names that a message lists.
const MOST_LISTED: usize = 32;

/// Names for a message, quoted: the default label's is empty.
fn listed(names: &[String]) -> String {
    let mut text =
        names.iter().take(MOST_LISTED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_LISTED {
        text += &format!(" and {} more", names.len() - MOST_LISTED);
    }
    text
}

impl Error {
    /// Whether running the transaction again can succeed.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Conflict { .. })
    }
}

/// What `this` says where the two differ.
fn difference(this: &GraphConfig, other: &GraphConfig) -> String {
    let either = |yes: bool, text: &'static str, no: &'static str| if yes { text } else { no };
    let mut words = Vec::new();
    if this.directed != other.directed {
        words.push(either(this.directed, "directed", "undirected"));
    }
    if this.keys != other.keys {
        words.push(match this.keys {
            KeyKind::Dense => "with dense keys",
            KeyKind::U64 => "with u64 keys",
            KeyKind::Str => "with str keys",
        });
    }
    if this.weighted != other.weighted {
        words.push(either(this.weighted, "weighted", "without weights"));
    }
    // An undirected graph has one list for both directions.
    if this.directed == other.directed && this.reverse != other.reverse {
        words.push(either(this.reverse, "with incoming edges (reverse)", "without incoming edges (reverse)"));
    }
    words.join(", ")
}

impl From<hedgerow_io::IoError> for Error {
    fn from(error: hedgerow_io::IoError) -> Self {
        if error.is_disk_full() {
            return Error::DiskFull;
        }
        Error::Io { file: error.file, operation: error.op.to_owned(), source: error.source }
    }
}

impl From<hedgerow_io::FileError> for Error {
    fn from(error: hedgerow_io::FileError) -> Self {
        use hedgerow_io::{FileError, FormatError};
        match error {
            FileError::Io(error) => error.into(),
            FileError::Corruption(corruption) => corruption.into(),
            FileError::Format { file, error: FormatError::FutureVersion { found, supported } } => {
                Error::FutureVersion { file, found: found.to_string(), supported: supported.to_string() }
            }
            FileError::Format { file, error } => Error::NotAStore { path: file, reason: error.to_string() },
            other => Error::InvalidArgument(other.to_string()),
        }
    }
}

impl From<hedgerow_tier::TierError> for Error {
    fn from(error: hedgerow_tier::TierError) -> Self {
        use hedgerow_tier::TierError;
        match error {
            TierError::File(error) => error.into(),
            TierError::NotAStore { path, entries } => {
                Error::NotAStore { path, reason: format!("it holds {} and no manifest", entries.join(", ")) }
            }
            TierError::UnknownSection { file, tag, version } => Error::FutureVersion {
                file,
                found: format!("section {tag} of version {version}"),
                supported: "none of that kind".into(),
            },
            TierError::SwitchUnknown { file, source } => {
                Error::Io { file, operation: source.op.to_owned(), source: source.source }
            }
            other => Error::InvalidArgument(other.to_string()),
        }
    }
}
