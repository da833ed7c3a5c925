//! The registry of readers and their timestamps. No reader takes a lock, and no scan waits for a reader, so a
//! reader that loses its processor anywhere in this module delays no other thread.
//!
//! # Protocol (rule R5)
//! * Reader: load `t_read`; claim a slot and store that value in it; full fence; if `t_read` has not changed,
//!   the reader is registered. Otherwise close the registration; claim a slot with the value "pins
//!   everything"; full fence; load `t_read`; store it in the slot.
//! * Reclaimer: load the published `t_read`; full fence; scan the slots.
//!
//! If the reader's fence comes first, the scan sees its slot. If the reclaimer's fence comes first, the
//! reader loads a `t_read` that is not older than the one the reclaimer uses. Either way no version that the
//! reader needs counts as dead. A reader that finds `t_read` unchanged pins only that timestamp, from the
//! beginning. So a reader that loses its processor during registration pins no more than a registered reader
//! does.
//!
//! A reader tries the eight slots of one line. If all are taken, their readers hold them for long, or are
//! many. The reader then moves these readers to a table of timestamps with counts (`readers/held.rs`). So
//! neither the search for a slot nor a scan depends on the number of held readers.

mod close_log;
mod held;

use close_log::CloseLog;
pub use close_log::Ended;
use held::{HeldReaders, HeldScan};

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Ordering, fence, yield_now};
use smallvec::SmallVec;

/// The number of slots that share a cache line and a hint.
#[cfg(not(feature = "model-checking"))]
const LINE: usize = 8;
#[cfg(not(feature = "model-checking"))]
const LINES: usize = 32;
#[cfg(feature = "model-checking")]
const LINE: usize = 1;
#[cfg(feature = "model-checking")]
const LINES: usize = 2;

/// The value of a slot without an owner.
const FREE: u64 = u64::MAX;
/// The value of a slot whose reader has not stored its timestamp yet.
const PIN_ALL: u64 = u64::MAX - 1;

/// Returns the timestamp in a slot with this value; `None` if the reader has not stored it.
#[inline]
fn timestamp_in(value: u64) -> Option<Timestamp> {
    (value < PIN_ALL).then_some(Timestamp(value))
}

/// The slots for one hint, on a separate cache line, so that readers on different cores do not contend.
#[repr(align(64))]
struct Line([AtomicU64; LINE]);

/// The reader registry of a store.
pub struct ReaderRegistry {
    lines: Box<[Line]>,
    /// One more than the number of the last line with a slot that was ever claimed.
    high: AtomicUsize,
    held: HeldReaders,
    endings: CloseLog,
}

/// A registered timestamp. End it with [`ReaderRegistry::close`].
#[derive(Debug)]
#[must_use = "a registration pins versions until it is closed"]
pub struct Registration {
    slot: usize,
    ts: Timestamp,
}

impl Registration {
    /// Returns the timestamp.
    #[inline]
    pub fn ts(&self) -> Timestamp {
        self.ts
    }
}

impl Default for ReaderRegistry {
    fn default() -> Self {
        ReaderRegistry {
            lines: (0..LINES).map(|_| Line(std::array::from_fn(|_| AtomicU64::new(FREE)))).collect(),
            high: AtomicUsize::new(0),
            held: HeldReaders::default(),
            endings: CloseLog::default(),
        }
    }
}

impl ReaderRegistry {
    /// Returns the bytes of the registry: its slots, and the table.
    pub fn bytes(&self) -> usize {
        size_of::<ReaderRegistry>() + size_of_val(&*self.lines) + self.held.bytes()
    }

    /// Registers a reader at the timestamp that `published` loads. After claiming a slot, calls `published`
    /// again, and repeats while it returns `None`. O(1), and waits for no other thread. Threads with
    /// different hints share no cache line, unless there are too many.
    #[inline]
    pub fn register<T>(
        &self,
        hint: usize,
        mut published: impl FnMut() -> Option<(Timestamp, T)>,
    ) -> (Registration, T) {
        if let Some((ts, _)) = published() {
            let slot = self.claim(hint, ts.0);
            fence(Ordering::SeqCst);
            match published() {
                Some((newest, value)) if newest == ts => return (Registration { slot, ts }, value),
                Some((_, value)) if faults::is_on(PlantedFault::RegisteringReaderMissed) => {
                    return (Registration { slot, ts }, value);
                }
                // A scan may have seen the registration, and a mover may have moved it.
                _ => _ = self.close(Registration { slot, ts }),
            }
        }
        self.register_late(hint, published)
    }

    /// Registers a reader during a publication.
    #[cold]
    fn register_late<T>(
        &self,
        hint: usize,
        mut published: impl FnMut() -> Option<(Timestamp, T)>,
    ) -> (Registration, T) {
        let slot = self.claim(hint, PIN_ALL);
        fence(Ordering::SeqCst);
        loop {
            if let Some((ts, value)) = published() {
                self.slot(slot).store(ts.0, Ordering::Release);
                return (Registration { slot, ts }, value);
            }
        }
    }

    /// Ends a registration. Takes no lock and does not wait. Returns true if a version waits for timestamps
    /// like this one.
    #[inline]
    pub fn close(&self, registration: Registration) -> bool {
        let Registration { slot, ts } = registration;
        // Acquire makes the mover's count visible, if the registration was moved.
        let freed = self.slot(slot).compare_exchange(ts.0, FREE, Ordering::AcqRel, Ordering::Acquire);
        if freed.is_err() {
            self.held.remove(ts);
        }
        self.note_end(ts)
    }

