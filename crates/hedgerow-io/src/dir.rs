//! Directories and files with errors that name them, and with loops over short transfers.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use crate::blocks::{BLOCK_BYTES, BlockBuffer, FilledBuffer};
use crate::error::{Corruption, CorruptionKind, FileError, IoError};
use crate::vfs::{Access, Vfs, VfsFile, VfsLock};

/// The operation that an [`IoError`] names when a directory could not be synced.
pub const SYNC_DIRECTORY: &str = "sync directory";

/// The error of a read that did not get all bytes.
#[derive(Debug, Error)]
pub enum ReadExactError {
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file ended early.
    #[error("the file ended after {read} of the requested bytes")]
    Truncated {
        /// The number of bytes read before the end.
        read: usize,
    },
}

/// Fills `buf` from `offset`, looping over short reads and interruptions.
///
/// # Errors
/// The file ends before `buf` is full, or a read fails. Then the content of `buf` is unspecified.
pub fn read_exact_at(file: &dyn VfsFile, buf: &mut [u8], offset: u64) -> Result<(), ReadExactError> {
    let mut read = 0;
    while read < buf.len() {
        match file.read_at(&mut buf[read..], offset.saturating_add(read as u64)) {
            Ok(0) => return Err(ReadExactError::Truncated { read }),
            Ok(n) => read += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Fills the first `needed` bytes of `blocks` from `offset` past the cache of the operating system, looping
/// over short reads and interruptions. Returns false if the file does not support such reads.
fn read_exact_past_cache(
    file: &dyn VfsFile,
    blocks: &mut [u8],
    needed: usize,
    offset: u64,
) -> Result<bool, ReadExactError> {
    let mut read = 0;
    while read < needed {
        match file.read_blocks_at(&mut blocks[read..], offset.saturating_add(read as u64)) {
            Ok(Some(0)) => return Err(ReadExactError::Truncated { read }),
            Ok(Some(n)) => read += n,
            Ok(None) => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
        // A read ends inside a block only at the end of the file.
        if read < needed && !read.is_multiple_of(BLOCK_BYTES) {
            return Err(ReadExactError::Truncated { read });
        }
    }
    Ok(true)
}

/// Writes all of `buf` at `offset`, looping over short writes and interruptions.
///
/// # Errors
/// A write fails, or makes no progress ([`io::ErrorKind::WriteZero`]); then some of the bytes may have been
/// written.
pub fn write_all_at(file: &dyn VfsFile, buf: &[u8], offset: u64) -> io::Result<()> {
    let mut written = 0;
    while written < buf.len() {
        match file.write_at(&buf[written..], offset.saturating_add(written as u64)) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A directory whose errors name the file and the operation. Cloning copies a reference.
#[derive(Clone, Debug)]
pub struct Dir {
    fs: Arc<dyn Vfs>,
}

impl Dir {
    /// Returns the directory of `fs`.
    pub fn new(fs: Arc<dyn Vfs>) -> Self {
        Dir { fs }
    }

    /// Returns the file system of the directory.
    pub fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.fs
    }

    /// Opens a file like [`Vfs::open`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn open(&self, name: &str, access: Access) -> Result<NamedFile, IoError> {
        let file = self.fs.open(name, access).map_err(|e| IoError::new(name, "open", e))?;
        Ok(NamedFile { name: name.into(), file })
    }

    /// Creates a file like [`Vfs::create`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn create(&self, name: &str) -> Result<NamedFile, IoError> {
        let file = self.fs.create(name).map_err(|e| IoError::new(name, "create", e))?;
        Ok(NamedFile { name: name.into(), file })
    }

    /// Renames a file like [`Vfs::rename`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        self.fs.rename(from, to).map_err(|e| IoError::new(from, "rename", e))
    }

    /// Removes a file like [`Vfs::unlink`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn unlink(&self, name: &str) -> Result<(), IoError> {
        self.fs.unlink(name).map_err(|e| IoError::new(name, "unlink", e))
    }

    /// Removes a file. True if it existed; a missing file is no error.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn unlink_if_there(&self, name: &str) -> Result<bool, IoError> {
        match self.unlink(name) {
            Ok(()) => Ok(true),
            Err(e) if e.source.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Lists the directory like [`Vfs::list`], but sorted.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn list(&self) -> Result<Vec<String>, IoError> {
        let mut names = self.fs.list().map_err(|e| self.own_error("list", e))?;
        names.sort_unstable();
        Ok(names)
    }

    /// Syncs the directory like [`Vfs::sync_dir`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn sync(&self) -> Result<(), IoError> {
        self.fs.sync_dir().map_err(|e| self.own_error(SYNC_DIRECTORY, e))
    }

    /// Takes the lock like [`Vfs::lock`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn lock(&self, name: &str) -> Result<Box<dyn VfsLock>, IoError> {
        self.fs.lock(name).map_err(|e| IoError::new(name, "lock", e))
    }

    /// Takes the lock like [`Vfs::lock_existing`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn lock_existing(&self, name: &str) -> Result<Option<Box<dyn VfsLock>>, IoError> {
        self.fs.lock_existing(name).map_err(|e| IoError::new(name, "lock", e))
    }

    fn own_error(&self, op: &'static str, source: io::Error) -> IoError {
        IoError::new(self.fs.path().display().to_string(), op, source)
    }
}

/// An open file whose errors name it. Cloning copies references.
#[derive(Clone, Debug)]
pub struct NamedFile {
    name: Arc<str>,
    file: Arc<dyn VfsFile>,
}

