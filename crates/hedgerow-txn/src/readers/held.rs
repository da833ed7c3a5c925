//! Readers that stay long: a table of timestamps with counts replaces their slots (rule R5, invariant I26).
//! Readers take no lock in it, and scans wait for no reader: a reader that loses its processor here delays no
//! writer. Another reader waits for it only while it adds a level that both need; there are at most 24
//! levels.
//!
//! # Protocol
//! * Mover: count the timestamp, *then* free the slot if it still has that timestamp; else subtract the count
//!   again.
//! * Reader that closes: free the slot if it has the reader's timestamp; if not, subtract one from the count
//!   of that timestamp.
//! * Scanner: read the slots, *then* the table.
//!
//! A slot and the table record how many readers a timestamp has, not which ones. If one reader of a timestamp
//! leaves a slot and another takes it, either of the two may free it.
//!
//! # The table
//! Open addressing over levels of doubling size. A timestamp may be in any of [`PROBES`] cells of each level,
//! and in several of them at once. The state of a cell has a count and a generation. The key of a cell
//! changes only while its state marks it as being taken, and then the generation changes too. So if a thread
//! changes a count with a compare-and-swap, the key that it read before belongs to that count. All searches
//! visit the cells in one order: only so a search for a timestamp that is counted all the time finds a count
//! of it.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, yield_now};

/// The number of cells of the first level; each further level has twice as many.
const FIRST: usize = if cfg!(feature = "model-checking") { 4 } else { 256 };
/// The number of levels; one under the model checkers.
const LEVELS: usize = if cfg!(feature = "model-checking") { 1 } else { 24 };
/// The number of cells of a level that may have a timestamp.
const PROBES: usize = if cfg!(feature = "model-checking") { 4 } else { 16 };

/// The number of questions answered from all cells before the timestamps are sorted. While new readers keep
/// coming, a sort does not pay, since no later question could use it.
const QUESTIONS: u64 = 4;

/// The bits of a cell's state with the count; the others are [`TAKING`] and the generation.
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
    /// The number of cells with a count, or more: a scanner that reads 0 after the slots need not read the
    /// cells.
    used: AtomicUsize,
    /// The number of times that a timestamp was counted, and the number of times that a count fell to 0.
    counted: AtomicU64,
    emptied: AtomicU64,
    /// The number of questions answered from all cells since a timestamp was last counted, and the value of
    /// [`counted`](Self::counted) at that time. Approximate.
    questions: AtomicU64,
    questions_at: AtomicU64,
    index: Mutex<Index>,
}

/// The sorted timestamps of the table, as of a moment. Only scanners use it.
#[derive(Clone, Default)]
struct Index {
    counted: u64,
    emptied: u64,
    timestamps: Arc<[Timestamp]>,
}

/// A scanner's view of the table. It has every reader that was in the table when the scan began and is still
/// in it.
#[derive(Clone)]
pub(super) struct HeldScan<'a> {
    table: &'a HeldReaders,
    /// The sorted timestamps, if they are known or sorting them paid.
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
        // The model checker cannot make atomics for a cell that outlives a schedule: the table makes them
        // when it is created.
        held.level(0);
        held
    }
}

impl HeldCell {
    /// Changes the count with `next`, if the cell counts readers of `ts`, which must also be so at the moment
    /// of the change. Returns the new count.
    fn update(&self, ts: Timestamp, next: impl Fn(u64) -> u64) -> Option<u64> {
        loop {
            let state = self.state.load(Ordering::Acquire);
            let counts = state & COUNT > 0 && state & TAKING == 0;
            if !counts || self.key.load(Ordering::Acquire) != ts.0 {
                return None;
            }
            let new = next(state);
            // Acquire and release: a thread that finds a count of 0 is ordered after all readers that left
            // the cell.
            if self.state.compare_exchange(state, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(new & COUNT);
            }
        }
    }

    /// Takes a cell without readers for one reader of `ts`. Returns false if the cell is in use.
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

    /// Returns the timestamp whose readers the cell counts, if it counts any.
    fn timestamp(&self) -> Option<Timestamp> {
        let state = self.state.load(Ordering::Acquire);
        let counts = state & COUNT > 0 && state & TAKING == 0;
        counts.then(|| Timestamp(self.key.load(Ordering::Acquire)))
    }
}

