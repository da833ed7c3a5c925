//! The one crate of the engine that touches files: a small file-system trait, file headers, checksums and
//! bounded little-endian codecs.
//!
//! - [`vfs`]: the trait [`Vfs`] and its files; [`RealFs`] is the operating system, [`CountingFs`] counts
//!   calls and bytes.
//! - [`BlockBuffer`]: memory for transfers past the cache of the operating system.
//! - [`Dir`] and [`NamedFile`]: the same files, with loops over short transfers, and with errors that name
//!   file and operation.
//! - [`ReadPool`]: reads of many places at once.
//! - [`header`]: the 64 bytes that begin every file; [`checksum`] and [`codec`] for the bytes after them.
//! - [`machine`]: the memory that this process may use.
//! - [`error`]: [`Corruption`] and [`IoError`], shared by log and tier.
#![forbid(unsafe_code)]

pub mod blocks;
pub mod checksum;
pub mod codec;
pub mod counting;
pub mod dir;
pub mod error;
pub mod failpoint;
pub mod header;
pub mod lsn;
pub mod machine;
pub mod read_pool;
pub mod real;
pub mod vfs;

pub use blocks::{BLOCK_BYTES, BlockBuffer, FilledBuffer, are_blocks};
pub use counting::{CountingFs, IoCounters};
pub use dir::{Dir, NamedFile, ReadExactError, SYNC_DIRECTORY, read_exact_at, write_all_at};
pub use error::{Corruption, CorruptionKind, FileError, IoError, is_disk_full};
pub use header::{
    FORMAT_MAJOR, FORMAT_MINOR, FileHeader, FileId, FileKind, FormatError, HEADER_BYTES, StoreId,
};
pub use lsn::Lsn;
pub use read_pool::{ReadPool, ReadRequest};
pub use real::{FILE_MODE, RealFs};
pub use vfs::{Access, LockHeld, LockHolder, Vfs, VfsFile, VfsLock};
