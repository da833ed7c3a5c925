//! The registry of readers: which timestamps are being read.
//!
//! # Protocol (rule R5)
//! * Reader: claim a slot by setting it to "pins everything"; full fence; load `t_read`; set the slot to it.
//! * Reclaimer: load the published `t_read`; full fence; scan the slots.
//!
//! If the reader's fence comes first, the scan sees its slot. If the reclaimer's comes first, the reader loads a
//! `t_read` at least as new as the one that the reclaimer judges by. Either way no version is called dead that the
//! reader needs.
//!
//! A reader looks at a few slots from its hint on. Where all are taken, those in them are held for long, or many: they
//! move to a table of timestamps with counts (`readers/held.rs`), so that neither finding a slot nor a scan depends on
//! how many are held. Where somebody is at the table, the reader takes one of some more slots, and only if these are full
//! too, it waits for the table: whoever is there looks something up, or moves what slots there are.

mod endings;
mod held;

use endings::Endings;
use held::HeldReaders;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Ordering, fence};
use smallvec::SmallVec;

/// The slots that hints lead to, and those for readers that find somebody at the table.
#[cfg(not(any(loom, shuttle)))]
const NEAR: usize = 64;
#[cfg(any(loom, shuttle))]
const NEAR: usize = 2;
const SLOTS: usize = 2 * NEAR;
/// How many slots a reader looks at from its hint on.
#[cfg(not(any(loom, shuttle)))]
const PROBES: usize = 4;
#[cfg(any(loom, shuttle))]
const PROBES: usize = 1;

/// The slot belongs to nobody.
const FREE: u64 = u64::MAX;
/// The reader in this slot has not said its timestamp yet.
const PIN_ALL: u64 = u64::MAX - 1;

/// The timestamp of the reader in a slot with this value, if it has said it.
#[inline]
fn timestamp_in(value: u64) -> Option<Timestamp> {
    (value < PIN_ALL).then_some(Timestamp(value))
}

/// One slot on a cache line of its own, so that readers on different cores do not disturb each other.
#[repr(align(64))]
struct Slot(AtomicU64);

/// The registry of a store.
pub struct ReaderRegistry {
    slots: Box<[Slot]>,
    /// One more than the largest slot ever claimed.
    high: AtomicUsize,
    held: HeldReaders,
    endings: Endings,
    /// A forked child has the locks as they were, perhaps held by threads that it does not have.
    process: u32,
}

/// A registered timestamp. Give it back with [`ReaderRegistry::close`].
#[derive(Debug)]
#[must_use = "a registration pins versions until it is closed"]
pub struct Registration {
    slot: usize,
    ts: Timestamp,
}

impl Registration {
    /// The timestamp.
    #[inline]
    pub fn ts(&self) -> Timestamp {
        self.ts
    }
}

impl Default for ReaderRegistry {
    fn default() -> Self {
        ReaderRegistry {
            slots: (0..SLOTS).map(|_| Slot(AtomicU64::new(FREE))).collect(),
            high: AtomicUsize::new(0),
            held: HeldReaders::default(),
            endings: Endings::default(),
            process: std::process::id(),
        }
    }
}

impl ReaderRegistry {
    /// The bytes of the registry: a cache line for each slot, and about those of the table.
    pub fn bytes(&self) -> usize {
        size_of::<ReaderRegistry>() + size_of_val(&*self.slots) + self.held.bytes()
    }

    /// Registers a reader at the timestamp that `published` loads; it is called after the slot pins everything, and
    /// again while it returns `None`. O(1); O(log n) of the timestamps held where slots near `hint` are taken. Waits for
    /// nobody, unless a hundred readers stay that came while one thread was at the table.
    #[inline]
    pub fn register<T>(
        &self,
        hint: usize,
        mut published: impl FnMut() -> Option<(Timestamp, T)>,
    ) -> (Registration, T) {
        let slot = self.claim(hint);
        let cell = &self.slots[slot];
        fence(Ordering::SeqCst);
        loop {
            if let Some((ts, value)) = published() {
                cell.0.store(ts.0, Ordering::Release);
                return (Registration { slot, ts }, value);
            }
        }
    }

    /// Ends a registration. Waits for nobody unless the reader was moved, and then only while another is at the table, or
    /// unless somebody waits for its end, and then only while another ending is noted.
    #[inline]
    pub fn close(&self, registration: Registration) {
        let Registration { slot, ts } = registration;
        let freed = self.slots[slot].0.compare_exchange(ts.0, FREE, Ordering::AcqRel, Ordering::Relaxed);
        if freed.is_err() && self.is_ours() {
            self.held.close(ts);
        }
        if self.endings.are_watched(ts) && self.is_ours() {
            self.endings.note(ts);
        }
    }

