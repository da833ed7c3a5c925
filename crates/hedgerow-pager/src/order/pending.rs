//! Superseded versions that reclamation cannot free yet, by the pin that keeps them (rule R6).

use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;
use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_mem::Pin;
use hedgerow_txn::{Clock, ReaderRegistry};

use crate::tables::PartitionKey;

/// The kinds of released pins that a caller looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// A commit that was not published.
    Published,
    /// A commit that was not published, a reader, or a reader that was registering.
    All,
}

/// Chains with superseded versions that reclamation cannot free yet, by the pin that keeps them.
pub struct PendingVersions {
    waiting: Mutex<Waiting>,
    registering: AtomicBool,
    /// The least timestamp whose publication some chain waits for.
    unpublished: AtomicU64,
    doubtful: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    /// The least end timestamp of the waiting versions, by chain.
    registering: HashMap<PartitionKey, Timestamp, FixedState>,
    unpublished: BTreeMap<Timestamp, Chains>,
    /// Pinned chains, by the newest timestamp at which the version can be read.
    pinned: HashMap<Timestamp, Chains, FixedState>,
    /// The timestamps in `pinned` whose last reader may have closed before the close log watched them.
    doubtful: HashSet<Timestamp, FixedState>,
}

type Chains = HashSet<PartitionKey, FixedState>;

impl Default for PendingVersions {
    fn default() -> Self {
        PendingVersions {
            waiting: Mutex::new(Waiting::default()),
            registering: AtomicBool::new(false),
            unpublished: AtomicU64::new(u64::MAX),
            doubtful: AtomicBool::new(false),
        }
    }
}

impl PendingVersions {
    /// Records that a version of `chain` waits for `pin`.
    pub fn add(&self, chain: PartitionKey, pin: Pin, registry: &ReaderRegistry) {
        let mut waiting = self.waiting.lock();
        match pin {
            Pin::Registering(end) => {
                let least = waiting.registering.entry(chain).or_insert(end);
                *least = end.min(*least);
            }
            Pin::Unpublished(ts) => _ = waiting.unpublished.entry(ts).or_default().insert(chain),
            Pin::Snapshot(ts) => waiting.pin(chain, ts, registry),
        }
        self.publish(&waiting);
    }

    /// True if a chain may be due for another check. A few loads; called after every commit.
    #[inline]
    pub fn is_due(&self, published: Timestamp, registry: &ReaderRegistry, reasons: Reasons) -> bool {
        let readers = || self.is_due_to_readers(registry);
        self.unpublished.load(Ordering::Relaxed) <= published.0 || (reasons == Reasons::All && readers())
    }

    /// True if a reader that closed, or has completed its registration, may have released the pin of a chain.
    /// Commits do not check for such pins.
    pub fn is_due_to_readers(&self, registry: &ReaderRegistry) -> bool {
        self.registering.load(Ordering::Relaxed)
            || self.doubtful.load(Ordering::Relaxed)
            || registry.any_ended()
    }

    /// Removes and returns the chains whose pin may be released, with that pin, for reclamation. The cost
    /// does not depend on the number of other chains.
    pub(crate) fn take_due(
        &self,
        clock: &Clock,
        registry: &ReaderRegistry,
        reasons: Reasons,
    ) -> Vec<(PartitionKey, Pin)> {
        let mut waiting = self.waiting.lock();
        let mut due = Vec::new();
        let later = waiting.unpublished.split_off(&clock.published().next());
        for (ts, chains) in std::mem::replace(&mut waiting.unpublished, later) {
            due.extend(chains.into_iter().map(|chain| (chain, Pin::Unpublished(ts))));
        }
        if reasons == Reasons::All {
            let registering = std::mem::take(&mut waiting.registering);
            due.extend(registering.into_iter().map(|(chain, end)| (chain, Pin::Registering(end))));
            waiting = self.take_ended(waiting, registry, &mut due);
        }
        self.publish(&waiting);
        drop(waiting);
        due.sort_unstable_by_key(|(chain, _)| chain.order());
        due
    }

    /// Removes and returns chains that wait for timestamps that no reader holds any more. The lock is not
    /// held during the scan of readers, since commits take it with their latches.
    fn take_ended<'a>(
        &'a self,
        mut waiting: MutexGuard<'a, Waiting>,
        registry: &ReaderRegistry,
        due: &mut Vec<(PartitionKey, Pin)>,
    ) -> MutexGuard<'a, Waiting> {
        let doubtful = waiting.take_doubtful(registry);
        if !doubtful.is_empty() {
            self.publish(&waiting);
            drop(waiting);
            // A registering reader may be about to read at one of these timestamps: then its chains wait for
            // that reader.
            let active = registry.scan();
            let gone: Vec<Timestamp> = doubtful.into_iter().filter(|&ts| !active.contains(ts)).collect();
            waiting = self.waiting.lock();
            for ts in gone {
                // A chain added meanwhile is checked once more than necessary.
                let chains = waiting.pinned.remove(&ts).into_iter().flatten();
                due.extend(chains.map(|chain| (chain, Pin::Snapshot(ts))));
            }
        }
        if waiting.pinned.is_empty() {
            registry.ignore_endings();
        }
        waiting
    }

    /// Estimates the bytes of this state: 9 for a chain.
    pub fn bytes(&self) -> usize {
        let waiting = self.waiting.lock();
        let sets = waiting.pinned.values().chain(waiting.unpublished.values());
        let chains: usize = sets.map(Chains::capacity).sum();
        let registering = waiting.registering.capacity() * (size_of::<(PartitionKey, Timestamp)>() + 1);
        let pinned = waiting.pinned.capacity() * (size_of::<(Timestamp, Chains)>() + 1);
        chains * (size_of::<PartitionKey>() + 1) + registering + pinned
    }

    fn publish(&self, waiting: &Waiting) {
        self.registering.store(!waiting.registering.is_empty(), Ordering::Relaxed);
        self.doubtful.store(!waiting.doubtful.is_empty(), Ordering::Relaxed);
        let least = waiting.unpublished.keys().next().map_or(u64::MAX, |ts| ts.0);
        self.unpublished.store(least, Ordering::Relaxed);
    }
}

impl Waiting {
    fn pin(&mut self, chain: PartitionKey, ts: Timestamp, registry: &ReaderRegistry) {
        registry.watch_endings(ts.next());
        let chains = self.pinned.entry(ts).or_insert_with(|| {
            // The snapshot may have closed since it was seen as the reason. If other chains already wait for
            // it, the close log records its close.
            if !faults::is_on(PlantedFault::ClosedReaderWaitedFor) {
                self.doubtful.insert(ts);
            }
            Chains::default()
        });
        chains.insert(chain);
    }

    /// Removes and returns the timestamps whose last reader may have closed.
    fn take_doubtful(&mut self, registry: &ReaderRegistry) -> HashSet<Timestamp, FixedState> {
        let ended = registry.take_ended();
        if ended.more {
            self.doubtful.extend(self.pinned.keys());
        }
        self.doubtful.extend(ended.timestamps.iter().filter(|ts| self.pinned.contains_key(ts)));
        std::mem::take(&mut self.doubtful)
    }
}
