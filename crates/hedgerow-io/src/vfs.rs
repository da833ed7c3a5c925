//! The file-system trait. A value represents one directory; names have no path separators.
//!
//! Every other crate of the engine uses files through it, so that tests can simulate every failure at every
//! step: crashes, torn or reordered writes, damage, a full disk.

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
    /// removed. Fails with [`io::ErrorKind::WouldBlock`] while this or another process has the lock, alone or
    /// shared; a [`LockHeld`] inside the error names the holder.
    fn lock(&self, name: &str) -> io::Result<Box<dyn VfsLock>>;
    /// Takes the lock, shared with other callers of this method. Fails while the lock of [`lock`](Vfs::lock)
    /// is held. Changes nothing. `None` if the file `name` does not exist, because no writer ever used the
    /// directory. Works in a read-only directory.
    fn lock_existing(&self, name: &str) -> io::Result<Option<Box<dyn VfsLock>>>;
    /// True if `path`, which need not exist, names this directory or an entry below it, through any links.
    /// Always false for a file system that is not the operating system's.
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
    /// whole blocks, or the bytes up to the end of the file; 0 at the end of the file and beyond. `None` if
    /// the file does not support it; then the caller uses [`read_at`](VfsFile::read_at). Both kinds of writes
    /// are visible to it.
    fn read_blocks_at(&self, _blocks: &mut [u8], _offset: u64) -> io::Result<Option<usize>> {
        Ok(None)
    }
    /// Writes some or all of `buf` at `offset`, extending the file where needed.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    /// True if [`write_blocks_at`](VfsFile::write_blocks_at) probably works, so that preparing blocks is
    /// worth it.
    fn takes_blocks(&self) -> bool {
        false
    }
    /// Writes all of `blocks` at `offset` past the cache of the operating system. Position, length and
    /// address are multiples of [`BLOCK_BYTES`](crate::BLOCK_BYTES). Returns false if the file does not
    /// support it. Then some of the bytes may have been written, and the caller uses
    /// [`write_at`](VfsFile::write_at). Like other writes it is durable only after a sync, but that sync is
    /// cheaper.
    fn write_blocks_at(&self, _blocks: &[u8], _offset: u64) -> io::Result<bool> {
        Ok(false)
    }
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Cuts or extends the file (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Reserves space for the first `len` bytes, so that writes to these bytes cannot run out of space. The
    /// file becomes at least `len` bytes long; new bytes read as zero.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Makes the content durable, and the length if it is needed to read the content.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes the content and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;
}

/// The holder of a directory's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockHolder {
    /// The calling process, which has the directory open for writing.
    ThisProcess,
    /// The calling process, which has the directory open for reading; others may read too.
    ThisProcessReads,
    /// The process with this id, which has the directory open for writing.
    Process(u32),
    /// Unknown processes, which have the directory open for reading.
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

/// A held directory lock. Dropping it releases the lock, even if forked children of this process are still
/// alive.
pub trait VfsLock: Send + Sync + fmt::Debug {}
