//! Which versions wait for a snapshot to close, and looking at them again when it did (rule R6).
//!
//! Closing a snapshot takes no latch and no lock: the thread in the background ([`crate::background::settle`]) looks at what snapshots
//! let go, a few milliseconds later. Where there is no such thread, commits do. Versions that waited for a publication are
//! looked at by the commit that published.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::{Horizon, Latched, Pin, Subgraph};
use hedgerow_txn::{ActiveReaders, Clock, ReaderRegistry, Registration};

use crate::background::settle::Settling;
use crate::read::views::Views;
use crate::state::tables::PartitionKey;
use crate::store::Core;

/// What the store knows about its readers at one moment. The registry is scanned at the first question, after the
/// published timestamp was loaded (rule R5).
pub(crate) struct LiveHorizon<'a> {
    published: Timestamp,
    registry: &'a ReaderRegistry,
    views: &'a Views,
    /// The label of what is merged.
    label: Cell<LabelId>,
    settling: &'a Settling,
    active: OnceCell<ActiveReaders<'a>>,
}

impl<'a> LiveHorizon<'a> {
    pub(crate) fn new(core: &'a Core) -> LiveHorizon<'a> {
        let Core { readers: registry, views, settling, .. } = core;
        LiveHorizon {
            published: core.clock.published(),
            registry,
            views,
            label: Cell::new(LabelId::DEFAULT),
            settling,
            active: OnceCell::new(),
        }
    }

    /// The same, where subgraphs of another label than the default one are merged from here on.
    pub(crate) fn of(&self, label: LabelId) -> &Self {
        self.label.set(label);
        self
    }

    fn active(&self) -> &ActiveReaders<'a> {
        self.active.get_or_init(|| self.registry.scan())
    }

    /// The oldest timestamp that any reader, now or later, can see; `None` while a reader is registering.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.active().oldest(self.published)
    }
}

impl Horizon for LiveHorizon<'_> {
    fn published(&self) -> Timestamp {
        self.published
    }

    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
        if begin >= end || faults::is_on(PlantedFault::VersionReclaimedEarly) {
            return None;
        }
        let active = self.active();
        if let Some(newest) = active.newest_in(begin, end) {
            return Some(Pin::Snapshot(newest));
        }
        active.registering.then_some(Pin::Registering(end))
    }

    fn replaced(&self, bytes: usize) {
        self.views.note_replaced(self.label.get(), bytes);
        self.settling.note_merge();
    }
}

impl Core {
    /// Remembers that a version of `chain` waits for `pin`.
    pub(crate) fn keep(&self, chain: impl Into<PartitionKey>, pin: Pin) {
        self.pending.add(chain.into(), pin, &self.readers);
    }

    /// Looks again at versions whose reason to stay may be gone: after a commit.
    #[inline]
    pub(crate) fn reclaim_due(&self) {
        let reasons = self.reasons_for_commits();
        if self.pending.is_due(self.clock.published(), &self.readers, reasons) || self.views.is_wasteful() {
            self.reclaim(reasons);
        }
    }

    /// Ends the registration of a snapshot. Waits for nobody.
    #[inline]
    pub(crate) fn close_reader(&self, registration: Registration) {
        if self.readers.close(registration) {
            self.reclaim_closed();
        }
    }

    /// Wakes the thread in the background for the versions that a closed snapshot let go, or, in a closed store, judges them.
    #[cold]
    fn reclaim_closed(&self) {
        // Orders noting the end before this look: the close looks at what was noted after it said that it began.
        fence(Ordering::SeqCst);
        if self.closed.load(Ordering::Acquire) {
            self.reclaim_for_the_closed();
        } else {
            self.settling.wake();
        }
    }

    /// Looks at what snapshots of a closed store let go, for which neither the thread nor a commit comes any more. Commits that
    /// are refused may hold latches still: what they hold is left for the next snapshot that closes, or for the end of the close.
    pub(crate) fn reclaim_for_the_closed(&self) {
        fence(Ordering::SeqCst);
        let mut left = Vec::new();
        self.reclaim_unlatched(&mut left, false);
        left.into_iter().for_each(|(chain, gone)| self.keep(chain, gone));
    }

    fn reasons_for_commits(&self) -> Reasons {
        if self.settling.has_thread() { Reasons::Published } else { Reasons::All }
    }

    #[cold]
    fn reclaim(&self, reasons: Reasons) {
        if self.is_forked() {
            return; // a latch may be held for ever by a thread that this process does not have
        }
        if self.views.is_wasteful() {
            self.views.give_up();
        }
        for (chain, gone) in self.pending.take_due(&self.clock, &self.readers, reasons) {
            if let Some(entry) = self.entry(chain) {
                self.reclaim_chain(chain, gone, &mut entry.latch());
            }
        }
    }