    /// From here on [`take_ended`](Self::take_ended) says which registrations at timestamps before `until` ended. Scan
    /// *after* this: the endings of what the scan shows will be said. Call this and
    /// [`ignore_endings`](Self::ignore_endings) under one lock.
    pub fn watch_endings(&self, until: Timestamp) {
        self.endings.watch(until);
    }

    /// From here on no ending is said.
    pub fn ignore_endings(&self) {
        self.endings.ignore();
    }

    /// Whether registrations ended that nobody was told of.
    #[inline]
    pub fn any_ended(&self) -> bool {
        self.endings.any()
    }

    /// The timestamps of registrations that ended since this was asked last; others may still read them.
    pub fn take_ended(&self) -> Vec<Timestamp> {
        self.endings.take()
    }

    /// The timestamps registered now. Load the published timestamp that you judge by *before* calling this.
    pub fn scan(&self) -> ActiveReaders<'_> {
        fence(Ordering::SeqCst);
        let mut active = ActiveReaders { recent: SmallVec::new(), registering: false, held: None };
        for slot in &self.slots[..self.high.load(Ordering::Acquire)] {
            match slot.0.load(Ordering::Acquire) {
                FREE => {}
                PIN_ALL => active.registering = !faults::is_on(PlantedFault::RegisteringReaderMissed),
                ts => active.recent.push(Timestamp(ts)),
            }
        }
        active.recent.sort_unstable();
        active.held = (!self.held.is_empty()).then_some(&self.held);
        active
    }

    fn claim(&self, hint: usize) -> usize {
        let first = hint % NEAR;
        let near = || (first..first + PROBES).map(|slot| slot % NEAR);
        near().find(|&slot| self.try_claim(slot)).unwrap_or_else(|| self.claim_taken(near()))
    }

    /// Makes room at the slots `near`, which are all taken, and claims one, or one that no hint leads to.
    #[cold]
    fn claim_taken(&self, near: impl Iterator<Item = usize> + Clone) -> usize {
        let mut wait = false;
        loop {
            let late = NEAR..self.high.load(Ordering::Relaxed).max(NEAR);
            self.held.make_room(near.clone().chain(late).map(|slot| &self.slots[slot]), wait);
            if let Some(slot) = near.clone().chain(NEAR..SLOTS).find(|&slot| self.try_claim(slot)) {
                return slot;
            }
            wait = true;
        }
    }

    #[inline]
    fn try_claim(&self, slot: usize) -> bool {
        if self.high.load(Ordering::Relaxed) <= slot {
            self.high.fetch_max(slot + 1, Ordering::SeqCst);
        }
        let cell = &self.slots[slot];
        let free = cell.0.load(Ordering::Relaxed) == FREE;
        free && cell.0.compare_exchange(FREE, PIN_ALL, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}

/// A scan of the registry. It looks at readers held for long when it is asked: one that closes meanwhile may be missing.
#[derive(Clone)]
pub struct ActiveReaders<'a> {
    /// The timestamps in slots, ascending.
    recent: SmallVec<[Timestamp; 8]>,
    /// Whether a reader was registering and had not said its timestamp.
    pub registering: bool,
    held: Option<&'a HeldReaders>,
}

impl ActiveReaders<'_> {
    /// The newest registered timestamp in `begin..end`. O(log n) of the timestamps registered.
    #[inline]
    pub fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let below = self.recent.partition_point(|&t| t < end);
        let recent = below.checked_sub(1).map(|last| self.recent[last]).filter(|&newest| newest >= begin);
        recent.max(self.held.and_then(|held| held.newest_in(begin, end)))
    }

    /// The oldest timestamp that any reader can see, now or later, if `published` was loaded before the scan; `None`
    /// while a reader is registering.
    #[inline]
    pub fn oldest(&self, published: Timestamp) -> Option<Timestamp> {
        let held = self.held.and_then(HeldReaders::oldest);
        let oldest = self.recent.first().copied().into_iter().chain(held).fold(published, Timestamp::min);
        (!self.registering).then_some(oldest)
    }

    /// Whether `ts` is registered.
    pub fn contains(&self, ts: Timestamp) -> bool {
        self.newest_in(ts, ts.next()).is_some()
    }

    /// The distinct registered timestamps, ascending. O(n) of them.
    pub fn timestamps(&self) -> Vec<Timestamp> {
        let mut all = self.held.map(HeldReaders::timestamps).unwrap_or_default();
        all.extend(&self.recent);
        all.sort_unstable();
        all.dedup();
        all
    }
}
