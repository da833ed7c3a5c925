//! Readers that stay: a table of timestamps with counts, in place of slots (rule R5, invariant I26). Readers take no lock in
//! it, and scans wait for no reader: one that loses its processor here delays no writer. (Another reader waits for it only if
//! both need a new level, of which there are 24 at most, and while that is put in its place.)
//!
//! # Protocol
//! * Mover: count the timestamp, *then* free the slot if it still holds that timestamp, else take the count back.
//! * Reader that closes: free the slot if it holds its timestamp; if not, take one from the count of that timestamp.
//! * Scanner: read the slots, *then* the table.
//!
//! What a slot and the table say of a timestamp is a number of readers, not which ones: a slot that one reader of a
//! timestamp left, and another took, may be freed by either of the two.
//!
//! # The table
//! Open addressing over levels of doubling size. A timestamp may stand in any of [`PROBES`] cells of each level, and in
//! several of them at once. A cell's state holds a count and a generation; the key of a cell changes only while its
//! state says that it is being taken, and the generation changes with it. So whoever changes a count with a
//! compare-and-swap knows that the key it read before belongs to that count. All searches go through the cells in one
//! order: only then does a search for a timestamp that is held all along meet a count of it.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, yield_now};

/// The cells of the first level; each further level has twice as many.
const FIRST: usize = if cfg!(feature = "model-checking") { 4 } else { 256 };
/// The model checkers have one level.
const LEVELS: usize = if cfg!(feature = "model-checking") { 1 } else { 24 };
/// In how many cells of a level a timestamp may stand.
const PROBES: usize = if cfg!(feature = "model-checking") { 4 } else { 16 };

/// How many questions are answered by looking at all cells, before it pays to put the timestamps in order: where readers come
/// all the time the order would not be used again.
const QUESTIONS: u64 = 4;

/// The state of a cell: a count, [`TAKING`], and the generation.
const COUNT: u64 = (1 << 32) - 1;
const TAKING: u64 = 1 << 32;
const GENERATION: u64 = 1 << 33;

struct HeldCell {
    key: AtomicU64,
    state: AtomicU64,
}

/// The table of a registry.
pub(super) struct HeldReaders {
    levels: [OnceLock<Box<[HeldCell]>>; LEVELS],
    /// At least the number of cells with a count: whoever reads 0 after the slots need not look.
    used: AtomicUsize,
    /// How often a timestamp was counted, and how often a cell's count fell to 0.
    counted: AtomicU64,
    emptied: AtomicU64,
    /// How many questions were answered by looking at all cells since a timestamp was counted last, and what
    /// [`counted`](Self::counted) was then. Approximate.
    questions: AtomicU64,
    questions_at: AtomicU64,
    index: Mutex<Index>,
}

/// The timestamps of the table in order, as of a moment. Only scanners use it.
#[derive(Clone, Default)]
struct Index {
    counted: u64,
    emptied: u64,
    timestamps: Arc<[Timestamp]>,
}

/// The table as a scanner sees it: nobody is missing who was in it when the scan began.
#[derive(Clone)]
pub(super) struct HeldScan<'a> {
    table: &'a HeldReaders,
    /// The timestamps in order, if they are known or were worth ordering.
    ordered: OnceCell<Arc<[Timestamp]>>,
}

impl Default for HeldReaders {
    fn default() -> Self {
        let held = HeldReaders {
            levels: [const { OnceLock::new() }; LEVELS],
            used: AtomicUsize::new(0),
            counted: AtomicU64::new(0),
            emptied: AtomicU64::new(0),
            questions: AtomicU64::new(0),
            questions_at: AtomicU64::new(0),
            index: Mutex::new(Index::default()),
        };
        // The model checker cannot make atomics for a cell that outlives a schedule: they are made with the table.
        held.level(0);
        held
    }
}