    /// Looks again at all versions whose reason to stay may be gone. `left` keeps the versions whose subgraphs are latched, for
    /// the next call, in the order of their chains. Waits for no latch; if asked to be `patient`, for the latch of one subgraph.
    pub(crate) fn reclaim_unlatched(&self, left: &mut Vec<(PartitionKey, Pin)>, mut patient: bool) {
        if self.pending.is_due(self.clock.published(), &self.readers, Reasons::All) {
            left.extend(self.pending.take_due(&self.clock, &self.readers, Reasons::All));
            left.sort_by_key(|(chain, _)| chain.order());
        }
        // What a panic interrupts is looked at by the next turn.
        let mut rest = Rest { due: std::mem::take(left), latched: Vec::new(), left };
        while let Some(&(chain, _)) = rest.due.last() {
            let of_chain = rest.due.iter().rev().take_while(|(other, _)| *other == chain).count();
            let reasons = rest.due.split_off(rest.due.len() - of_chain);
            let Some(entry) = self.entry(chain) else { continue };
            let latched = if std::mem::take(&mut patient) { Some(entry.latch()) } else { entry.try_latch() };
            match latched {
                Some(mut latched) => {
                    reasons.iter().for_each(|&(_, gone)| self.reclaim_chain(chain, gone, &mut latched));
                }
                None => rest.latched.extend(reasons),
            }
        }
    }

    fn entry(&self, chain: PartitionKey) -> Option<&Subgraph> {
        self.table(chain.label).and_then(|table| table.get(chain.subgraph))
    }

    fn reclaim_chain(&self, chain: PartitionKey, gone: Pin, latched: &mut Latched<'_>) {
        let horizon = self.horizon();
        latched.reclaim(chain.direction, gone, &horizon, |pin| self.keep(chain, pin));
    }
}

/// The versions that a call of [`Core::reclaim_unlatched`] has not looked at; its drop puts them back, also in a panic.
struct Rest<'a> {
    due: Vec<(PartitionKey, Pin)>,
    latched: Vec<(PartitionKey, Pin)>,
    left: &'a mut Vec<(PartitionKey, Pin)>,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.left.append(&mut self.due);
        self.left.extend(self.latched.drain(..).rev());
    }
}

/// The reasons to stay whose end somebody looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reasons {
    /// A commit that was not published.
    Published,
    /// That, readers, and those that were registering.
    All,
}

/// Chains with versions that have ended but must stay for now, by what they wait for.
pub(crate) struct PendingVersions {
    waiting: Mutex<Waiting>,
    registering: AtomicBool,
    /// The least timestamp whose publication is waited for.
    unpublished: AtomicU64,
    doubtful: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    /// With the least end of the versions that wait.
    registering: HashMap<PartitionKey, Timestamp, FixedState>,
    unpublished: BTreeMap<Timestamp, Chains>,
    /// By the newest timestamp that reads the version.
    pinned: HashMap<Timestamp, Chains, FixedState>,
    /// Timestamps among these whose last reader may have closed before anybody waited for that.
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
    /// Remembers that a version of `chain` waits for `pin`.
    pub(crate) fn add(&self, chain: PartitionKey, pin: Pin, registry: &ReaderRegistry) {
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

    /// Whether a chain may be worth looking at again. A few loads; called after every commit.
    #[inline]
    pub(crate) fn is_due(&self, published: Timestamp, registry: &ReaderRegistry, reasons: Reasons) -> bool {
        let readers = || self.is_due_to_readers(registry);
        self.unpublished.load(Ordering::Relaxed) <= published.0 || (reasons == Reasons::All && readers())
    }

    /// Whether a chain may be worth looking at again whatever was published: what no commit looks for.
    pub(crate) fn is_due_to_readers(&self, registry: &ReaderRegistry) -> bool {
        self.registering.load(Ordering::Relaxed)
            || self.doubtful.load(Ordering::Relaxed)
            || registry.any_ended()
    }

    /// Takes out the chains whose reason to wait may be gone, with that reason. Its cost does not depend on how many others
    /// wait.
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

    /// Takes out what waits for timestamps that nobody reads any more. The lock is not held while readers are looked at:
    /// commits take it with their latches.
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
            // Who registers may be about to read one of these: then its chains will wait for that.
            let active = registry.scan();
            let gone: Vec<Timestamp> = doubtful.into_iter().filter(|&ts| !active.contains(ts)).collect();
            waiting = self.waiting.lock();
            for ts in gone {
                // What came to wait for it meanwhile is looked at once too often.
                let chains = waiting.pinned.remove(&ts).into_iter().flatten();
                due.extend(chains.map(|chain| (chain, Pin::Snapshot(ts))));
            }
        }
        if waiting.pinned.is_empty() {
            registry.ignore_endings();
        }
        waiting
    }

    /// About the bytes of what is noted here: 9 for a chain.
    pub(crate) fn bytes(&self) -> usize {
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
            // The snapshot may have closed since it was seen. Where others wait for it already, that will be told.
            if !faults::is_on(PlantedFault::ClosedReaderWaitedFor) {
                self.doubtful.insert(ts);
            }
            Chains::default()
        });
        chains.insert(chain);
    }

    /// The timestamps whose last reader may have closed.
    fn take_doubtful(&mut self, registry: &ReaderRegistry) -> HashSet<Timestamp, FixedState> {
        let ended = registry.take_ended();
        if ended.more {
            self.doubtful.extend(self.pinned.keys());
        }
        self.doubtful.extend(ended.timestamps.iter().filter(|ts| self.pinned.contains_key(ts)));
        std::mem::take(&mut self.doubtful)
    }
}
