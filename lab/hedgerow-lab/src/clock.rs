//! The order of commits, and who reads which of them.
//!
//! RapidStore, section 5.2: a writer that holds all its locks draws the next timestamp, links its versions,
//! and waits until the transaction before it is published, before it publishes its own. So what is published
//! is always a prefix of the order. A reader enters its timestamp in a slot of the *reader tracer*; writers
//! reclaim the versions that none of the entered timestamps needs.
//!
//! A reader enters the published timestamp and then looks whether it is still the published one. A writer
//! publishes and then reads the slots. All four are sequentially consistent, so either the writer sees the
//! slot, or the reader sees the new timestamp and enters that one: no version is reclaimed under a reader
//! between the two steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

use hedgerow_core::Timestamp;
use smallvec::SmallVec;

use crate::LabError;
use crate::planted::{Planted, is_on};

/// How many snapshots can be open at a time.
const READERS: usize = 64;
/// A slot without a reader.
const FREE: u64 = u64::MAX;
/// How often a writer asks for its predecessor before it lets other threads run.
const SPINS: u32 = 100;

/// Vertices and edges after a transaction.
#[derive(Debug, Default)]
struct Totals {
    vertices: AtomicI64,
    edges: AtomicI64,
}

/// On cache lines of its own: writers on other processors write to the rest.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// What a writer changes when it publishes.
#[derive(Debug, Default)]
struct Published {
    timestamp: AtomicU64,
    /// After the last transaction with an even timestamp, and after the last with an odd one.
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
    /// The next timestamp. Only while all locks of the transaction are held, so that the order of timestamps
    /// is one in which transactions that meet can have run.
    pub(crate) fn draw(&self) -> u64 {
        self.drawn.0.fetch_add(1, SeqCst) + 1
    }

    /// Publishes the transaction of `timestamp`, which added this many vertices and edges, after all
    /// transactions before it.
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

    /// The last transaction that is published.
    pub(crate) fn published(&self) -> u64 {
        self.published.0.timestamp.load(SeqCst)
    }

    /// Enters a reader. O(slots).
    pub(crate) fn register(self: &Arc<Clock>) -> Result<Reader, LabError> {
        let stale = is_on(Planted::RegisteringReaderMissed).then(|| {
            let timestamp = self.published();
            // Long enough for others to write.
            (0..100).for_each(|_| std::thread::yield_now());
            timestamp
        });
        let enter = |slot: &AtomicU64| slot.compare_exchange(FREE, self.published(), SeqCst, SeqCst).ok();
        let found = self.slots.iter().position(|slot| enter(slot).is_some());
        let slot = found.ok_or(LabError::Readers { slots: self.slots.len() })?;
        loop {
            let timestamp = stale.unwrap_or_else(|| self.published());
            self.slots[slot].store(timestamp, SeqCst);
            // Those of this timestamp are overwritten by the next but one, which begins only when this one is
            // published no more.
            let totals = &self.published.0.totals[(timestamp & 1) as usize];
            let (vertices, edges) = (totals.vertices.load(SeqCst), totals.edges.load(SeqCst));
            if self.published() == timestamp || stale.is_some() {
                return Ok(Reader { clock: self.clone(), slot, timestamp, vertices, edges });
            }
        }
    }

    /// The timestamps of readers, ascending. After a publication: see the module.
    pub(crate) fn active(&self) -> Active {
        let of = |slot: &AtomicU64| Some(slot.load(SeqCst)).filter(|&timestamp| timestamp != FREE);
        let mut active: SmallVec<[u64; 8]> = self.slots.iter().filter_map(of).collect();
        active.sort_unstable();
        Active(active)
    }
}

/// An entry in the reader tracer; leaves it when it is dropped.
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

/// The timestamps of the readers at one moment.
#[derive(Debug, Default)]
pub struct Active(SmallVec<[u64; 8]>);

impl Active {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first of them.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.0.first().copied()
    }

    /// Whether one of them sees a version that begins at `begin` and is replaced at `end`.
    pub(crate) fn needs(&self, begin: u64, end: u64) -> bool {
        let first = self.0.partition_point(|&timestamp| timestamp < begin);
        self.0.get(first).is_some_and(|&timestamp| timestamp < end)
    }
}
