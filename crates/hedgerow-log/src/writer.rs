//! The running log: reserve, append, write, sync.

mod active;
mod blocks;
mod segments;
mod types;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::Timestamp;
use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{Mutex, MutexGuard};
use hedgerow_io::{Dir, FileId, IoError, Lsn, NamedFile, Vfs};

use crate::record::{Frame, Payload, RecordBuilder, RecordType, record_len};
use crate::segment::{CreateError, DATA_START, capacity_end};

use active::{Active, length_of, new_segment};
use blocks::{Blocks, Target};

pub use types::{
    FIRST_SEGMENT_BYTES, LEAST_SEGMENT_BYTES, LogError, LogOptions, LogPosition, LogSegmentInfo, ReserveError,
};

/// The number of buffered bytes from which on a reservation writes them to the file, without a sync.
pub const WRITE_OUT_BYTES: usize = 1 << 20;
/// The size from which on a write buffer is freed after use.
const KEEP_BUFFER_BYTES: usize = 16 << 20;
/// The divisor of the memory limit: the quotient bounds both sizes above.
const LIMIT_SHARE: u64 = 64;

/// A running log. Many threads may call its methods.
///
/// An append copies into memory; [`flush_and_sync`](Log::flush_and_sync) swaps the buffer and writes it,
/// while other threads append to a second one. Appenders wait for the disk only when the log changes to a new
/// segment.
#[derive(Debug)]
pub struct Log {
    dir: Dir,
    options: LogOptions,
    /// The lock of writes and syncs, always taken before `state`.
    io: Mutex<Writing>,
    state: Mutex<State>,
    durable: AtomicU64,
    end: AtomicU64,
    stopped: OnceLock<LogError>,
}

/// The buffers of a write.
#[derive(Debug)]
struct Writing {
    /// The buffer that is filled next.
    spare: Vec<u8>,
    blocks: Blocks,
    /// The charge for the spare buffer and the blocks, and for a buffer that is being written.
    charge: Charge,
}

#[derive(Debug)]
struct State {
    /// Framed records that are not yet written.
    buffer: Vec<u8>,
    /// The charge for the buffer.
    charge: Charge,
    /// The position of the buffer in the active file.
    buffer_at: u64,
    end: Lsn,
    chain: u64,
    last_ts: Timestamp,
    /// Bytes promised to reservations that have not appended yet.
    reserved: u64,
    active: Active,
    /// The last known length of the reserve.
    reserve: u64,
    sealed: Vec<LogSegmentInfo>,
    next_id: FileId,
    /// The first segment that the manifest names, or that the next manifest will name.
    first_live: FileId,
}

impl State {
    /// Returns the position of the next record in the active file.
    fn end_offset(&self) -> u64 {
        DATA_START + (self.end.0 - self.active.base.0)
    }

    fn try_reserve(&mut self, bytes: u64) -> bool {
        let fits = self.end_offset() + self.reserved + bytes <= capacity_end(self.active.allocated);
        if fits {
            self.reserved += bytes;
        }
        fits
    }

    fn active_info(&self, sealed: bool) -> LogSegmentInfo {
        LogSegmentInfo {
            id: self.active.id,
            first_lsn: self.active.base,
            last_ts: self.last_ts,
            bytes: self.end_offset(),
            sealed,
        }
    }
}

/// Space in the log for one record. A drop gives the space back.
#[derive(Debug)]
#[must_use = "a reservation is for appending"]
pub struct Reservation<'log> {
    log: &'log Log,
    bytes: u64,
}

impl Log {
    /// Makes the segment `start.segment` and a log that continues in it. The log before `start.lsn` must be
    /// durable.
    ///
    /// # Errors
    /// The errors of the file system. In that case nothing names the segment.
    pub fn create(fs: Arc<dyn Vfs>, options: LogOptions, start: LogPosition) -> Result<Log, IoError> {
        Log::create_with(Dir::new(fs), options, start, (FIRST_SEGMENT_BYTES, 0), Vec::new())
    }

