//! Write-ahead log and its recovery. The bytes are drawn in `docs/format/log.md`.
//!
//! # Writing
//! One commit is one record. A committer gathers its operations in a [`RecordBuilder`], calls
//! [`RecordBuilder::finish`] outside every lock (it computes the payload's checksum), then
//!
//! 1. [`Log::reserve`] — all steps that can fail are done here, before a timestamp is drawn;
//! 2. in the ordering section: draws the timestamp and calls [`Reservation::append`], which cannot fail and
//!    accesses no file; calls must be made one at a time and in timestamp order;
//! 3. a waiting committer calls [`Log::flush_and_sync`]; a commit is durable when [`Log::durable`] has
//!    reached the position that its append returned.
//!
//! # A new store
//! [`Log::create`] with [`LogPosition::START`], then the manifest that names [`Log::segments`], then commits.
//!
//! # Opening a store: the order of the calls
//! 1. [`recover`] with the log segments and the durable position that the manifest names. It only reads; its
//!    visitor gets every accepted commit in timestamp order. It changes nothing, also on an error.
//! 2. [`Recovered::resume`] writes the accepted commits that are not proved durable into a fresh segment, and
//!    syncs it and its directory entry. It returns the running [`Log`], which continues in that segment.
//! 3. Write and switch to a manifest that names [`Log::durable`] and the segments of [`Log::live_after`] (of
//!    the checkpoint's timestamp, or zero); sync the directory.
//! 4. [`Resumed::remove_obsolete`] unlinks the files that the new manifest no longer names. Only now the
//!    store may be used.
//!
//! After a crash between any two of these steps, either the old manifest with its unchanged segments is
//! valid, or the new manifest with its segments. Recovery begins again from either, and accepts the same
//! commits or a prefix of them that contains all acknowledged commits.
//!
//! # A checkpoint at timestamp `t`
//! Switch to a manifest that names [`Log::live_after`]`(t)` and [`Log::durable`]. Then call
//! [`Log::remove_segments_through`]`(t)`. The manifest need not name segments that rotation makes meanwhile,
//! because the seal of each segment names the next one.
//!
//! # A damaged log
//! [`read_damaged`] reads the remains of a log that [`recover`] refuses: only for salvage, never for opening.
//!
//! # A full disk
//! A file without content, the reserve, keeps room for the next opening. Before the active segment takes
//! records, [`Log`] gives the reserve the length of that segment. [`spend_reserve`] removes it for an opening
//! or a checkpoint that finds the disk full, and [`Log::renew_reserve`] makes it again.
//!
//! # Closing
//! [`Log::close`] syncs, writes a closing seal and cuts the file at it, so that later damage cannot be
//! mistaken for a crash.
#![forbid(unsafe_code)]

mod ops;
mod record;
mod recover;
mod reserve;
mod resume;
mod row;
mod segment;
mod writer;

pub use hedgerow_io::{FileId, Lsn, StoreId};
pub use ops::Ops;
pub use record::{MAX_RECORD_BYTES, MAX_ROW_BYTES, RECORD_HEADER_BYTES, RecordBuilder, RecordError};
pub use recover::{
    CommitPlace, LogFinding, RecoverError, Recovered, Tail, Witness, read_damaged, recover, recover_commits,
};
pub use reserve::{RESERVE, spend_reserve};
pub use resume::Resumed;
pub use row::{decode_row, encode_row};
pub use segment::{DATA_START, parse_segment_name, segment_name};
pub use writer::{
    FIRST_SEGMENT_BYTES, LEAST_SEGMENT_BYTES, Log, LogError, LogOptions, LogPosition, LogSegmentInfo,
    Reservation, ReserveError, WRITE_OUT_BYTES,
};

#[cfg(test)]
mod tests;
