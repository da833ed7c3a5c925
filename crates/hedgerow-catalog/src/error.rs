//! Errors of the store, grouped by the thing that failed: opening, committing, an argument, the state of the
//! handle, or files. `docs/design/api.md` explains the groups.

mod argument;

mod shortage;

use std::path::Path;

use hedgerow_core::{GraphConfig, Timestamp, VertexKey};
use hedgerow_io::{Corruption, IoError, LockHolder};
use hedgerow_mem::version::NotInMemory;

pub use shortage::Shortage;

pub use argument::ArgumentError;
pub use argument::with_keys;

/// The result of a call into the store.
///
/// It also takes another error type, so that a program which imports the whole crate can still write
/// `Result<(), Box<dyn std::error::Error>>`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the store. The group shows what failed, and so who can help. Its variants have the facts: the
/// file, the key, the timestamp.
///
/// ```
/// # use hedgerow::{Error, Graph};
/// # fn transfer(graph: &Graph) -> hedgerow::Result<()> {
/// # let mut tx = graph.write()?;
/// # tx.put_edge((1, 2))?;
/// match tx.commit() {
///     Err(error) if error.is_conflict() => transfer(graph), // run it again
///     Err(Error::State(state)) => panic!("{state}"),        // closed, poisoned, ...
///     other => other.map(drop),
/// }
/// # }
/// # transfer(&Graph::in_memory()?)?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory cannot be opened as the requested store. Nothing in it was changed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A transaction, or a single operation, was not committed, or its outcome is unknown.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The request makes no sense in this graph. Nothing was done; the same call fails again.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The store or the handle takes no such calls any more. Nothing was done; the same call fails again.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Reasons why a directory cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory is open already, in this process or another one. Only read-only handles can share it.
    /// Try again once the holder has closed it.
    #[error("{path} is locked: {holder}")]
    Locked {
        /// The directory.
        path: String,
        /// The process that has the directory open.
        holder: LockHolder,
    },
    /// The directory does not hold a store, and is not an empty directory to create one in.
    #[error("{path} is not a store: {reason}")]
    NotAStore {
        /// The directory.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The store was written by a later version.
    #[error("{file} has format version {found}; this program reads format versions up to {supported}")]
    FutureVersion {
        /// The file.
        file: String,
        /// The version of the file.
        found: String,
        /// The latest version that can be read.
        supported: String,
    },
    /// The store has a format that no release wrote. The program that wrote the store can export it.
    #[error(
        "{file} has format version {found}, from before the first release; this program reads version {supported}"
    )]
    OldVersion {
        /// The file.
        file: String,
        /// The version of the file.
        found: u16,
        /// The earliest version that can be read.
        supported: u16,
    },
    /// The store does not fit the [memory limit](../hedgerow/struct.Options.html#method.memory_limit), or the
    /// limit is too low for any store. Open it with at least the limit that the error names.
    #[error("a memory limit of {limit} bytes is too low: at least {least} are needed")]
    MemoryLimit {
        /// The requested limit.
        limit: u64,
        /// The least limit with which the store opens.
        least: u64,
    },
    /// The options disagree with the configuration with which the graph was created.
    #[error(
        "the graph was created {}: it cannot be opened {}",
        difference(found, wanted),
        difference(wanted, found)
    )]
    ConfigMismatch {
        /// The configuration in the options.
        wanted: GraphConfig,
        /// The configuration of the store.
        found: GraphConfig,
    },
    /// The option `mode` differs from the permissions of the store's files, which are those of the file
    /// `LOCK`.
    #[error(
        "the option mode asks for 0o{wanted:o}, but the files of {path} have 0o{found:o}, the permissions of its file \
         LOCK: open it without a mode, or change all its files with chmod"
    )]
    ModeMismatch {
        /// The directory.
        path: String,
        /// The permissions in the options.
        wanted: u32,
        /// The permissions of the store's files.
        found: u32,
    },
}