impl NamedFile {
    /// Returns the name under which the file was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fills `buf` from `offset`.
    ///
    /// # Errors
    /// [`CorruptionKind::Truncated`] if the file ends before, and the errors of the file system.
    pub fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<(), FileError> {
        read_exact_at(&*self.file, buf, offset).map_err(|e| self.read_error(e, offset, buf.len()))
    }

    /// True if reads go past the cache, like [`VfsFile::reads_past_cache`].
    pub fn reads_past_cache(&self) -> bool {
        self.file.reads_past_cache()
    }

    /// Reads `bytes` bytes at `offset`, with any alignment. If possible, reads the blocks around them past
    /// the cache of the operating system. `buffer` takes at most
    /// [`memory_for`](BlockBuffer::memory_for)`(bytes)` memory; it is dropped if the read fails.
    ///
    /// # Errors
    /// [`CorruptionKind::Truncated`] if the file ends before, and the errors of the file system.
    pub fn read_blocks_at(
        &self,
        mut buffer: BlockBuffer,
        offset: u64,
        bytes: usize,
    ) -> Result<FilledBuffer, FileError> {
        let before = (offset % BLOCK_BYTES as u64) as usize;
        let wanted = before..before + bytes;
        let room = buffer.room(wanted.end.div_ceil(BLOCK_BYTES));
        if bytes > 0 {
            let begin = offset - before as u64;
            let read = read_exact_past_cache(&*self.file, room, wanted.end, begin).map_err(|e| match e {
                ReadExactError::Truncated { read } => {
                    ReadExactError::Truncated { read: read.saturating_sub(before) }
                }
                failed => failed,
            });
            let is_read = read.map_err(|e| self.read_error(e, offset, bytes))?;
            if !is_read {
                self.read_exact_at(&mut room[wanted.clone()], offset)?;
            }
        }
        Ok(FilledBuffer::new(buffer, wanted))
    }

    /// Like [`read_blocks_at`](NamedFile::read_blocks_at), but reads through the cache of the operating
    /// system, where the bytes are expected to be.
    ///
    /// # Errors
    /// The errors of [`read_blocks_at`](NamedFile::read_blocks_at).
    pub fn read_cached_at(
        &self,
        mut buffer: BlockBuffer,
        offset: u64,
        bytes: usize,
    ) -> Result<FilledBuffer, FileError> {
        let room = buffer.room(bytes.div_ceil(BLOCK_BYTES));
        self.read_exact_at(&mut room[..bytes], offset)?;
        Ok(FilledBuffer::new(buffer, 0..bytes))
    }

    /// Writes all of `buf` at `offset`.
    ///
    /// # Errors
    /// The errors of the file system; then some of the bytes may have been written.
    pub fn write_all_at(&self, buf: &[u8], offset: u64) -> Result<(), IoError> {
        write_all_at(&*self.file, buf, offset).map_err(|e| self.error("write", e))
    }

    /// True if writes in blocks are worth it, like [`VfsFile::takes_blocks`].
    pub fn takes_blocks(&self) -> bool {
        self.file.takes_blocks()
    }

    /// Writes the range `fresh` of `blocks`, which begin at `offset` in the file. The file already contains
    /// the bytes before `fresh`, or they are zeros. The bytes after `fresh` are zeros, which may be written
    /// or not. Writes past the cache of the operating system if possible.
    ///
    /// # Errors
    /// The errors of the file system; then some of the bytes may have been written.
    pub fn write_blocks_at(
        &self,
        blocks: &BlockBuffer,
        fresh: Range<usize>,
        offset: u64,
    ) -> Result<(), IoError> {
        match self.file.write_blocks_at(blocks.blocks(), offset) {
            Ok(true) => Ok(()),
            Ok(false) => self.write_all_at(&blocks.blocks()[fresh.clone()], offset + fresh.start as u64),
            Err(e) => Err(self.error("write", e)),
        }
    }

    /// Returns the length like [`VfsFile::len`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn byte_len(&self) -> Result<u64, IoError> {
        self.file.len().map_err(|e| self.error("stat", e))
    }

    /// Sets the length like [`VfsFile::set_len`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn set_len(&self, len: u64) -> Result<(), IoError> {
        self.file.set_len(len).map_err(|e| self.error("truncate", e))
    }

    /// Allocates like [`VfsFile::allocate`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn allocate(&self, len: u64) -> Result<(), IoError> {
        self.file.allocate(len).map_err(|e| self.error("allocate", e))
    }

    /// Syncs like [`VfsFile::sync_data`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn sync_data(&self) -> Result<(), IoError> {
        self.file.sync_data().map_err(|e| self.error("sync", e))
    }

    /// Syncs like [`VfsFile::sync_all`].
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn sync_all(&self) -> Result<(), IoError> {
        self.file.sync_all().map_err(|e| self.error("sync", e))
    }

    /// Returns the error of a failed read of `expected` bytes at `offset`.
    fn read_error(&self, error: ReadExactError, offset: u64, expected: usize) -> FileError {
        match error {
            ReadExactError::Io(source) => self.error("read", source).into(),
            ReadExactError::Truncated { read } => {
                let kind = CorruptionKind::Truncated { expected: expected as u64, found: read as u64 };
                Corruption::new(&*self.name, offset, kind).into()
            }
        }
    }

    fn error(&self, op: &'static str, source: io::Error) -> IoError {
        IoError::new(&*self.name, op, source)
    }
}
