//! LiveGraph: Zhu et al., "LiveGraph: a transactional graph storage system with purely sequential adjacency
//! list scans" (PVLDB 13(7), 2020).
//!
//! The list of a vertex in one direction is a *transactional edge log* (section 3). Its entries are in the
//! order in which they were appended, in a block of a power-of-two size. Each entry has a creation and an
//! invalidation timestamp. Larger blocks have a Bloom filter (section 4). A writer locks each vertex at its
//! first use, and rolls back if it does not get a lock in time. It appends and invalidates entries with a
//! mark that readers skip. Then it commits: it draws a timestamp, replaces the marks by the timestamp, and is
//! published after all earlier transactions (section 5). Readers take no locks. Blocks come from a store with
//! a list of free blocks for each size. From time to time, a transaction compacts the lists with invalidated
//! entries (section 6). [`LiveGraph`] is the whole container; [`LiveGraphAlone`] is the same for one user at
//! a time. Parameters and deviations: `docs/design/lab/livegraph.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::{DynamicGraph, Timestamp, Update, Written};
use parking_lot::{Mutex, RwLock};

use crate::change::{self, More};
use crate::clock::Clock;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod filter;
mod group;
mod horizon;
mod layout;
mod records;
mod snapshot;
mod store;
mod tel;
mod waste;
mod work;

pub use alone::{LiveGraphAlone, PlainLiveGraph, VersionedLiveGraph};
use group::Groups;
use horizon::Horizon;
pub use layout::LiveGraphOptions;
use layout::Shape;
use records::{Graph, MOST};
pub use snapshot::LiveGraphSnapshot;
use waste::Waste;
use work::{Locking, Work};

/// The number of timeouts after which a transaction waits for its locks without a limit.
const IMPATIENT: u32 = 8;
/// The number of replaced blocks from which on a commit looks for blocks that no reader reads.
const DRAINED_FROM: usize = 64;

/// Transactional edge logs, with locks of vertices for writers and no locks for readers.
pub struct LiveGraph {
    /// The graph. Writers and new snapshots take the read lock. A thread that frees memory takes the write
    /// lock, and frees memory only if no snapshot holds the graph.
    graph: RwLock<Arc<Graph>>,
    clock: Arc<Clock>,
    groups: Groups,
    waste: Waste,
    /// The number of attempts to make transactions.
    transactions: AtomicU64,
    /// The timestamp from which on the next transaction compacts.
    compaction_due: AtomicU64,
    /// The lock of the one transaction that waits without a timeout.
    patient: Mutex<()>,
    options: LiveGraphOptions,
}

impl LiveGraph {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> LiveGraph {
        LiveGraph::with_options(form, LiveGraphOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: LiveGraphOptions) -> LiveGraph {
        let shape = Shape::new(form, true, options.bloom_filters);
        let clock = Arc::new(Clock::default());
        LiveGraph {
            graph: RwLock::new(Arc::new(Graph::new(form, shape))),
            groups: Groups::new(clock.clone()),
            clock,
            waste: Waste::default(),
            transactions: AtomicU64::new(0),
            compaction_due: AtomicU64::new(options.compact_every.max(1)),
            patient: Mutex::new(()),
            options,
        }
    }

    /// Returns the bytes of free blocks, which [`memory_bytes`](DynamicGraph::memory_bytes) counts too.
    pub fn free_bytes(&self) -> usize {
        self.graph.read().store.free_bytes()
    }

    /// Tries to make the updates in the attempt with this number. Returns none if it did not get a lock in
    /// time.
    fn attempt(&self, graph: &Graph, updates: &[Update], locking: Locking, number: u64) -> Option<Written> {
        let horizon = || Horizon::of(&self.clock);
        let mut work = Work::new(graph, work::mark(number), locking, &horizon);
        let Some(more) = work.make(updates) else {
            work.roll_back();
            return None;
        };
        let at = self.groups.join();
        let is_early = is_on(Planted::PublishedEarly);
        if is_early {
            self.groups.finish(at, more);
            // Gives readers enough time to read.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        let retired = work.commit(at, &self.waste);
        // Releases the locks.
        drop(work);
        if !is_early {
            self.groups.finish(at, more);
        }
        if !retired.is_empty() && self.waste.retire(at, retired) >= DRAINED_FROM {
            self.waste.drain(graph, &horizon());
        }
        Some(Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges })
    }

    /// True if the transaction with this timestamp must compact: one in `compact_every`. A check for
    /// multiples would fail, because compactions have timestamps too.
    fn is_to_compact(&self, at: u64) -> bool {
        let due = self.compaction_due.load(Ordering::Relaxed);
        let next = at.saturating_add(self.options.compact_every.max(1));
        at >= due
            && self.compaction_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Compacts the lists with invalidated entries. Keeps the replaced blocks for the current readers,
    /// because readers after this commit find the new blocks.
    fn compact(&self, graph: &Graph) {
        let retired = self.waste.compact(graph, &Horizon::of(&self.clock), true);
        let at = self.groups.join();
        self.groups.finish(at, More::default());
        self.waste.retire(at, retired);
        self.waste.drain(graph, &Horizon::of(&self.clock));
    }
}

/// Waits after a failed attempt. The wait grows with the number of attempts, and differs between
/// transactions.
fn back_off(number: u64, attempts: u32) {
    let turns = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) << attempts.min(6);
    (0..turns / 8).for_each(|_| std::thread::yield_now());
}

impl DynamicGraph for LiveGraph {
    type Error = LabError;
    type Snapshot = LiveGraphSnapshot;

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        let graph = self.graph.read();
        let mut attempts = 0;
        let written = loop {
            let patient = (attempts >= IMPATIENT).then(|| self.patient.lock());
            let locking = match patient {
                None => Locking::Timeout(self.options.lock_timeout),
                Some(_) => Locking::Patient,
            };
            let number = self.transactions.fetch_add(1, Ordering::Relaxed);
            if let Some(written) = self.attempt(&graph, updates, locking, number) {
                break written;
            }
            attempts += 1;
            back_off(number, attempts);
        };
        if self.is_to_compact(written.timestamp.0) {
            self.compact(&graph);
        }
        Ok(written)
    }

    fn snapshot(&self) -> Result<LiveGraphSnapshot, LabError> {
        let graph = self.graph.read().clone();
        let reader = self.clock.register()?;
        Ok(LiveGraphSnapshot::registered(graph, reader))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.compact(&self.graph.read());
        // A wait for this lock would also make new readers wait, until the longest transaction ends.
        if let Some(mut graph) = self.graph.try_write()
            && let Some(graph) = Arc::get_mut(&mut graph)
        {
            graph.store.trim();
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.graph.read().bytes() + self.waste.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_transaction_compacts_though_nobody_has_the_very_timestamp() {
        let options = LiveGraphOptions { compact_every: 10, ..LiveGraphOptions::default() };
        let graph = LiveGraph::with_options(GraphForm::default(), options);
        // A compaction took the timestamp 10.
        let asked = [1, 9, 11, 12, 20, 21, 22, 30, 31].map(|at| graph.is_to_compact(at));
        assert_eq!(asked, [false, false, true, false, false, true, false, false, true]);
    }
}