impl HeldCell {
    /// Changes the count with `next`, if the cell counts readers of `ts` and still does when it is changed. Returns the
    /// new count.
    fn update(&self, ts: Timestamp, next: impl Fn(u64) -> u64) -> Option<u64> {
        loop {
            let state = self.state.load(Ordering::Acquire);
            let counts = state & COUNT > 0 && state & TAKING == 0;
            if !counts || self.key.load(Ordering::Acquire) != ts.0 {
                return None;
            }
            let new = next(state);
            // Acquire and release: whoever finds a count of 0 comes after all who left the cell.
            if self.state.compare_exchange(state, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(new & COUNT);
            }
        }
    }

    /// Takes a cell that counts nobody, for one reader of `ts`.
    fn take(&self, ts: Timestamp) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if state & (COUNT | TAKING) != 0 {
            return false;
        }
        let taking = state | TAKING;
        let taken = self.state.compare_exchange(state, taking, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if taken {
            self.key.store(ts.0, Ordering::Release);
            self.state.store(state.wrapping_add(GENERATION) | 1, Ordering::Release);
        }
        taken
    }

    /// The timestamp whose readers are counted here.
    fn timestamp(&self) -> Option<Timestamp> {
        let state = self.state.load(Ordering::Acquire);
        let counts = state & COUNT > 0 && state & TAKING == 0;
        counts.then(|| Timestamp(self.key.load(Ordering::Acquire)))
    }
}

impl HeldReaders {
    /// Counts a reader of `ts`. O(1) of the timestamps held, but for a new level now and then.
    pub(super) fn add(&self, ts: Timestamp) {
        let counted = self.cells(ts).any(|cell| cell.update(ts, |state| state + 1).is_some());
        if !counted {
            self.used.fetch_add(1, Ordering::AcqRel);
            self.take_cell(ts);
        }
        self.counted.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes a cell for a reader of `ts`, on a new level where those that there are have no room.
    fn take_cell(&self, ts: Timestamp) {
        loop {
            // Looked for before the search: another thread may make a level meanwhile, which has room.
            let missing = self.levels.iter().position(|level| level.get().is_none());
            if self.cells(ts).any(|cell| cell.take(ts)) {
                return;
            }
            match missing {
                Some(next) => _ = self.level(next),
                // All levels are full: only a model has so few cells.
                None => yield_now(),
            }
        }
    }

    /// Takes a reader of `ts` away that was counted. O(1) of the timestamps held.
    #[cold]
    pub(super) fn remove(&self, ts: Timestamp) {
        loop {
            let left = self.cells(ts).find_map(|cell| cell.update(ts, |state| state - 1));
            match left {
                Some(0) => {
                    self.emptied.fetch_add(1, Ordering::AcqRel);
                    self.used.fetch_sub(1, Ordering::AcqRel);
                    return;
                }
                Some(_) => return,
                // The mover's count of this reader is not visible to this thread yet.
                None => yield_now(),
            }
        }
    }

    /// What is in the table; `None` if nobody is. Acquires what those who were here did.
    pub(super) fn scan(&self) -> Option<HeldScan<'_>> {
        if self.used.load(Ordering::Acquire) == 0 {
            return None;
        }
        let scan = HeldScan { table: self, ordered: OnceCell::new() };
        if let Some(index) = self.index.try_lock()
            && self.is_current(&index)
        {
            _ = scan.ordered.set(index.timestamps.clone());
        }
        Some(scan)
    }

    /// Whether nobody came since `index` was made, and not too many left.
    fn is_current(&self, index: &Index) -> bool {
        let left = self.emptied.load(Ordering::Acquire).wrapping_sub(index.emptied);
        index.counted == self.counted.load(Ordering::Acquire)
            && left <= 16 + index.timestamps.len() as u64 / 4
    }