    /// Like [`create`](Self::create), but for a log with `sealed` segments before, and with a first segment
    /// of at least `least` bytes that has room for `data` bytes.
    pub(crate) fn create_with(
        dir: Dir,
        options: LogOptions,
        start: LogPosition,
        (least, data): (u64, u64),
        sealed: Vec<LogSegmentInfo>,
    ) -> Result<Log, IoError> {
        let active = length_of(&options, start.segment, (least, data))
            .and_then(|length| new_segment(&dir, &options, &start, length))
            .map_err(CreateError::into_io)?;
        let charge = Charge::new(&options.account, Purpose::Log, 0);
        let writing = Writing { spare: Vec::new(), blocks: Blocks::default(), charge: charge.clone() };
        let state = State {
            buffer: Vec::new(),
            charge,
            buffer_at: DATA_START,
            end: start.lsn,
            chain: start.previous_checksum,
            last_ts: start.last_ts,
            reserved: 0,
            active,
            reserve: 0,
            sealed,
            next_id: FileId(start.segment.0.saturating_add(1)),
            first_live: FileId(0),
        };
        Ok(Log {
            dir,
            options,
            io: Mutex::new(writing),
            state: Mutex::new(state),
            durable: AtomicU64::new(start.lsn.0),
            end: AtomicU64::new(start.lsn.0),
            stopped: OnceLock::new(),
        })
    }

    /// Returns the account to which the buffers of the log are charged.
    pub fn account(&self) -> &Arc<Account> {
        &self.options.account
    }

    /// Returns the position that is known to be durable: all records that end at or before it survive a
    /// crash.
    pub fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    /// Returns the position after the last record appended.
    pub fn end(&self) -> Lsn {
        Lsn(self.end.load(Ordering::Acquire))
    }

    /// Checks that the log has not stopped.
    ///
    /// # Errors
    /// The error that stopped it.
    pub fn check(&self) -> Result<(), LogError> {
        self.stopped.get().map_or(Ok(()), |e| Err(e.clone()))
    }

    /// Waits for threads that write or sync. Fails once the log has stopped.
    pub(crate) fn io(&self) -> Result<Io<'_>, LogError> {
        self.io_of(self.io.lock())
    }

    fn io_of<'a>(&'a self, writing: MutexGuard<'a, Writing>) -> Result<Io<'a>, LogError> {
        self.check()?;
        Ok(Io { log: self, writing, unwinding: std::thread::panicking() })
    }

    fn stop(&self, error: IoError) -> LogError {
        let error = LogError::Failed(Arc::new(error));
        self.stopped.get_or_init(|| error).clone()
    }

    /// Reserves space for `record`, so that its append cannot fail. Finishes the record. Usually O(1) and
    /// without file access. Writes a full buffer if no other thread is writing. If the record does not fit
    /// the present segment, changes to a new one, with two syncs of files and one of the directory.
    ///
    /// # Errors
    /// [`ReserveError::DiskFull`] and [`ReserveError::TooManyFiles`] leave the log unchanged. Any other
    /// failure stops it.
    pub fn reserve(&self, record: &mut RecordBuilder) -> Result<Reservation<'_>, ReserveError> {
        self.check()?;
        record.finish();
        self.reserve_bytes(record.encoded_len())
    }

    pub(crate) fn reserve_bytes(&self, bytes: u64) -> Result<Reservation<'_>, ReserveError> {
        let (fits, buffered) = {
            let mut state = self.state.lock();
            (state.try_reserve(bytes), state.buffer.len())
        };
        if !fits {
            self.reserve_in_next(bytes)?;
        }
        let reservation = Reservation { log: self, bytes };
        if buffered >= self.at_most(WRITE_OUT_BYTES)
            && let Some(guard) = self.io.try_lock()
        {
            self.write_buffer(&mut self.io_of(guard)?, Then::Nothing)?;
        }
        Ok(reservation)
    }

    /// Returns the size `bytes` of a buffer, or its share of the memory limit if that is less.
    #[inline]
    fn at_most(&self, bytes: usize) -> usize {
        let share = |limit: u64| usize::try_from(limit / LIMIT_SHARE).unwrap_or(usize::MAX);
        self.options.account.limit().map_or(bytes, |limit| bytes.min(share(limit)))
    }

    /// Reserves after changing to a new segment, unless another thread has just done so.
    fn reserve_in_next(&self, bytes: u64) -> Result<(), ReserveError> {
        let _io = self.io()?;
        let mut state = self.state.lock();
        if !state.try_reserve(bytes) {
            let twice = state.active.allocated.saturating_mul(2);
            self.rotate(&mut state, twice, bytes)?;
            state.reserved += bytes;
        }
        Ok(())
    }

    fn append(&self, reserved: u64, payload: Payload<'_>, ts: Timestamp) -> Lsn {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        assert!(ts > state.last_ts, "commits are appended in timestamp order: {ts} after {}", state.last_ts);
        let frame = Frame {
            kind: RecordType::Commit,
            length: payload.len as u32,
            lsn: state.end,
            ts,
            durable: self.durable(),
            payload_checksum: payload.checksum,
            previous: state.chain,
        };
        let written = record_len(payload.len);
        assert!(written as u64 <= reserved, "a record of {written} bytes, {reserved} reserved");
        if state.buffer.capacity() - state.buffer.len() < written {
            // Grows by a quarter, not twofold, because both buffers are kept.
            state.buffer.reserve_exact(written.max(state.buffer.len() / 4));
            if !faults::is_on(PlantedFault::BufferNotCharged) {
                state.charge.set(state.buffer.capacity());
            }
        }
        state.chain = frame.encode(self.options.store, state.active.id, &mut state.buffer);
        state.buffer.extend_from_slice(payload.padded);
        state.reserved -= reserved;
        state.end = Lsn(state.end.0 + written as u64);
        state.last_ts = ts;
        state.active.records += 1;
        self.end.store(state.end.0, Ordering::Release);
        state.end
    }

    /// Writes all records appended before the call, makes them durable, and returns the durable position.
    /// Blocks for the disk; other threads can append meanwhile.
    ///
    /// # Errors
    /// Any failure stops the log for good: a failed sync must not be repeated, because a second one may
    /// succeed although the data is lost.
    pub fn flush_and_sync(&self) -> Result<Lsn, LogError> {
        let mut io = self.io()?;
        let (end, file) = self.write_buffer(&mut io, Then::Sync)?;
        if end > self.durable() {
            let again =
                |e| if faults::is_on(PlantedFault::FailedSyncRetried) { file.sync_data() } else { Err(e) };
            file.sync_data().or_else(again).map_err(|e| self.stop(e))?;
            self.durable.store(end.0, Ordering::Release);
        }
        Ok(self.durable())
    }

    /// Writes all records appended before the call to the file, without a sync.
    ///
    /// # Errors
    /// Any failure stops the log for good.
    pub fn write_out(&self) -> Result<(), LogError> {
        let mut io = self.io()?;
        self.write_buffer(&mut io, Then::Nothing).map(|_| ())
    }

    /// Writes the buffer; returns the position reached and the file that still has to be synced.
    fn write_buffer(&self, io: &mut Io<'_>, then: Then) -> Result<(Lsn, NamedFile), LogError> {
        let Writing { spare, blocks, charge } = &mut *io.writing;
        let (taken, at, end, file, segment, allocated) = {
            let mut state = self.state.lock();
            let taken = std::mem::replace(&mut state.buffer, std::mem::take(spare));
            charge.set(taken.capacity() + blocks.bytes());
            let kept = state.buffer.capacity();
            state.charge.set(kept);
            let at = state.buffer_at;
            state.buffer_at = at + taken.len() as u64;
            let active = &state.active;
            (taken, at, state.end, active.file.clone(), active.id, active.allocated)
        };
        if !taken.is_empty() {
            let written = match then {
                Then::Sync => blocks.write(&Target { file: &file, segment, allocated }, &taken, at),
                Then::Nothing => file.write_all_at(&taken, at),
            };
            written.map_err(|e| self.stop(e))?;
        }
        if taken.capacity() <= self.at_most(KEEP_BUFFER_BYTES) {
            *spare = taken;
            spare.clear();
        }
        charge.set(spare.capacity() + blocks.bytes());
        Ok((end, file))
    }
}

