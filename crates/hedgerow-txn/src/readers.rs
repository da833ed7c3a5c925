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
//! Slots live in chunks of doubling size that are never freed: registering never waits and never runs out.

use std::sync::OnceLock;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(not(any(loom, shuttle)))]
const FIRST_CHUNK: usize = 64;
#[cfg(any(loom, shuttle))]
const FIRST_CHUNK: usize = 2;
const CHUNKS: usize = 24;

/// The slot belongs to nobody.
const FREE: u64 = u64::MAX;
/// The reader in this slot has not said its timestamp yet.
const PIN_ALL: u64 = u64::MAX - 1;

/// One slot on a cache line of its own, so that readers on different cores do not disturb each other.
#[repr(align(64))]
struct Slot(AtomicU64);

/// The registry of a store.
pub struct ReaderRegistry {
    chunks: [OnceLock<Box<[Slot]>>; CHUNKS],
    /// One more than the largest slot ever claimed.
    high: AtomicUsize,
    /// How many registrations have ended.
    closes: AtomicU64,
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
        let registry = ReaderRegistry {
            chunks: std::array::from_fn(|_| OnceLock::new()),
            high: AtomicUsize::new(0),
            closes: AtomicU64::new(0),
        };
        // The first chunk is there from the start: no reader of an ordinary store ever allocates.
        registry.slot(0);
        registry
    }
}

impl ReaderRegistry {
    /// The bytes of the registry: a cache line for each slot that was ever made.
    pub fn bytes(&self) -> usize {
        let slots = self.chunks.iter().filter_map(OnceLock::get).map(|chunk| size_of_val(&**chunk));
        size_of::<ReaderRegistry>() + slots.sum::<usize>()
    }

    /// Registers a reader at the timestamp that `published` loads; it is called after the slot pins everything, and
    /// again while it returns `None`. Lock-free; O(registered readers) at worst, O(1) where slots are free near `hint`.
    #[inline]
    pub fn register<T>(
        &self,
        hint: usize,
        mut published: impl FnMut() -> Option<(Timestamp, T)>,
    ) -> (Registration, T) {
        let slot = self.claim(hint);
        let cell = self.slot(slot);
        fence(Ordering::SeqCst);
        loop {
            if let Some((ts, value)) = published() {
                cell.0.store(ts.0, Ordering::Release);
                return (Registration { slot, ts }, value);
            }
        }
    }

    /// Ends a registration.
    #[inline]
    pub fn close(&self, registration: Registration) {
        self.slot(registration.slot).0.store(FREE, Ordering::Release);
        self.closes.fetch_add(1, Ordering::Release);
    }

    /// How many registrations have ended: whoever waits for one looks whether this moved.
    #[inline]
    pub fn closes(&self) -> u64 {
        self.closes.load(Ordering::Acquire)
    }

    /// The timestamps registered now. Load the published timestamp that you judge by *before* calling this.
    pub fn scan(&self) -> ActiveReaders {
        fence(Ordering::SeqCst);
        let mut active = ActiveReaders { timestamps: Vec::new(), registering: false };
        for slot in 0..self.high.load(Ordering::Acquire) {
            match self.slot(slot).0.load(Ordering::Acquire) {
                FREE => {}
                PIN_ALL => active.registering = !faults::is_on(PlantedFault::RegisteringReaderMissed),
                ts => active.timestamps.push(Timestamp(ts)),
            }
        }
        active.timestamps.sort_unstable();
        active.timestamps.dedup();
        active
    }

    fn claim(&self, hint: usize) -> usize {
        let mut slot = hint % FIRST_CHUNK;
        loop {
            if self.high.load(Ordering::Relaxed) <= slot {
                self.high.fetch_max(slot + 1, Ordering::SeqCst);
            }
            let cell = self.slot(slot);
            let free = cell.0.load(Ordering::Relaxed) == FREE;
            if free && cell.0.compare_exchange(FREE, PIN_ALL, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return slot;
            }
            slot += 1;
        }
    }

    #[inline]
    fn slot(&self, slot: usize) -> &Slot {
        let n = slot + FIRST_CHUNK;
        let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST_CHUNK.trailing_zeros() as usize;
        let size = FIRST_CHUNK << chunk;
        let slots =
            self.chunks[chunk].get_or_init(|| (0..size).map(|_| Slot(AtomicU64::new(FREE))).collect());
        &slots[n - size]
    }
}

/// A scan of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActiveReaders {
    /// The distinct registered timestamps, ascending.
    pub timestamps: Vec<Timestamp>,
    /// Whether a reader was registering and had not said its timestamp.
    pub registering: bool,
}

impl ActiveReaders {
    /// The newest registered timestamp in `begin..end`.
    #[inline]
    pub fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let below = self.timestamps.partition_point(|&t| t < end);
        let newest = *self.timestamps.get(below.checked_sub(1)?)?;
        (newest >= begin).then_some(newest)
    }

    /// The oldest timestamp that any reader can see, now or later, if `published` was loaded before the scan; `None`
    /// while a reader is registering.
    #[inline]
    pub fn oldest(&self, published: Timestamp) -> Option<Timestamp> {
        let oldest = self.timestamps.first().copied().unwrap_or(published);
        (!self.registering).then_some(oldest.min(published))
    }

    /// Whether `ts` is registered.
    pub fn contains(&self, ts: Timestamp) -> bool {
        self.timestamps.binary_search(&ts).is_ok()
    }
}
