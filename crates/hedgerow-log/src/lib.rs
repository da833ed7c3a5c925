//! Write-ahead log and its recovery. The bytes are drawn in `docs/format/log.md`.
//!
//! # Writing
//! One commit is one record. A committer gathers its operations in a [`RecordBuilder`], calls
//! [`RecordBuilder::finish`] outside every lock (it computes the payload's checksum), then
//!
//! 1. [`Log::reserve`] — everything that can fail without harm fails here, before a timestamp is drawn;
//! 2. in the ordering section: draws the timestamp and calls [`Reservation::append`], which cannot fail and
//!    touches no file; calls come one at a time and in timestamp order;
//! 3. a waiting committer calls [`Log::flush_and_sync`]; a commit is durable once [`Log::durable`] has
//!    reached the position that its append returned.
//!
//! # A new store
//! [`Log::create`] with [`LogPosition::START`], then the manifest that names [`Log::segments`], then commits.
//!
//! # Opening a store: the order of the calls
//! 1. [`recover`] with the log segments and the durable position that the manifest names. It only reads; its
//!    visitor gets every accepted commit in timestamp order. On an error nothing was changed.
//! 2. [`Recovered::resume`] writes the accepted commits that are not proved durable into a fresh segment,
//!    syncs it and its directory entry, and returns the running [`Log`], which goes on in that segment.
//! 3. Write and switch to a manifest that names [`Log::live_after`] (of the timestamp that the checkpoint
//!    covers, or zero) and [`Log::durable`]; sync the directory.
//! 4. [`Resumed::remove_obsolete`] unlinks the files that the new manifest no longer names. Only now serve.
//!
//! A crash between any two of these steps leaves the old manifest with its segments untouched, or the new one
//! with its own: recovery starts again from either and accepts the same commits, or more precisely a prefix
//! that contains all that were ever acknowledged.
//!
//! # A checkpoint at timestamp `t`
//! Switch to a manifest that names [`Log::live_after`]`(t)` and [`Log::durable`]; then
//! [`Log::remove_segments_through`]`(t)`. Segments that rotation makes meanwhile need not be named: the seal
//! of each names the next.
//!
//! # A damaged log
//! [`read_damaged`] reads the remains of a log that [`recover`] refuses: for salvage alone, never for
//! opening.
//!
//! # A full disk
//! A file without content, the reserve, keeps room for the next opening. Before the active segment takes
//! records, [`Log`] makes the reserve as long as that segment. [`spend_reserve`] removes it for an opening or
//! a checkpoint that finds the disk full, and [`Log::renew_reserve`] makes it again.
//!
//! # Closing
//! [`Log::close`] syncs, writes a closing seal and cuts the file at it, so that later damage does not look
//! like a crash.
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