/// Reasons why a transaction or a single operation was not committed. Except with
/// [`OutcomeUnknown`](Self::OutcomeUnknown), no part of it was applied, and the store stays usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// A commit after this transaction's snapshot changed an item that the transaction read or wrote. Run it
    /// again.
    #[error("conflict with the commit at timestamp {with}: run the transaction again")]
    Conflict {
        /// The timestamp of a conflicting commit; a retry makes sense once it is published.
        with: Timestamp,
    },
    /// An edge names a vertex that does not exist, and the transaction does not create endpoints.
    #[error("no vertex {key}")]
    NoSuchVertex {
        /// The vertex.
        key: VertexKey,
    },
    /// The [memory limit](../hedgerow/struct.Options.html#method.memory_limit) has no room for the commit.
    /// Run it again once views or old snapshots are dropped, or open the store with a larger limit.
    #[error("no room for the commit: {0}")]
    MemoryLimit(Shortage),
    /// The transaction alone takes more than a quarter of the [memory
    /// limit](../hedgerow/struct.Options.html#method.memory_limit). Split it.
    #[error(
        "the transaction needs about {needed} bytes of memory; the limit allows {most} bytes for one transaction"
    )]
    TooLarge {
        /// The bytes that the transaction takes, estimated.
        needed: u64,
        /// A quarter of the limit.
        most: u64,
    },
    /// The disk has no space for the log. Run the transaction again once there is some.
    #[error("the disk is full: the transaction was not applied")]
    DiskFull,
    /// The log needs a new file, and the process or the system has no file descriptor left. Run the
    /// transaction again once there is one.
    #[error("too many files are open: the transaction was not applied")]
    TooManyFiles,
    /// The log failed during this commit: after reopening the store the transaction is either wholly present
    /// or wholly absent. The store accepts no more writes. Check the store before running the transaction
    /// again: it may be applied twice.
    #[error("the log failed during the commit: reopen the store to learn the outcome")]
    OutcomeUnknown,
}

/// Reasons why the store, or a pipeline on it, refuses calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The log failed earlier: the store accepts no more writes. Reopen it.
    #[error("the log failed earlier: the store takes no more writes until it is reopened")]
    Poisoned,
    /// The store was opened for reading only.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The process is a fork of the process that opened the store: the child cannot use the store.
    #[error("the store was opened before this process was forked")]
    Forked,
    /// The function given to [`Graph::pipeline`](../hedgerow/struct.Graph.html#method.pipeline) panicked
    /// earlier: the pipeline accepts no more operations. Operations submitted before are executed, but not
    /// acknowledged.
    #[error("the pipeline takes no more operations: the function that it calls for each operation panicked")]
    AckPanicked,
    /// The caller's function that is polled during a read ended the read.
    #[error("the read was cancelled")]
    Cancelled,
}

/// Reasons why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// A file is damaged. No damaged data was used.
    #[error(transparent)]
    Corruption(#[from] Corruption),
    /// The disk has no space left, or a quota is used up. The store has not changed. A commit that finds no
    /// space has the error [`CommitError::DiskFull`].
    #[error("{operation} {file}: the disk is full")]
    DiskFull {
        /// The file.
        file: String,
        /// The operation that failed.
        operation: &'static str,
    },
    /// The operating system reported an error.
    #[error("{operation} {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The operation that failed.
        operation: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// Data of the graph must be read from files, and the [memory
    /// limit](../hedgerow/struct.Options.html#method.memory_limit) has no room for it in addition to the data
    /// in memory.
    #[error("the memory limit has no room for a part of the graph: {0}")]
    MemoryLimit(Shortage),
    /// Each time that this call had read data from files, the data was evicted again, since other calls need
    /// the room.
    #[error(transparent)]
    NotInMemory(#[from] NotInMemory),
}

impl From<NotInMemory> for Error {
    fn from(error: NotInMemory) -> Error {
        Error::Storage(error.into())
    }
}

impl Error {
    /// True if running the transaction again at once can succeed. After [`OpenError::Locked`],
    /// [`CommitError::DiskFull`], [`CommitError::TooManyFiles`] and [`StorageError::DiskFull`] it can succeed
    /// only once something outside the program has changed; after other errors it cannot.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Commit(CommitError::Conflict { .. }))
    }

    /// True if a transaction was refused for its memory. A transaction of fewer operations may succeed.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Commit(CommitError::MemoryLimit(_) | CommitError::TooLarge { .. }))
    }

    /// Turns the error of a read within a commit into an error of the commit: if the memory limit has no room
    /// for the read, the commit is refused.
    #[doc(hidden)]
    pub fn of_commit(self) -> Error {
        match self {
            Error::Storage(StorageError::MemoryLimit(shortage)) => CommitError::MemoryLimit(shortage).into(),
            other => other,
        }
    }

    /// True if a file found no space on the disk: the writer can try again when there is some. False if a
    /// sync of the directory found no space.
    #[doc(hidden)]
    pub fn is_file_without_room(&self) -> bool {
        matches!(self, Error::Storage(StorageError::DiskFull { operation, .. }) if *operation != hedgerow_io::SYNC_DIRECTORY)
    }

    /// True if the disk had no space.
    #[doc(hidden)]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Error::Commit(CommitError::DiskFull) | Error::Storage(StorageError::DiskFull { .. }))
    }
}

