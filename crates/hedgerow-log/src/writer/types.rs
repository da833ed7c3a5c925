//! Options, positions and errors of a running log.

use std::sync::Arc;

use thiserror::Error;

use hedgerow_core::Timestamp;
use hedgerow_core::account::Account;
use hedgerow_io::{FileId, IoError, Lsn, StoreId};

/// The length of the first segment of a running log. Few records need no more, and a program may have many stores open.
pub const FIRST_SEGMENT_BYTES: u64 = 256 << 10;
/// The length of a segment on a full disk, which takes as little as possible of the room that the next opening needs.
pub const LEAST_SEGMENT_BYTES: u64 = 16 << 10;

/// What a log is made with.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// The store's identity.
    pub store: StoreId,
    /// The store's epoch, repeated in the header of each segment.
    pub epoch: u32,
    /// The length of a segment in bytes, at most 2^61, which segments come to: the first has 256 KiB, and each that is full makes the next
    /// one twice as long. A record that does not fit gets a longer one of its own.
    pub segment_bytes: u64,
    /// What the buffers of the log are charged to.
    pub account: Arc<Account>,
}

impl LogOptions {
    /// Options for `store`, with segments of up to 64 MiB and an account of its own.
    pub fn new(store: StoreId) -> Self {
        LogOptions { store, epoch: 0, segment_bytes: 64 << 20, account: Arc::default() }
    }
}

/// Where a log goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the segment to make.
    pub segment: FileId,
    /// The position of its first record.
    pub lsn: Lsn,
    /// The frame checksum of the record before.
    pub previous_checksum: u64,
    /// The segment of that record.
    pub previous_segment: FileId,
    /// The timestamp of the last commit before.
    pub last_ts: Timestamp,
}

impl LogPosition {
    /// The beginning of the log of a new store.
    pub const START: LogPosition = LogPosition {
        segment: FileId(1),
        lsn: Lsn::ZERO,
        previous_checksum: 0,
        previous_segment: FileId(0),
        last_ts: Timestamp::ZERO,
    };
}

/// A log segment of a running log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSegmentInfo {
    /// Its number.
    pub id: FileId,
    /// The position of its first record.
    pub first_lsn: Lsn,
    /// The timestamp of the last commit in it, or before it if it has none.
    pub last_ts: Timestamp,
    /// The bytes in use, headers included.
    pub bytes: u64,
    /// Whether it is complete; the last one is not.
    pub sealed: bool,
}

/// Why the log does nothing more. It has to be opened again.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// A write or sync failed. What was not yet durable may or may not be in the log.
    #[error("the log stopped: {0}")]
    Failed(Arc<IoError>),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// Why nothing could be reserved. Nothing was appended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// The disk is full. The log stays usable; a later attempt may succeed.
    #[error("no space for the log: {0}")]
    DiskFull(IoError),
    /// The process, or the system, has no file descriptor left for the next segment. The log stays usable, as on a full disk.
    #[error("no file for the log: {0}")]
    TooManyFiles(IoError),
    /// The log does nothing more.
    #[error(transparent)]
    Log(#[from] LogError),
}
