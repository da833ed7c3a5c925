//! Options, positions and errors of a running log.

use std::sync::Arc;

use thiserror::Error;

use hedgerow_core::Timestamp;
use hedgerow_core::account::Account;
use hedgerow_io::{FileId, IoError, Lsn, StoreId};

/// The length of the first segment of a running log. That is enough for few records, and a program may have
/// many stores open.
pub const FIRST_SEGMENT_BYTES: u64 = 256 << 10;
/// The length of a segment on a full disk, which takes little of the room that the next opening needs.
pub const LEAST_SEGMENT_BYTES: u64 = 16 << 10;

/// The options of a new log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// The store's identity.
    pub store: StoreId,
    /// The store's epoch, repeated in the header of each segment.
    pub epoch: u32,
    /// The largest length of a segment in bytes, at most 2^61. The first segment has 256 KiB, and each
    /// segment after a full one is twice as long. A record that does not fit gets a longer segment.
    pub segment_bytes: u64,
    /// The account to which the buffers of the log are charged.
    pub account: Arc<Account>,
}

impl LogOptions {
    /// Returns options for `store`, with segments of up to 64 MiB and an account of its own.
    pub fn new(store: StoreId) -> Self {
        LogOptions { store, epoch: 0, segment_bytes: 64 << 20, account: Arc::default() }
    }
}

/// The position where a log continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the next segment.
    pub segment: FileId,
    /// The position of its first record.
    pub lsn: Lsn,
    /// The frame checksum of the record before that position.
    pub previous_checksum: u64,
    /// The segment of that record.
    pub previous_segment: FileId,
    /// The timestamp of the last commit before that position.
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
    /// The number of the segment.
    pub id: FileId,
    /// The position of its first record.
    pub first_lsn: Lsn,
    /// The timestamp of the last commit in the segment, or before it if the segment has none.
    pub last_ts: Timestamp,
    /// The bytes in use, headers included.
    pub bytes: u64,
    /// True if the segment is complete; the last segment is not.
    pub sealed: bool,
}

/// The reason why the log has stopped. The store has to be opened again.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// A write or sync failed. Records that were not yet durable may or may not be in the log.
    #[error("the log stopped: {0}")]
    Failed(Arc<IoError>),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// The reason of a failed reservation. Nothing was appended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// The disk is full. The log stays usable; a later attempt may succeed.
    #[error("no space for the log: {0}")]
    DiskFull(IoError),
    /// The process, or the system, has no file descriptor left for the next segment. The log stays usable, as
    /// on a full disk.
    #[error("no file for the log: {0}")]
    TooManyFiles(IoError),
    /// The log has stopped.
    #[error(transparent)]
    Log(#[from] LogError),
}