/// The step after a write.
enum Then {
    Sync,
    Nothing,
}

/// The right to write and sync. A panic under it stops the log before another thread gets it. In a panic the
/// bytes taken from the buffer are lost, and a sync by the next thread would acknowledge them.
pub(crate) struct Io<'a> {
    log: &'a Log,
    writing: MutexGuard<'a, Writing>,
    /// True if the thread was already unwinding when it got the right.
    unwinding: bool,
}

impl Drop for Io<'_> {
    fn drop(&mut self) {
        if !self.unwinding && std::thread::panicking() {
            let _ = self.log.stopped.set(LogError::Closed);
        }
    }
}

impl Reservation<'_> {
    /// Appends the record for which the space was reserved, as the commit `ts`, and returns the position
    /// after it. The commit is durable when [`Log::durable`] has reached that position. Callers take turns,
    /// in timestamp order. Copies the record; no file access. A record without operations is not written.
    ///
    /// # Panics
    /// If `ts` is not after the timestamp of the last append, or the record is longer than the reservation.
    /// Both are errors of the caller.
    pub fn append(mut self, record: &mut RecordBuilder, ts: Timestamp) -> Lsn {
        if record.is_empty() {
            return self.log.end();
        }
        self.append_payload(record.finished(), ts)
    }

    pub(crate) fn append_payload(&mut self, payload: Payload<'_>, ts: Timestamp) -> Lsn {
        let end = self.log.append(self.bytes, payload, ts);
        self.bytes = 0;
        end
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.log.state.lock().reserved -= self.bytes;
        }
    }
}
