//! The files of an open store, and how commits become durable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};
use hedgerow_core::{Op, Timestamp};
use hedgerow_io::Vfs;
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_log::{Log, LogError, RecordBuilder, RecordError, ReserveError};
use hedgerow_tier::Manifest;
use hedgerow_txn::{DurableLog, NotDurable};

use crate::durable::checkpoint::runs::Runs;
use crate::durable::open::log_refs;
use crate::error::{Error, Result};
use crate::options::Durability;
use crate::store::{Core, Engine};

/// The log record of a commit.
#[derive(Default)]
pub(crate) struct Record(RecordBuilder);

impl Record {
    pub(crate) fn push(&mut self, op: Op<'_>) -> Result<()> {
        self.0.push(op).map_err(|error| match error {
            RecordError::TooLarge => Error::TooLarge {
                what: "the log record of the transaction".into(),
                limit: u64::from(hedgerow_log::MAX_RECORD_BYTES as u32),
            },
            other => Error::InvalidArgument(other.to_string()),
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
    /// Where the images of subgraphs are.
    pub(crate) runs: Mutex<Runs>,
    /// The last commit appended to the log.
    appended: AtomicU64,
    /// The last commit known to be on stable media.
    durable: AtomicU64,
}

impl Durable {
    /// Wraps a log whose commits up to `last` are durable.
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

    /// Reserves log space, draws the timestamp and appends the record. In the ordering section. Fails before the
    /// timestamp is drawn, or not at all.
    pub(crate) fn append(&self, mut record: Record, draw: impl FnOnce() -> Timestamp) -> Result<Timestamp> {
        // What a panic leaves of the log must not be written to any more.
        let whole = UnlessDone::new(|| self.log.abandon());
        let reservation = self.log.reserve(&mut record.0).map_err(|error| match error {
            ReserveError::DiskFull(_) => Error::DiskFull,
            _ => Error::Poisoned,
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

    /// Writes a manifest that states how far the closed log reaches: an earlier copy of a log segment in its place is
    /// then found to be too short. All is durable without it, so that it does not matter if there is no room.
    fn state_end(&self) {
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
            *manifest = next;
        }
    }

    /// Syncs the log.
    pub(crate) fn sync_log(&self) -> std::result::Result<(), NotDurable> {
        // Loaded before the sync: everything appended by now is in the buffer that the sync takes, or was before.
        let appended = self.appended.load(Ordering::Acquire);
        if faults::is_on(PlantedFault::AcknowledgedEarly) {
            return Ok(());
        }
        // A panic is a failure like any other: the thread that syncs does so for others too, who would wait for ever.
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

impl Core {
    /// Waits until `ts` is published, and durable where the mode asks for it.
    #[inline]
    pub(crate) fn wait_published(&self, ts: Timestamp) -> Result<()> {
        let log = self.durable.as_deref().filter(|_| self.durability == Durability::Sync);
        self.commits.wait(&self.clock, ts, log).map_err(|NotDurable| Error::OutcomeUnknown)
    }

    /// Makes everything committed before the call durable.
    pub(crate) fn flush(&self) -> Result<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        let drawn = self.clock.drawn();
        if self.durability == Durability::Sync {
            return self.wait_published(drawn);
        }
        self.wait_published(drawn)?;
        self.sync_or_poison(durable)
    }

    fn sync_or_poison(&self, durable: &Durable) -> Result<()> {
        durable.sync_log().map_err(|NotDurable| {
            if self.closed.load(Ordering::Acquire) && matches!(durable.log.check(), Err(LogError::Closed)) {
                return Error::Closed;
            }
            self.commits.fail();
            Error::Poisoned
        })
    }

    /// Refuses commits on a closed or poisoned store; asked inside the ordering section.
    #[inline]
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        if self.commits.is_failed() {
            return Err(Error::Poisoned);
        }
        Ok(())
    }

    /// Ends the store: no commit is accepted any more, those under way are finished, the log is closed.
    pub(crate) fn close(&self) -> Result<()> {
        // The log and the lock are the parent's.
        self.check_owner_by_id()?;
        let last = {
            let order = self.clock.order();
            if self.closed.swap(true, Ordering::AcqRel) {
                drop(order);
                // Another call closes, or has closed: return when it is done.
                self.closing.wait();
                return if self.commits.is_failed() { Err(Error::Poisoned) } else { Ok(()) };
            }
            order.last_drawn()
        };
        let _begun = self.closing.begin();
        self.commits.wake_asked();
        self.log_bound.end();
        self.settling.wake();
        let _no_checkpoint = self.checkpointing.lock();
        // It may be syncing; afterwards it keeps no file open.
        if let Some(syncer) = self.group_syncer.lock().take() {
            let _ = syncer.join();
        }
        // Another call that closes must not take it for done if this panics.
        let whole = UnlessDone::new(|| self.commits.fail());
        let finished = self.finish(last);
        whole.done();
        self.lock.lock().take();
        self.reclaim_for_the_closed();
        finished
    }

    fn finish(&self, last: Timestamp) -> Result<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        // The directory is given up next, and may be opened again at once: nothing of this log may be written after.
        if self.commits.is_failed() {
            durable.log.abandon();
            return Err(Error::Poisoned);
        }
        self.wait_published(last).inspect_err(|_| durable.log.abandon())?;
        durable.log.close().map_err(|_| {
            self.commits.fail();
            Error::Poisoned
        })?;
        durable.durable.fetch_max(last.0, Ordering::AcqRel);
        durable.state_end();
        Ok(())
    }
}

impl Drop for Engine {
    /// The last handle is gone: end as [`Engine::close`] does. A failure here is found by the next opening. In a forked child
    /// the core stays as it is: threads that the child does not have may have been changing any part of it.
    fn drop(&mut self) {
        if self.owner.is_current_by_id() {
            let _ = self.close();
        } else {
            // One more reference keeps the core from being dropped with this one.
            std::mem::forget(self.core.clone());
        }
    }
}

/// Syncs the log in the background, for [`Durability::Group`]. Ends with the store.
pub(crate) fn spawn_syncer(engine: &Arc<Engine>, interval: Duration) -> std::io::Result<()> {
    let Some(durable) = engine.durable.clone() else { return Ok(()) };
    // Not the engine itself: its last handle must be a user's, so that dropping that closes the store.
    let (commits, closing) = (engine.commits.clone(), engine.closing.clone());
    let sync_every = move || {
        // Without this thread nothing would become durable: its panic is a failure of the log.
        let for_ever = UnlessDone::new(|| commits.fail());
        while !closing.rest(interval) {
            let reached = failpoint::reach(FailPoint::SyncTurn);
            if commits.is_failed() {
                break;
            }
            let behind = durable.appended.load(Ordering::Acquire) > durable.durable_ts().0;
            if behind && (reached.is_err() || durable.sync_log().is_err()) {
                return;
            }
        }
        for_ever.done();
    };
    failpoint::reach(FailPoint::SyncThread)?;
    let thread = std::thread::Builder::new().name("hedgerow-sync".into()).spawn(sync_every)?;
    *engine.group_syncer.lock() = Some(thread);
    Ok(())
}

/// Does something when it goes, unless it was told that all is done: in particular when a panic passes by.
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
