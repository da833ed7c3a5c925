//! The segments of a running log: the change to the next segment, the closing of the last one, and the
//! removal of unneeded segments.

use std::sync::atomic::Ordering;

use hedgerow_core::Timestamp;
use hedgerow_io::checksum::checksum64;
use hedgerow_io::{FileId, IoError, Lsn};

use super::active::{Active, length_of, new_segment};
use super::types::{FIRST_SEGMENT_BYTES, LEAST_SEGMENT_BYTES};
use super::{Log, LogError, LogPosition, LogSegmentInfo, ReserveError, State};
use crate::record::{Frame, RecordType, SEAL_BYTES, SEAL_PAYLOAD_BYTES, Seal};
use crate::reserve;
use crate::segment::{CreateError, DATA_START, segment_name};

impl Log {
    /// Seals the active segment and continues in a new one. The new segment has at least `length` bytes, as
    /// far as the options allow, with room for all reserved bytes and `bytes` more. If the disk has no room
    /// for that length, the segment has [`FIRST_SEGMENT_BYTES`] or [`LEAST_SEGMENT_BYTES`]. The new file is
    /// complete and durable before the seal names it.
    pub(super) fn rotate(&self, state: &mut State, length: u64, bytes: u64) -> Result<(), ReserveError> {
        let next = state.next_id;
        state.next_id = FileId(next.0.saturating_add(1));
        let mut sealed = Vec::with_capacity(state.buffer.len() + SEAL_BYTES as usize);
        sealed.extend_from_slice(&state.buffer);
        let seal_checksum = self.push_seal(state, RecordType::RotationSeal, next, &mut sealed);
        let start = LogPosition {
            segment: next,
            lsn: Lsn(state.end.0 + SEAL_BYTES),
            previous_checksum: seal_checksum,
            previous_segment: state.active.id,
            last_ts: state.last_ts,
        };
        let room = state.reserved + bytes;
        // Nothing was written so far.
        let mut next = self.segment_and_reserve(state, &start, (length, room));
        for shorter in [FIRST_SEGMENT_BYTES, LEAST_SEGMENT_BYTES] {
            if length > shorter && next.as_ref().is_err_and(CreateError::is_disk_full) {
                next = self.segment_and_reserve(state, &start, (shorter, room));
            }
        }
        let active = match next {
            Ok(active) => active,
            Err(CreateError::File(e)) if e.is_disk_full() => return Err(ReserveError::DiskFull(e)),
            Err(CreateError::File(e)) if e.is_too_many_files() => return Err(ReserveError::TooManyFiles(e)),
            Err(e) => return Err(self.stop(e.into_io()).into()),
        };
        let file = &state.active.file;
        let end_offset = state.end_offset() + SEAL_BYTES;
        // The file is cut after the sync, so that a short file always has its seal. Nothing relies on the
        // cut.
        file.write_all_at(&sealed, state.buffer_at)
            .and_then(|()| file.sync_data())
            .and_then(|()| file.set_len(end_offset))
            .map_err(|e| self.stop(e))?;
        let info = LogSegmentInfo { bytes: end_offset, ..state.active_info(true) };
        state.sealed.push(info);
        state.active = active;
        state.buffer.clear();
        state.buffer_at = DATA_START;
        state.end = start.lsn;
        state.chain = seal_checksum;
        self.end.store(start.lsn.0, Ordering::Release);
        self.durable.store(start.lsn.0, Ordering::Release);
        Ok(())
    }

    /// Makes a reserve that is long enough, and then a segment. When the segment has a record, the next
    /// opening may have to write as many bytes.
    fn segment_and_reserve(
        &self,
        state: &mut State,
        start: &LogPosition,
        lengths: (u64, u64),
    ) -> Result<Active, CreateError> {
        let length = length_of(&self.options, start.segment, lengths)?;
        let wanted = reserve::length_for(length);
        reserve::grow(&self.dir, &mut state.reserve, wanted).map_err(CreateError::File)?;
        new_segment(&self.dir, &self.options, start, length)
    }

    /// Removes the reserve, so that a checkpoint finds room on a full disk. Returns true if there was a
    /// reserve. The caller must call [`renew_reserve_less`](Self::renew_reserve_less) before it does anything
    /// irreversible, and [`renew_reserve`](Self::renew_reserve) afterwards.
    pub fn spend_reserve(&self) -> bool {
        let mut state = self.state.lock();
        state.reserve = 0;
        reserve::spend_reserve(&self.dir).unwrap_or(false)
    }

    /// Makes the reserve as long as the active segment requires, but at least as long as a first segment
    /// requires, if the disk has room. Otherwise the reserve is shorter; the log continues, but refuses the
    /// next segment until the disk has room. Blocks appenders while the file grows and is synced, and, if it
    /// is new, while the directory is synced.
    ///
    /// # Errors
    /// The errors of the file system, except a full disk and exhausted file descriptors, which the call
    /// tolerates. The log stays usable.
    pub fn renew_reserve(&self) -> Result<(), IoError> {
        let has_no_room =
            |e: &IoError| e.op != hedgerow_io::SYNC_DIRECTORY && (e.is_disk_full() || e.is_too_many_files());
        let active = self.state.lock().active.allocated;
        let most = reserve::length_for(active.max(FIRST_SEGMENT_BYTES.min(self.options.segment_bytes)));
        for wanted in (active + 1..=most).rev().step_by(reserve::STEP) {
            match self.renew_reserve_to(wanted) {
                Err(e) if has_no_room(&e) => {}
                done => return done,
            }
        }
        Ok(())
    }

