//! The temporary files of a salvage, in the directory of the new store.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_io::{Dir, NamedFile, Vfs};

use crate::error::Result;

/// The directory of temporary files, which names them.
#[derive(Debug)]
pub(super) struct TemporaryDirectory {
    fs: Arc<dyn Vfs>,
    next: AtomicU64,
}

impl TemporaryDirectory {
    pub(super) fn new(fs: Arc<dyn Vfs>) -> Arc<TemporaryDirectory> {
        Arc::new(TemporaryDirectory { fs, next: AtomicU64::new(1) })
    }

    /// Makes a temporary file.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn create(self: &Arc<Self>) -> Result<TemporaryFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let file = Dir::new(self.fs.clone()).create(&format!("salvage-{number:016x}.tmp"))?;
        Ok(TemporaryFile { directory: self.clone(), file })
    }

    /// Returns the number of files that were made.
    #[cfg(test)]
    pub(super) fn made(&self) -> u64 {
        self.next.load(Ordering::Relaxed) - 1
    }
}

/// A file that is removed when it is dropped, so also after an error.
#[derive(Debug)]
pub(super) struct TemporaryFile {
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
        // If the removal fails, the directory has one file more, which no manifest names.
        let _ = self.directory.fs.unlink(self.file.name());
    }
}
