//! The order of commits, and the commits that each reader sees.
//!
//! RapidStore, section 5.2: a writer that holds all its locks draws the next timestamp and links its
//! versions. It then waits until the transaction before it is published, and publishes its own. So the
//! published transactions are always a prefix of the order. A reader enters its timestamp in a slot of the
//! *reader tracer*. Writers reclaim the versions that no entered timestamp needs.
//!
//! A reader enters the published timestamp and then checks that it is still the published one. A writer
//! publishes its timestamp and then reads the slots. All four accesses are sequentially consistent. So either
//! the writer sees the slot, or the reader sees the new timestamp and enters the new one. Between these two
//! steps of a reader, no writer reclaims a version that the reader needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

use hedgerow_core::Timestamp;
use smallvec::SmallVec;

use crate::LabError;
use crate::planted::{Planted, is_on};

/// The maximum number of open snapshots.
const READERS: usize = 64;
/// The value of a slot without a reader.
const FREE: u64 = u64::MAX;
/// The number of times that a writer checks for its predecessor's publication before it lets other threads
/// run.
const SPINS: u32 = 100;

/// The numbers of vertices and edges after a transaction.
#[derive(Debug, Default)]
struct Totals {
    vertices: AtomicI64,
    edges: AtomicI64,
}

/// A value on cache lines of its own, because writers on other processors write to the other fields.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// The fields that a writer changes when it publishes.
#[derive(Debug, Default)]
struct Published {
    timestamp: AtomicU64,
    /// The totals after the last transaction with an even timestamp, and after the last one with an odd
    /// timestamp.
    totals: [Totals; 2],
}

/// The clock of a container, and its reader tracer.
#[derive(Debug)]
pub(crate) struct Clock {
    drawn: Apart<AtomicU64>,
    published: Apart<Published>,
    slots: Box<[AtomicU64]>,
}

impl Default for Clock {
    fn default() -> Self {
        let slots = (0..READERS).map(|_| AtomicU64::new(FREE)).collect();
        Clock { drawn: Apart::default(), published: Apart::default(), slots }
    }
}

impl Clock {
    /// Returns the next timestamp. Called only while the transaction holds all its locks. So the order of
    /// timestamps is a valid serial order of transactions that conflict.
    pub(crate) fn draw(&self) -> u64 {
        self.drawn.0.fetch_add(1, SeqCst) + 1
    }

    /// Waits until all earlier transactions are published, and then publishes the transaction of `timestamp`.
    /// `vertices` and `edges` are the numbers that it added.
    pub(crate) fn publish(&self, timestamp: u64, vertices: i64, edges: i64) {
        let mut asked = 0;
        let published = &self.published.0;
        while published.timestamp.load(SeqCst) != timestamp - 1 {
            asked += 1;
            if asked % SPINS == 0 {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        let [before, after] = [timestamp - 1, timestamp].map(|t| &published.totals[(t & 1) as usize]);
        after.vertices.store(before.vertices.load(SeqCst) + vertices, SeqCst);
        after.edges.store(before.edges.load(SeqCst) + edges, SeqCst);
        published.timestamp.store(timestamp, SeqCst);
    }

    /// Returns the timestamp of the last published transaction.
    pub(crate) fn published(&self) -> u64 {
        self.published.0.timestamp.load(SeqCst)
    }

    /// Registers a reader: enters its timestamp in a free slot. O(slots).
    pub(crate) fn register(self: &Arc<Clock>) -> Result<Reader, LabError> {
        let stale = is_on(Planted::RegisteringReaderMissed).then(|| {
            let timestamp = self.published();
            // Gives other threads enough time to write.
            (0..100).for_each(|_| std::thread::yield_now());
            timestamp
        });
        let enter = |slot: &AtomicU64| slot.compare_exchange(FREE, self.published(), SeqCst, SeqCst).ok();
        let found = self.slots.iter().position(|slot| enter(slot).is_some());
        let slot = found.ok_or(LabError::Readers { slots: self.slots.len() })?;
        loop {
            let timestamp = stale.unwrap_or_else(|| self.published());
            self.slots[slot].store(timestamp, SeqCst);
            // The transaction `timestamp + 2` overwrites these totals. It does so only after `timestamp + 1`
            // is published.
            let totals = &self.published.0.totals[(timestamp & 1) as usize];
            let (vertices, edges) = (totals.vertices.load(SeqCst), totals.edges.load(SeqCst));
            if self.published() == timestamp || stale.is_some() {
                return Ok(Reader { clock: self.clone(), slot, timestamp, vertices, edges });
            }
        }
    }

    /// Returns the timestamps of the readers, ascending. Called after a publication: see the module.
    pub(crate) fn active(&self) -> Active {
        let of = |slot: &AtomicU64| Some(slot.load(SeqCst)).filter(|&timestamp| timestamp != FREE);
        let mut active: SmallVec<[u64; 8]> = self.slots.iter().filter_map(of).collect();
        active.sort_unstable();
        Active(active)
    }
}

/// An entry in the reader tracer; dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct Reader {
    clock: Arc<Clock>,
    slot: usize,
    timestamp: u64,
    vertices: i64,
    edges: i64,
}

impl Reader {
    pub(crate) fn timestamp(&self) -> Timestamp {
        Timestamp(self.timestamp)
    }

    pub(crate) fn vertices(&self) -> usize {
        self.vertices as usize
    }

    pub(crate) fn edges(&self) -> u64 {
        self.edges as u64
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.clock.slots[self.slot].store(FREE, SeqCst);
    }
}

/// The timestamps of the registered readers at one moment.
#[derive(Debug, Default)]
pub struct Active(SmallVec<[u64; 8]>);

impl Active {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the oldest timestamp.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.0.first().copied()
    }

    /// True if a reader sees a version that begins at `begin` and is replaced at `end`.
    pub(crate) fn needs(&self, begin: u64, end: u64) -> bool {
        let first = self.0.partition_point(|&timestamp| timestamp < begin);
        self.0.get(first).is_some_and(|&timestamp| timestamp < end)
    }
}
