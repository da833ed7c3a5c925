//! A file system that counts calls and transferred bytes.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::vfs::{Access, Vfs, VfsFile, VfsLock};

/// The counts of a [`CountingFs`]. Calls are counted even if they fail (except `write_blocks_at`), bytes only
/// if they were transferred.
#[derive(Debug, Default)]
pub struct IoCounters {
    /// Calls of `read_at`, and calls of `read_blocks_at` that were not refused.
    pub reads: AtomicU64,
    /// Bytes read.
    pub read_bytes: AtomicU64,
    /// Reads past the cache of the operating system.
    pub reads_past_cache: AtomicU64,
    /// Bytes read past the cache of the operating system.
    pub read_bytes_past_cache: AtomicU64,
    /// Calls of `write_at`, and calls of `write_blocks_at` that were not refused.
    pub writes: AtomicU64,
    /// Bytes written.
    pub written_bytes: AtomicU64,
    /// Calls of `sync_data` and `sync_all`.
    pub file_syncs: AtomicU64,
    /// Calls of `sync_dir`.
    pub dir_syncs: AtomicU64,
    /// Files created.
    pub creates: AtomicU64,
    /// Files removed.
    pub unlinks: AtomicU64,
    /// Files renamed.
    pub renames: AtomicU64,
}

/// A wrapper of a file system that counts calls and bytes.
#[derive(Debug)]
pub struct CountingFs {
    inner: Arc<dyn Vfs>,
    counters: Arc<IoCounters>,
}

impl CountingFs {
    /// Makes a wrapper of `inner` that counts from zero.
    pub fn new(inner: Arc<dyn Vfs>) -> Self {
        CountingFs { inner, counters: Arc::default() }
    }

    /// Returns the counters, which are still updated.
    pub fn counters(&self) -> Arc<IoCounters> {
        Arc::clone(&self.counters)
    }

    fn wrap(&self, inner: Arc<dyn VfsFile>) -> Arc<dyn VfsFile> {
        Arc::new(CountingFile { inner, counters: self.counters() })
    }
}

impl Vfs for CountingFs {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>> {
        self.inner.open(name, access).map(|file| self.wrap(file))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>> {
        self.counters.creates.fetch_add(1, Relaxed);
        self.inner.create(name).map(|file| self.wrap(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.counters.renames.fetch_add(1, Relaxed);
        self.inner.rename(from, to)
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        self.counters.unlinks.fetch_add(1, Relaxed);
        self.inner.unlink(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.counters.dir_syncs.fetch_add(1, Relaxed);
        self.inner.sync_dir()
    }

    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>> {
        self.inner.lock(name)
    }

    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>> {
        self.inner.lock_existing(name)
    }

    fn contains(&self, path: &Path) -> io::Result<bool> {
        self.inner.contains(path)
    }
}

#[derive(Debug)]
struct CountingFile {
    inner: Arc<dyn VfsFile>,
    counters: Arc<IoCounters>,
}

impl VfsFile for CountingFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.counters.reads.fetch_add(1, Relaxed);
        let n = self.inner.read_at(buf, offset)?;
        self.counters.read_bytes.fetch_add(n as u64, Relaxed);
        Ok(n)
    }

    fn reads_past_cache(&self) -> bool {
        self.inner.reads_past_cache()
    }

    fn read_blocks_at(&self, blocks: &mut [u8], offset: u64) -> io::Result<Option<usize>> {
        let read = self.inner.read_blocks_at(blocks, offset);
        if !matches!(read, Ok(None)) {
            self.counters.reads.fetch_add(1, Relaxed);
            self.counters.reads_past_cache.fetch_add(1, Relaxed);
        }
        if let Ok(Some(n)) = read {
            self.counters.read_bytes.fetch_add(n as u64, Relaxed);
            self.counters.read_bytes_past_cache.fetch_add(n as u64, Relaxed);
        }
        read
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.counters.writes.fetch_add(1, Relaxed);
        let n = self.inner.write_at(buf, offset)?;
        self.counters.written_bytes.fetch_add(n as u64, Relaxed);
        Ok(n)
    }

    fn takes_blocks(&self) -> bool {
        self.inner.takes_blocks()
    }

    fn write_blocks_at(&self, blocks: &[u8], offset: u64) -> io::Result<bool> {
        let done = self.inner.write_blocks_at(blocks, offset)?;
        if done {
            self.counters.writes.fetch_add(1, Relaxed);
            self.counters.written_bytes.fetch_add(blocks.len() as u64, Relaxed);
        }
        Ok(done)
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.inner.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.counters.file_syncs.fetch_add(1, Relaxed);
        self.inner.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.counters.file_syncs.fetch_add(1, Relaxed);
        self.inner.sync_all()
    }
}