// Every commit returns a `Result` with this error, so it must not be larger than before errors had groups.
const _: () = assert!(size_of::<Error>() <= 80);

/// Returns the error of `operation` on the file or directory at `path`.
pub fn io_error(path: &Path, operation: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |source| IoError::new(path.display().to_string(), operation, source).into()
}

/// Returns a description of `this` where it differs from `other`.
fn difference(this: &GraphConfig, other: &GraphConfig) -> String {
    let either = |yes: bool, text: &'static str, no: &'static str| if yes { text } else { no };
    let mut words = Vec::new();
    if this.directed != other.directed {
        words.push(either(this.directed, "directed", "undirected"));
    }
    if this.keys != other.keys {
        words.push(with_keys(this.keys));
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

impl From<IoError> for StorageError {
    fn from(error: IoError) -> Self {
        let full = error.is_disk_full();
        let (file, operation) = (error.file, error.op);
        if full {
            StorageError::DiskFull { file, operation }
        } else {
            StorageError::Io { file, operation, source: error.source }
        }
    }
}

impl From<IoError> for Error {
    fn from(error: IoError) -> Self {
        StorageError::from(error).into()
    }
}

impl From<Corruption> for Error {
    fn from(damage: Corruption) -> Self {
        StorageError::from(damage).into()
    }
}

impl From<hedgerow_io::FileError> for Error {
    fn from(error: hedgerow_io::FileError) -> Self {
        use hedgerow_io::{FileError, FormatError};
        match error {
            FileError::Io(error) => error.into(),
            FileError::Corruption(corruption) => corruption.into(),
            FileError::Format { file, error: FormatError::FutureVersion { found, supported } } => {
                let (found, supported) = (found.to_string(), supported.to_string());
                OpenError::FutureVersion { file, found, supported }.into()
            }
            FileError::Format { file, error: FormatError::OldVersion { found, supported } } => {
                OpenError::OldVersion { file, found, supported }.into()
            }
            FileError::Format { file, error } => {
                OpenError::NotAStore { path: file, reason: error.to_string() }.into()
            }
            other => ArgumentError::Invalid(other.to_string()).into(),
        }
    }
}

impl From<hedgerow_tier::TierError> for Error {
    fn from(error: hedgerow_tier::TierError) -> Self {
        use hedgerow_io::FORMAT_MAJOR;
        use hedgerow_tier::TierError;
        match error {
            TierError::File(error) => error.into(),
            TierError::NotAStore { path, entries } => {
                let reason = format!("it holds {} and no manifest", entries.join(", "));
                OpenError::NotAStore { path, reason }.into()
            }
            TierError::UnknownSection { file, tag, version } => {
                let found = format!("{FORMAT_MAJOR}, with the unknown section {tag} of version {version}");
                let supported = format!("{FORMAT_MAJOR}, without this section");
                OpenError::FutureVersion { file, found, supported }.into()
            }
            TierError::SwitchUnknown { file, source } => {
                StorageError::Io { file, operation: source.op, source: source.source }.into()
            }
            other => ArgumentError::Invalid(other.to_string()).into(),
        }
    }
}
