//! Methods that open stores.

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_io::Vfs;

use super::Graph;
use crate::open;
use crate::options::Options;

impl Graph {
    /// Opens or creates the store in the directory `path` with default options. See [`Options::open`].
    ///
    /// # Errors
    /// Those of [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Graph> {
        Options::new().open(path)
    }

    /// Creates a store without files, with default options. O(1).
    ///
    /// # Errors
    /// None with these options.
    pub fn in_memory() -> Result<Graph> {
        Options::new().in_memory()
    }
}

impl Options {
    /// Opens the store in the directory `path`, creating it if there is none (see [`create`](Self::create)).
    ///
    /// Blocks for recovery. The time is in proportion to the log since the last checkpoint, and to the keys
    /// of vertices if there are any. The rest of the graph is read on first use.
    ///
    /// # Errors
    /// An [`OpenError`](crate::OpenError): the store is open already, here or in another process (only
    /// readers share it), the directory has other content, a later version wrote it, or it was created with
    /// other options; a [`StorageError`](crate::StorageError): damage, a full disk, the system's errors;
    /// [`ArgumentError::Invalid`] for an option out of its range.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Graph> {
        Ok(Graph { engine: open::open_path(self, path.as_ref())? })
    }

    /// Opens a store like [`open`](Self::open), but on a directory behind the file-system trait: for tests
    /// and instrumentation.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_on(self, fs: Arc<dyn Vfs>) -> Result<Graph> {
        Ok(Graph { engine: open::open_on(self, fs)? })
    }

    /// Creates a store without files, whose content is dropped with its last handle. O(1).
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for an option out of its range, and for [`read_only`](Self::read_only).
    pub fn in_memory(self) -> Result<Graph> {
        if self.read_only {
            return Err(ArgumentError::Invalid("a store without files cannot be read-only".into()).into());
        }
        Ok(Graph { engine: open::in_memory(self)? })
    }
}