    #[inline]
    fn note_end(&self, ts: Timestamp) -> bool {
        let watched = self.endings.are_watched(ts);
        if watched {
            self.endings.note(ts);
        }
        watched
    }

    /// Starts recording which registrations before `until` end, for [`take_ended`](Self::take_ended). Scan
    /// *after* this call: if a registration in the scan ends later, that is recorded. Call this and
    /// [`ignore_endings`](Self::ignore_endings) under the same lock.
    pub fn watch_endings(&self, until: Timestamp) {
        self.endings.watch(until);
    }

    /// Stops recording ends.
    pub fn ignore_endings(&self) {
        self.endings.ignore();
    }

    /// True if recorded ends were not taken yet.
    #[inline]
    pub fn any_ended(&self) -> bool {
        self.endings.any()
    }

    /// Returns the registrations that have ended since the last call; other readers may still read at the
    /// same timestamps.
    pub fn take_ended(&self) -> Ended {
        self.endings.take()
    }

    /// Returns the timestamps registered now. Load the published timestamp to compare them with *before* this
    /// call. Does not wait. O(lines that were ever in use); there are 32 lines.
    pub fn scan(&self) -> ActiveReaders<'_> {
        fence(Ordering::SeqCst);
        let mut active = ActiveReaders { recent: SmallVec::new(), registering: false, held: None };
        for slot in self.lines[..self.high.load(Ordering::Acquire)].iter().flat_map(|line| &line.0) {
            match slot.load(Ordering::Acquire) {
                FREE => {}
                PIN_ALL => active.registering = true,
                ts => active.recent.push(Timestamp(ts)),
            }
        }
        active.recent.sort_unstable();
        active.held = self.held.scan().filter(|_| !faults::is_on(PlantedFault::HeldReaderForgotten));
        active
    }

    #[inline]
    fn slot(&self, slot: usize) -> &AtomicU64 {
        &self.lines[slot / LINE].0[slot % LINE]
    }

    fn claim(&self, hint: usize, value: u64) -> usize {
        let line = hint % LINES;
        self.try_claim(line, value).unwrap_or_else(|| self.claim_taken(line, value))
    }

    /// Moves the readers in the slots of `line`, which are all taken, to the table, and claims one of the
    /// slots. If other readers take these slots first, claims a slot of another line.
    #[cold]
    fn claim_taken(&self, line: usize, value: u64) -> usize {
        loop {
            self.lines[line].0.iter().for_each(|slot| self.hold(slot));
            let lines = (line..line + LINES).map(|line| line % LINES);
            if let Some(slot) = lines.into_iter().find_map(|line| self.try_claim(line, value)) {
                return slot;
            }
            yield_now();
        }
    }

    /// Moves the reader in `slot` to the table.
    fn hold(&self, slot: &AtomicU64) {
        let value = slot.load(Ordering::Relaxed);
        let Some(ts) = timestamp_in(value) else { return };
        self.held.add(ts);
        let freed = slot.compare_exchange(value, FREE, Ordering::AcqRel, Ordering::Relaxed);
        if freed.is_err() {
            self.held.remove(ts);
            // A scan may have seen the count after the reader had closed.
            self.note_end(ts);
        }
    }

    /// Claims a free slot of `line` and stores `value` in it.
    #[inline]
    fn try_claim(&self, line: usize, value: u64) -> Option<usize> {
        let free = |slot: &AtomicU64| {
            slot.load(Ordering::Relaxed) == FREE
                && slot.compare_exchange(FREE, value, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        if self.high.load(Ordering::Relaxed) <= line {
            self.high.fetch_max(line + 1, Ordering::SeqCst);
        }
        self.lines[line].0.iter().position(free).map(|slot| line * LINE + slot)
    }
}

/// A scan of the registry. Each of its methods reads the table of held readers again, and may miss a reader
/// that has closed meanwhile.
#[derive(Clone)]
pub struct ActiveReaders<'a> {
    /// The timestamps in slots, ascending.
    recent: SmallVec<[Timestamp; 8]>,
    /// True if a reader was registering and had not stored its timestamp yet.
    pub registering: bool,
    held: Option<HeldScan<'a>>,
}

impl ActiveReaders<'_> {
    /// Returns the newest registered timestamp in `begin..end`. O(log n) for n registered timestamps.
    #[inline]
    pub fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let below = self.recent.partition_point(|&t| t < end);
        let recent = below.checked_sub(1).map(|last| self.recent[last]).filter(|&newest| newest >= begin);
        recent.max(self.held.as_ref().and_then(|held| held.newest_in(begin, end)))
    }

    /// Returns the oldest timestamp that any reader can see, now or later, if `published` was loaded before
    /// the scan; `None` while a reader is registering.
    #[inline]
    pub fn oldest(&self, published: Timestamp) -> Option<Timestamp> {
        let held = self.held.as_ref().and_then(HeldScan::oldest);
        let oldest = self.recent.first().copied().into_iter().chain(held).fold(published, Timestamp::min);
        (!self.registering).then_some(oldest)
    }

    /// True if `ts` is registered.
    pub fn contains(&self, ts: Timestamp) -> bool {
        self.newest_in(ts, ts.next()).is_some()
    }

    /// Returns the distinct registered timestamps, ascending. O(their number).
    pub fn timestamps(&self) -> Vec<Timestamp> {
        let mut all = self.held.as_ref().map(HeldScan::timestamps).unwrap_or_default();
        all.extend(&self.recent);
        all.sort_unstable();
        all.dedup();
        all
    }
}
