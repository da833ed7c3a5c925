//! Temporary files, in the directory of the store that is being written.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_io::{Dir, NamedFile, Vfs};

use crate::TierError;

/// The directory in which temporary files are made, and the source of their names.
#[derive(Debug)]
pub struct TemporaryDirectory {
    fs: Arc<dyn Vfs>,
    stem: String,
    next: AtomicU64,
}

impl TemporaryDirectory {
    /// Makes a directory whose files are called `<stem>-<16 hex digits>.tmp`. Two directories with the same
    /// stem must not have files at the same time.
    pub fn new(fs: Arc<dyn Vfs>, stem: impl Into<String>) -> Arc<TemporaryDirectory> {
        Arc::new(TemporaryDirectory { fs, stem: stem.into(), next: AtomicU64::new(1) })
    }

    /// Makes a temporary file.
    ///
    /// # Errors
    /// [`TierError::File`].
    pub fn create(self: &Arc<Self>) -> Result<TemporaryFile, TierError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let file = Dir::new(self.fs.clone()).create(&format!("{}-{number:016x}.tmp", self.stem))?;
        Ok(TemporaryFile { directory: self.clone(), file })
    }

    /// Returns the number of files that were made so far. O(1).
    pub fn made(&self) -> u64 {
        self.next.load(Ordering::Relaxed) - 1
    }
}

/// A file that is removed when this is dropped, and so also after an error.
#[derive(Debug)]
pub struct TemporaryFile {
    directory: Arc<TemporaryDirectory>,
    file: NamedFile,
}

impl Deref for TemporaryFile {
    type Target = NamedFile;

    fn deref(&self) -> &NamedFile {
        &self.file
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // If the removal fails, the directory keeps a file that no manifest names.
        let _ = self.directory.fs.unlink(self.file.name());
    }
}
