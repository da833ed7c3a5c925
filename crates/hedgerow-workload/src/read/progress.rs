//! The progress of reading a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The share of a file's bytes on disk that has been read; may be polled from another thread.
#[derive(Clone, Debug)]
pub struct Progress {
    pub(super) read: Arc<AtomicU64>,
    pub(super) total: u64,
}

impl Progress {
    /// Begins the progress of a reading of `total` units.
    pub fn new(total: u64) -> Progress {
        Progress { read: Arc::default(), total }
    }

    /// Sets the units read so far.
    pub fn set(&self, read: u64) {
        self.read.store(read, Relaxed);
    }

    /// Returns the units read so far: of a file of lines, bytes before decompression.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Returns the number of all units.
    pub fn total(&self) -> u64 {
        self.total
    }
}
