//! The file-system trait. One value stands for one directory; names have no path separators.
//!
//! Every other crate of the engine uses files through it, so that tests can crash, tear, reorder, corrupt and
//! fill the disk at every step.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The access to an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only reads.
    Read,
    /// Reads and writes.
    ReadWrite,
}

/// A directory of the store.
///
/// # Errors
/// Every method: the error of the operating system. The caller adds the file name ([`Dir`](crate::Dir) does).
#[allow(clippy::missing_errors_doc, reason = "the trait says it once for all methods")]
pub trait Vfs: Send + Sync + fmt::Debug {
    /// Returns the directory's path, for messages only.
    fn path(&self) -> &Path;
    /// Opens an existing regular file; a symbolic link or another kind of file is an error.
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn VfsFile>>;
    /// Creates a file that must not exist, readable and writable.
    fn create(&self, name: &str) -> io::Result<Arc<dyn VfsFile>>;
    /// Renames a file, replacing `to` if it exists. Durable after [`sync_dir`](Vfs::sync_dir).
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Durable after [`sync_dir`](Vfs::sync_dir).
    fn unlink(&self, name: &str) -> io::Result<()>;
    /// Returns the names of all entries, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Makes creations, renames and removals in this directory durable.
    fn sync_dir(&self) -> io::Result<()>;
    /// Takes the exclusive lock of the directory through the file `name`, created if absent and never
    /// removed. Fails with [`io::ErrorKind::WouldBlock`] while another holder, in this process or another,
    /// has it or shares it; a [`LockHeld`] inside the error says which.
    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>>;
    /// Takes the lock for shared use, with other callers of this method: fails while [`lock`](Vfs::lock) is
    /// held. Changes nothing. `None` if there is no file `name`, that is, if no writer was ever here. Works
    /// in a read-only directory.
    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>>;
    /// Returns whether `path`, which need not exist, names this directory or an entry below it, through any
    /// links. Always false for a file system that is not the operating system's.
    fn contains(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

/// An open file. All positions are in bytes from its beginning; all methods may be called from several
/// threads.
///
/// # Errors
/// Every method: the error of the operating system.
#[allow(clippy::missing_errors_doc, reason = "the trait says it once for all methods")]
#[allow(clippy::len_without_is_empty, reason = "the length of a file costs a call and can fail")]
pub trait VfsFile: Send + Sync + fmt::Debug {
    /// Reads up to `buf.len()` bytes at `offset`; 0 at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// True if, as far as is known, [`read_blocks_at`](VfsFile::read_blocks_at) reads past the cache of the
    /// operating system.
    fn reads_past_cache(&self) -> bool {
        false
    }
    /// Reads up to `blocks.len()` bytes at `offset` past the cache of the operating system. Position, length
    /// and address are multiples of [`BLOCK_BYTES`](crate::BLOCK_BYTES). Returns the number of bytes read:
    /// whole blocks, or the bytes up to the end of the file; 0 at the end and beyond. `None` if the file does
    /// not support it; the caller then uses [`read_at`](VfsFile::read_at). Sees the bytes of both kinds of
    /// writes.
    fn read_blocks_at(&self, _blocks: &mut [u8], _offset: u64) -> io::Result<Option<usize>> {
        Ok(None)
    }
    /// Writes some or all of `buf` at `offset`, extending the file where needed.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    /// True if [`write_blocks_at`](VfsFile::write_blocks_at) is worth preparing for.
    fn takes_blocks(&self) -> bool {
        false
    }
    /// Writes all of `blocks` at `offset` past the cache of the operating system. Position, length and
    /// address are multiples of [`BLOCK_BYTES`](crate::BLOCK_BYTES). Returns false if the file does not
    /// support it: any part may have been written then, and the caller uses [`write_at`](VfsFile::write_at).
    /// As durable as other writes: not before a sync, which is cheaper after these.
    fn write_blocks_at(&self, _blocks: &[u8], _offset: u64) -> io::Result<bool> {
        Ok(false)
    }
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Cuts or extends the file (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves space for the first `len` bytes, so that writes below it cannot run out of space. The file
    /// becomes at least `len` bytes long; new bytes read as zero.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Makes the content, and the length needed to read it, durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes the content and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;
}

/// The holder of a directory's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockHolder {
    /// The process that asks, open for writing.
    ThisProcess,
    /// The process that asks, open for reading; others may read too.
    ThisProcessReads,
    /// The process with this id, open for writing.
    Process(u32),
    /// Unknown processes, open for reading.
    Readers,
    /// An unknown process.
    Unknown,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockHolder::ThisProcess => write!(f, "this process has it open already"),
            LockHolder::ThisProcessReads => write!(f, "this process has it open for reading"),
            LockHolder::Process(id) => write!(f, "process {id} has it open"),
            LockHolder::Readers => write!(f, "another process has it open for reading"),
            LockHolder::Unknown => write!(f, "it is open elsewhere"),
        }
    }
}

/// The error of [`Vfs::lock`] for a locked directory, inside the [`io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockHeld(pub LockHolder);

impl LockHeld {
    /// Returns the holder in an error of [`Vfs::lock`]; `Unknown` if the error names none.
    pub fn holder_in(error: &io::Error) -> LockHolder {
        let held = error.get_ref().and_then(|inner| inner.downcast_ref::<LockHeld>());
        held.map_or(LockHolder::Unknown, |held| held.0)
    }
}

impl fmt::Display for LockHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the directory is locked: {}", self.0)
    }
}

impl std::error::Error for LockHeld {}

impl From<LockHeld> for io::Error {
    fn from(held: LockHeld) -> io::Error {
        io::Error::new(io::ErrorKind::WouldBlock, held)
    }
}

/// A held directory lock; a drop releases it, even if forked children of this process live on.
pub trait VfsLock: Send + Sync + fmt::Debug {}