    /// Notes a question that no order answers. Whether there were many since a timestamp was counted last.
    fn ordering_pays(&self) -> bool {
        let counted = self.counted.load(Ordering::Relaxed);
        if self.questions_at.swap(counted, Ordering::Relaxed) != counted {
            self.questions.store(0, Ordering::Relaxed);
        }
        self.questions.fetch_add(1, Ordering::Relaxed) >= QUESTIONS
    }

    /// Puts the timestamps in order, for this scan and for later ones.
    fn order(&self) -> Arc<[Timestamp]> {
        let (counted, emptied) = (self.counted.load(Ordering::Acquire), self.emptied.load(Ordering::Acquire));
        let timestamps: Arc<[Timestamp]> = self.sorted().into();
        // Another scan that holds the lock stores its own order.
        if let Some(mut index) = self.index.try_lock() {
            *index = Index { counted, emptied, timestamps: timestamps.clone() };
        }
        timestamps
    }

    /// The bytes of the table, which keeps the size that it once had.
    pub(super) fn bytes(&self) -> usize {
        let cells: usize = self.levels.iter().filter_map(OnceLock::get).map(|level| level.len()).sum();
        let index = self.index.try_lock().map_or(0, |index| size_of_val(&*index.timestamps));
        cells * size_of::<HeldCell>() + index
    }

    fn contains(&self, ts: Timestamp) -> bool {
        self.cells(ts).any(|cell| cell.timestamp() == Some(ts))
    }

    fn all(&self) -> impl Iterator<Item = Timestamp> {
        let levels = self.levels.iter().map_while(OnceLock::get);
        levels.flat_map(|level| level.iter().filter_map(HeldCell::timestamp))
    }

    /// All timestamps, ascending. O(cells).
    fn sorted(&self) -> Vec<Timestamp> {
        let mut found: Vec<Timestamp> = self.all().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The cells in which a timestamp may stand.
    fn cells(&self, ts: Timestamp) -> impl Iterator<Item = &HeldCell> {
        // Fibonacci hashing: timestamps that follow each other spread over the level.
        let hash = (ts.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        let levels = self.levels.iter().map_while(OnceLock::get);
        // Not beyond the end: a search of these cells and one of all cells meet them in one order, on which I26 rests.
        levels.flat_map(move |level| level.iter().skip(hash % (level.len() - PROBES + 1)).take(PROBES))
    }

    fn level(&self, number: usize) -> &[HeldCell] {
        let cell = |_| HeldCell { key: AtomicU64::new(0), state: AtomicU64::new(0) };
        if self.levels[number].get().is_none() {
            // Made first: others wait for a new level only while it is put in its place.
            let _ = self.levels[number].set((0..FIRST << number).map(cell).collect());
        }
        self.levels[number].get().map_or(&[], |level| level)
    }
}

impl HeldScan<'_> {
    /// The newest timestamp in `begin..end`. O(log n) of the timestamps held, and O(those in between that closed since
    /// they were put in order); O(n) for the first questions after others came.
    pub(super) fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let Some(ordered) = self.ordered() else {
            return self.table.all().filter(|&ts| begin <= ts && ts < end).max();
        };
        let below = ordered.partition_point(|&ts| ts < end);
        let inside = ordered[..below].iter().rev().take_while(|&&ts| ts >= begin);
        inside.copied().find(|&ts| self.table.contains(ts))
    }

    /// The oldest timestamp. As [`newest_in`](Self::newest_in).
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        match self.ordered() {
            Some(ordered) => ordered.iter().copied().find(|&ts| self.table.contains(ts)),
            None => self.table.all().min(),
        }
    }

    /// All timestamps, ascending. O(n log n).
    pub(super) fn timestamps(&self) -> Vec<Timestamp> {
        self.table.sorted()
    }

    /// The timestamps in order, where they are known, or where there were so many questions that ordering pays.
    fn ordered(&self) -> Option<&[Timestamp]> {
        let pays = self.ordered.get().is_some() || self.table.ordering_pays();
        pays.then(|| &**self.ordered.get_or_init(|| self.table.order()))
    }
}
