//! The files of an open store, and the steps that make commits durable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, CommitError, Error, Result, StateError};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};
use hedgerow_core::{Op, Timestamp};
use hedgerow_io::Vfs;
use hedgerow_log::{Log, RecordBuilder, RecordError, ReserveError};
use hedgerow_tier::{LogSegmentRef, Manifest};
use hedgerow_txn::{DurableLog, NotDurable};

use crate::files::image_table::Runs;

/// The log record of a commit.
#[derive(Default)]
pub(crate) struct Record(RecordBuilder);

impl Record {
    pub(crate) fn push(&mut self, op: Op<'_>) -> Result<()> {
        self.0.push(op).map_err(|error| match error {
            RecordError::TooLarge => Error::Argument(ArgumentError::TooLarge {
                what: "the log record of the transaction".into(),
                limit: u64::from(hedgerow_log::MAX_RECORD_BYTES as u32),
            }),
            other => Error::Argument(ArgumentError::Invalid(other.to_string())),
        })
    }

    /// Computes the checksum of the operations, here rather than in the ordering section.
    pub(crate) fn finish(&mut self) {
        self.0.finish();
    }
}

/// The files behind a store.
pub(crate) struct Durable {
    pub(crate) fs: Arc<dyn Vfs>,
    pub(crate) log: Log,
    pub(crate) manifest: Mutex<Manifest>,
    /// The places of the images of subgraphs.
    pub(crate) runs: Mutex<Runs>,
    /// The last commit appended to the log.
    pub(crate) appended: AtomicU64,
    /// The last commit known to be on stable media.
    pub(crate) durable: AtomicU64,
}

impl Durable {
    /// Returns the begin of the oldest log segment; 0 if there is none.
    pub(crate) fn first_lsn(&self) -> u64 {
        self.log.segments().first().map_or(0, |segment| segment.first_lsn.0)
    }

    /// Makes the files of a store with a log whose commits up to `last` are durable.
    pub(crate) fn new(
        fs: Arc<dyn Vfs>,
        log: Log,
        manifest: Manifest,
        runs: Runs,
        last: Timestamp,
    ) -> Durable {
        Durable {
            fs,
            log,
            manifest: Mutex::new(manifest),
            runs: Mutex::new(runs),
            appended: AtomicU64::new(last.0),
            durable: AtomicU64::new(last.0),
        }
    }

    pub(crate) fn durable_ts(&self) -> Timestamp {
        Timestamp(self.durable.load(Ordering::Acquire))
    }

    /// Reserves log space, draws the timestamp and appends the record. The caller is in the ordering section.
    /// If this fails, no timestamp was drawn.
    pub(crate) fn append(&self, mut record: Record, draw: impl FnOnce() -> Timestamp) -> Result<Timestamp> {
        // After a panic the log must not be written to any more.
        let whole = UnlessDone::new(|| self.log.abandon());
        let reservation = self.log.reserve(&mut record.0).map_err(|error| match error {
            ReserveError::DiskFull(_) => Error::Commit(CommitError::DiskFull),
            ReserveError::TooManyFiles(_) => Error::Commit(CommitError::TooManyFiles),
            _ => Error::State(StateError::Poisoned),
        });
        let reservation = match reservation {
            Ok(reservation) => reservation,
            Err(error) => {
                whole.done();
                return Err(error);
            }
        };
        let ts = draw();
        reservation.append(&mut record.0, ts);
        self.appended.store(ts.0, Ordering::Release);
        whole.done();
        Ok(ts)
    }

    /// Writes a manifest with the length of the closed log, so that the next opening finds an earlier copy of
    /// a log segment to be too short. Everything is durable without this manifest, so a full disk does not
    /// matter.
    pub(crate) fn state_end(&self) {
        let mut manifest = self.manifest.lock();
        let file = hedgerow_tier::manifest::manifest_name(manifest.sequence);
        if !self.fs.list().is_ok_and(|names| names.contains(&file)) {
            return; // the store was removed while it was open: nothing is to be left behind
        }
        let mut next = manifest.clone();
        next.sequence += 1;
        next.logs = log_refs(&self.log, next.checkpoint);
        next.durable_lsn = self.log.durable();
        if next.store(&self.fs).is_ok() {
            let _ = next.remove_older(&self.fs);
            // The last checkpoint covered a part of a log segment that was sealed since: this manifest does
            // not name it.
            let _ = self.log.remove_segments_through(next.checkpoint);
            *manifest = next;
        }
    }

    /// Syncs the log.
    pub(crate) fn sync_log(&self) -> std::result::Result<(), NotDurable> {
        // Loaded before the sync: each record appended until now was written before, or is in the buffer that
        // the sync writes.
        let appended = self.appended.load(Ordering::Acquire);
        if faults::is_on(PlantedFault::AcknowledgedEarly) {
            return Ok(());
        }
        // A panic counts as a failure: the thread syncs for other threads too, which would wait endlessly.
        let synced = catch_unwind(AssertUnwindSafe(|| self.log.flush_and_sync()));
        match synced {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return Err(NotDurable),
            Err(_) => {
                self.log.abandon();
                return Err(NotDurable);
            }
        }
        let late = faults::is_on(PlantedFault::LateCommitAcknowledged);
        let appended = if late { self.appended.load(Ordering::Acquire) } else { appended };
        self.durable.fetch_max(appended, Ordering::AcqRel);
        Ok(())
    }
}

impl DurableLog for Durable {
    fn appended(&self) -> Timestamp {
        Timestamp(self.appended.load(Ordering::Acquire))
    }

    fn sync(&self) -> std::result::Result<(), NotDurable> {
        self.sync_log()
    }
}

/// Returns the log segments that a manifest with a checkpoint at `checkpoint` must name.
pub(crate) fn log_refs(log: &Log, checkpoint: Timestamp) -> Vec<LogSegmentRef> {
    let live = log.live_after(checkpoint);
    let segments = log.segments();
    let named = segments.iter().filter(|s| live.contains(&s.id));
    named.map(|s| LogSegmentRef { id: s.id, first_lsn: s.first_lsn }).collect()
}

/// A guard that calls a function when it is dropped, unless `done` was called: in particular in a panic.
pub(crate) struct UnlessDone<F: Fn()>(F);

impl<F: Fn()> UnlessDone<F> {
    #[inline]
    pub(crate) fn new(otherwise: F) -> UnlessDone<F> {
        UnlessDone(otherwise)
    }

    #[inline]
    pub(crate) fn done(self) {
        std::mem::forget(self);
    }
}

impl<F: Fn()> Drop for UnlessDone<F> {
    #[cold]
    fn drop(&mut self) {
        (self.0)();
    }
}
