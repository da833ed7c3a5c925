//! Which versions wait for a snapshot to close, and looking at them again when it did (rule R6).
//!
//! Closing a snapshot takes no latch and no lock: the thread in the background ([`crate::settle`]) looks at what snapshots
//! let go, a few milliseconds later. Where there is no such thread, commits do. Versions that waited for a publication are
//! looked at by the commit that published.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::{Horizon, Latched, Pin, Subgraph};
use hedgerow_txn::{ActiveReaders, Clock, ReaderRegistry, Registration};

use crate::graph::Core;
use crate::settle::Settling;
use crate::tables::Chain;
use crate::views::Views;

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
    pub(crate) fn keep(&self, chain: impl Into<Chain>, pin: Pin) {
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

    /// Has somebody look at what a snapshot that closed let go.
    #[cold]
    fn reclaim_closed(&self) {
        if self.closed.load(Ordering::Acquire) {
            // Nobody commits any more: neither the thread nor a commit would do it, and latches are free.
            self.reclaim(Reasons::All);
        } else {
            self.settling.wake();
        }
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
                self.reclaim_chain(chain, gone, entry.latch());
            }
        }
    }

    /// Looks again at all versions whose reason to stay may be gone, and waits for no latch: `left` keeps those whose
    /// subgraphs are latched, for the next time.
    pub(crate) fn reclaim_unlatched(&self, left: &mut Vec<(Chain, Pin)>) {
        let mut due = std::mem::take(left);
        if self.pending.is_due(self.clock.published(), &self.readers, Reasons::All) {
            due.extend(self.pending.take_due(&self.clock, &self.readers, Reasons::All));
        }
        for (chain, gone) in due {
            let Some(entry) = self.entry(chain) else { continue };
            match entry.try_latch() {
                Some(latched) => self.reclaim_chain(chain, gone, latched),
                None => left.push((chain, gone)),
            }
        }
    }

    fn entry(&self, chain: Chain) -> Option<&Subgraph> {
        self.table(chain.label).and_then(|table| table.get(chain.subgraph))
    }

    fn reclaim_chain(&self, chain: Chain, gone: Pin, mut latched: Latched<'_>) {
        let horizon = self.horizon();
        latched.reclaim(chain.direction, gone, &horizon, |pin| self.keep(chain, pin));
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
    registering: HashMap<Chain, Timestamp, FixedState>,
    unpublished: BTreeMap<Timestamp, Chains>,
    /// By the newest timestamp that reads the version.
    pinned: HashMap<Timestamp, Chains, FixedState>,
    /// Timestamps among these whose last reader may have closed before anybody waited for that.
    doubtful: HashSet<Timestamp, FixedState>,
}

type Chains = HashSet<Chain, FixedState>;

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
    pub(crate) fn add(&self, chain: Chain, pin: Pin, registry: &ReaderRegistry) {
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
        let readers = || {
            self.registering.load(Ordering::Relaxed)
                || self.doubtful.load(Ordering::Relaxed)
                || registry.any_ended()
        };
        self.unpublished.load(Ordering::Relaxed) <= published.0 || (reasons == Reasons::All && readers())
    }

    /// Takes out the chains whose reason to wait may be gone, with that reason. Its cost does not depend on how many others
    /// wait.
    pub(crate) fn take_due(
        &self,
        clock: &Clock,
        registry: &ReaderRegistry,
        reasons: Reasons,
    ) -> Vec<(Chain, Pin)> {
        let mut waiting = self.waiting.lock();
        let mut due = Vec::new();
        let later = waiting.unpublished.split_off(&clock.published().next());
        for (ts, chains) in std::mem::replace(&mut waiting.unpublished, later) {
            due.extend(chains.into_iter().map(|chain| (chain, Pin::Unpublished(ts))));
        }
        if reasons == Reasons::All {
            let registering = std::mem::take(&mut waiting.registering);
            due.extend(registering.into_iter().map(|(chain, end)| (chain, Pin::Registering(end))));
            waiting.take_ended(registry, &mut due);
        }
        self.publish(&waiting);
        drop(waiting);
        due.sort_unstable_by_key(|(chain, _)| chain.order());
        due
    }

    /// About the bytes of what is noted here: 9 for a chain.
    pub(crate) fn bytes(&self) -> usize {
        let waiting = self.waiting.lock();
        let sets = waiting.pinned.values().chain(waiting.unpublished.values());
        let chains: usize = sets.map(Chains::capacity).sum();
        let registering = waiting.registering.capacity() * (size_of::<(Chain, Timestamp)>() + 1);
        let pinned = waiting.pinned.capacity() * (size_of::<(Timestamp, Chains)>() + 1);
        chains * (size_of::<Chain>() + 1) + registering + pinned
    }

    fn publish(&self, waiting: &Waiting) {
        self.registering.store(!waiting.registering.is_empty(), Ordering::Relaxed);
        self.doubtful.store(!waiting.doubtful.is_empty(), Ordering::Relaxed);
        let least = waiting.unpublished.keys().next().map_or(u64::MAX, |ts| ts.0);
        self.unpublished.store(least, Ordering::Relaxed);
    }
}

impl Waiting {
    fn pin(&mut self, chain: Chain, ts: Timestamp, registry: &ReaderRegistry) {
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

    /// Takes out what waits for timestamps that nobody reads any more.
    fn take_ended(&mut self, registry: &ReaderRegistry, due: &mut Vec<(Chain, Pin)>) {
        let ended = registry.take_ended();
        if ended.more {
            self.doubtful.extend(self.pinned.keys());
        }
        self.doubtful.extend(ended.timestamps.iter().filter(|ts| self.pinned.contains_key(ts)));
        if !self.doubtful.is_empty() {
            // Who registers may be about to read one of these: then its chains will wait for that.
            let active = registry.scan();
            for ts in self.doubtful.drain().filter(|&ts| !active.contains(ts)) {
                let chains = self.pinned.remove(&ts).into_iter().flatten();
                due.extend(chains.map(|chain| (chain, Pin::Snapshot(ts))));
            }
        }
        if self.pinned.is_empty() {
            registry.ignore_endings();
        }
    }
}