impl HeldReaders {
    /// Counts a reader of `ts`. O(1) for any number of timestamps, except when a new level is made.
    pub(super) fn add(&self, ts: Timestamp) {
        let counted = self.cells(ts).any(|cell| cell.update(ts, |state| state + 1).is_some());
        if !counted {
            self.used.fetch_add(1, Ordering::AcqRel);
            self.take_cell(ts);
        }
        self.counted.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes a cell for a reader of `ts`, on a new level if the present levels have no room.
    fn take_cell(&self, ts: Timestamp) {
        loop {
            // Found before the search: another thread may make a level meanwhile, which has room.
            let missing = self.levels.iter().position(|level| level.get().is_none());
            if self.cells(ts).any(|cell| cell.take(ts)) {
                return;
            }
            match missing {
                Some(next) => _ = self.level(next),
                // All levels are full: only in a model there are so few cells.
                None => yield_now(),
            }
        }
    }

    /// Subtracts a counted reader of `ts`. O(1) for any number of timestamps.
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

    /// Scans the table; `None` if it is empty. Acquires the changes of readers that were in it.
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

    /// True if no reader was added since `index` was made, and not too many have left.
    fn is_current(&self, index: &Index) -> bool {
        let left = self.emptied.load(Ordering::Acquire).wrapping_sub(index.emptied);
        index.counted == self.counted.load(Ordering::Acquire)
            && left <= 16 + index.timestamps.len() as u64 / 4
    }

    /// Notes a question that no sorted order answers. Returns true if there were many since a timestamp was
    /// last counted.
    fn ordering_pays(&self) -> bool {
        let counted = self.counted.load(Ordering::Relaxed);
        if self.questions_at.swap(counted, Ordering::Relaxed) != counted {
            self.questions.store(0, Ordering::Relaxed);
        }
        self.questions.fetch_add(1, Ordering::Relaxed) >= QUESTIONS
    }

    /// Sorts the timestamps, for this scan and for later ones.
    fn order(&self) -> Arc<[Timestamp]> {
        let (counted, emptied) = (self.counted.load(Ordering::Acquire), self.emptied.load(Ordering::Acquire));
        let timestamps: Arc<[Timestamp]> = self.sorted().into();
        // Another scan that has the lock stores its own order.
        if let Some(mut index) = self.index.try_lock() {
            *index = Index { counted, emptied, timestamps: timestamps.clone() };
        }
        timestamps
    }

    /// Returns the bytes of the table, which never shrinks.
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

    /// Returns all timestamps, ascending. O(cells).
    fn sorted(&self) -> Vec<Timestamp> {
        let mut found: Vec<Timestamp> = self.all().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the cells that may have `ts`.
    fn cells(&self, ts: Timestamp) -> impl Iterator<Item = &HeldCell> {
        // Fibonacci hashing: consecutive timestamps spread over the level.
        let hash = (ts.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        let levels = self.levels.iter().map_while(OnceLock::get);
        // The cells do not wrap around the end of a level: a search of these cells and a search of all cells
        // visit them in one order, which I26 requires.
        levels.flat_map(move |level| level.iter().skip(hash % (level.len() - PROBES + 1)).take(PROBES))
    }

    fn level(&self, number: usize) -> &[HeldCell] {
        let cell = |_| HeldCell { key: AtomicU64::new(0), state: AtomicU64::new(0) };
        if self.levels[number].get().is_none() {
            // The level is made first, so that other threads wait only while it is put in place.
            let _ = self.levels[number].set((0..FIRST << number).map(cell).collect());
        }
        self.levels[number].get().map_or(&[], |level| level)
    }
}

impl HeldScan<'_> {
    /// Returns the newest timestamp in `begin..end`. O(log n) for n timestamps, plus the timestamps in
    /// between that have closed since the sort. O(n) for the first questions after new readers were added.
    pub(super) fn newest_in(&self, begin: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let Some(ordered) = self.ordered() else {
            return self.table.all().filter(|&ts| begin <= ts && ts < end).max();
        };
        let below = ordered.partition_point(|&ts| ts < end);
        let inside = ordered[..below].iter().rev().take_while(|&&ts| ts >= begin);
        inside.copied().find(|&ts| self.table.contains(ts))
    }

    /// Returns the oldest timestamp, at the cost of [`newest_in`](Self::newest_in).
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        match self.ordered() {
            Some(ordered) => ordered.iter().copied().find(|&ts| self.table.contains(ts)),
            None => self.table.all().min(),
        }
    }

    /// Returns all timestamps, ascending. O(n log n).
    pub(super) fn timestamps(&self) -> Vec<Timestamp> {
        self.table.sorted()
    }

    /// Returns the sorted timestamps, if they are known, or if there were enough questions for a sort to pay.
    fn ordered(&self) -> Option<&[Timestamp]> {
        let pays = self.ordered.get().is_some() || self.table.ordering_pays();
        pays.then(|| &**self.ordered.get_or_init(|| self.table.order()))
    }
}