    /// Gives the reserve the length that the active segment requires, minus the `freed` bytes, which the
    /// caller will free before it calls [`renew_reserve`](Self::renew_reserve).
    ///
    /// # Errors
    /// The errors of the file system, also of a full disk.
    pub fn renew_reserve_less(&self, freed: u64) -> Result<(), IoError> {
        let active = self.state.lock().active.allocated;
        self.renew_reserve_to(reserve::length_for(active).saturating_sub(freed))
    }

    fn renew_reserve_to(&self, wanted: u64) -> Result<(), IoError> {
        let is_new = reserve::grow(&self.dir, &mut self.state.lock().reserve, wanted)?;
        if is_new { self.dir.sync() } else { Ok(()) }
    }

    /// Returns the bytes of the sealed segments whose commits are all at or before `ts`.
    pub fn bytes_through(&self, ts: Timestamp) -> u64 {
        let state = self.state.lock();
        state.sealed.iter().filter(|s| s.last_ts <= ts).map(|s| s.bytes).sum()
    }

    /// Seals the active segment and continues in a new one of the same length, if the active one has `least`
    /// bytes of records or is half full. Then a checkpoint that covers its records can remove it, and the
    /// next opening does not read it. Syncs twice, and the directory once.
    ///
    /// # Errors
    /// None if the disk is full or no file descriptor is left: then the active segment stays. Any other
    /// failure stops the log.
    pub fn begin_segment(&self, least: u64) -> Result<(), LogError> {
        let _io = self.io()?;
        let mut state = self.state.lock();
        let held = state.end_offset() - DATA_START;
        let length = state.active.allocated;
        if held < least.min(length / 2) {
            return Ok(());
        }
        match self.rotate(&mut state, length, 0) {
            Ok(()) | Err(ReserveError::DiskFull(_) | ReserveError::TooManyFiles(_)) => Ok(()),
            Err(ReserveError::Log(_)) => self.check(),
        }
    }

    fn push_seal(&self, state: &State, kind: RecordType, next: FileId, out: &mut Vec<u8>) -> u64 {
        let payload = Seal { next, records: state.active.records }.encode();
        let frame = Frame {
            kind,
            length: SEAL_PAYLOAD_BYTES as u32,
            lsn: state.end,
            ts: state.last_ts,
            durable: self.durable(),
            payload_checksum: checksum64(&payload),
            previous: state.chain,
        };
        let checksum = frame.encode(self.options.store, state.active.id, out);
        out.extend_from_slice(&payload);
        checksum
    }

    /// Syncs all appended records, ends the log with a closing seal and cuts the file behind it. So later
    /// damage to the log cannot be mistaken for a crash. Reservations must be gone; afterwards all methods
    /// that write fail.
    ///
    /// # Errors
    /// The errors of [`flush_and_sync`](Self::flush_and_sync).
    pub fn close(&self) -> Result<Lsn, LogError> {
        let durable = self.flush_and_sync()?;
        let _io = self.io()?;
        let state = self.state.lock();
        let mut seal = Vec::with_capacity(SEAL_BYTES as usize);
        self.push_seal(&state, RecordType::ClosingSeal, FileId(0), &mut seal);
        let file = &state.active.file;
        let at = state.end_offset();
        file.write_all_at(&seal, at)
            .and_then(|()| file.sync_data())
            .and_then(|()| file.set_len(at + SEAL_BYTES))
            .and_then(|()| file.sync_all())
            .map_err(|e| self.stop(e))?;
        let _ = self.stopped.set(LogError::Closed);
        reserve::shrink(&self.dir, FIRST_SEGMENT_BYTES.min(self.options.segment_bytes));
        Ok(durable)
    }

    /// Ends the log without a write: after this call no write or sync is under way or will begin. For a store
    /// that failed elsewhere and releases its directory. Blocks while a sync is under way.
    pub fn abandon(&self) {
        let _io = self.io.lock();
        let _ = self.stopped.set(LogError::Closed);
    }

    /// Returns the segments of the log, in order; the active segment is the last.
    pub fn segments(&self) -> Vec<LogSegmentInfo> {
        let state = self.state.lock();
        let mut segments = state.sealed.clone();
        segments.push(state.active_info(false));
        segments
    }

    /// Returns the segments that a manifest must name if its checkpoint covers all commits at or before `ts`.
    /// [`remove_segments_through`](Self::remove_segments_through) may remove the other segments later.
    pub fn live_after(&self, ts: Timestamp) -> Vec<FileId> {
        let mut state = self.state.lock();
        let sealed = state.sealed.iter().filter(|s| s.last_ts > ts).map(|s| s.id);
        let live: Vec<FileId> = sealed.chain([state.active.id]).collect();
        state.first_live = live.first().copied().unwrap_or_default();
        live
    }

    /// Removes the sealed segments whose commits are all at or before `ts`, and makes the removal durable.
    /// Returns the removed segments. The manifest for which [`live_after`](Self::live_after) was last called
    /// must be durable. Segments that [`live_after`](Self::live_after) returned stay, even if they were
    /// sealed meanwhile.
    ///
    /// # Errors
    /// The errors of the file system. The log stays usable; the next call or opening removes the remaining
    /// files.
    pub fn remove_segments_through(&self, ts: Timestamp) -> Result<Vec<FileId>, IoError> {
        let covered: Vec<FileId> = {
            let state = self.state.lock();
            let unnamed = state.sealed.iter().take_while(|s| s.last_ts <= ts && s.id < state.first_live);
            unnamed.map(|s| s.id).collect()
        };
        for &id in &covered {
            self.dir.unlink_if_there(&segment_name(id))?;
            self.state.lock().sealed.retain(|s| s.id != id);
        }
        if !covered.is_empty() {
            self.dir.sync()?;
        }
        Ok(covered)
    }
}
