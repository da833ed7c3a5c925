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
    /// Returns the bytes read so far, before decompression.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Returns the size of the file in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }
}
