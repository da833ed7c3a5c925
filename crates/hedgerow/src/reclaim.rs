//! Which versions wait for a snapshot to close, and looking at them again when it does (rule R6).

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashSet};

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::{Horizon, Pin};
use hedgerow_txn::{ActiveReaders, Clock, ReaderRegistry};

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
    active: OnceCell<ActiveReaders>,
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

    fn active(&self) -> &ActiveReaders {
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
        active.registering.then_some(Pin::Registering)
    }

    fn replaced(&self, bytes: usize) {
        self.views.note_replaced(self.label.get(), bytes);
        self.settling.note_merge();
    }
}

/// Chains with versions that have ended but must stay for now, by what they wait for.
pub(crate) struct PendingVersions {
    waiting: Mutex<Waiting>,
    registering: AtomicBool,
    /// The least timestamp whose publication is waited for.
    unpublished: AtomicU64,
    /// The count of closed registrations up to which pinned versions were judged.
    judged_closes: AtomicU64,
    any_pinned: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    registering: HashSet<Chain>,
    unpublished: BTreeMap<Timestamp, HashSet<Chain>>,
    pinned: BTreeMap<Timestamp, HashSet<Chain>>,
}

impl Default for PendingVersions {
    fn default() -> Self {
        PendingVersions {
            waiting: Mutex::new(Waiting::default()),
            registering: AtomicBool::new(false),
            unpublished: AtomicU64::new(u64::MAX),
            judged_closes: AtomicU64::new(0),
            any_pinned: AtomicBool::new(false),
        }
    }
}

impl PendingVersions {
    /// Remembers that a version of `chain` waits for `pin`.
    pub(crate) fn add(&self, chain: impl Into<Chain>, pin: Pin) {
        let chain = chain.into();
        let mut waiting = self.waiting.lock();
        match pin {
            Pin::Registering => _ = waiting.registering.insert(chain),
            Pin::Unpublished(ts) => _ = waiting.unpublished.entry(ts).or_default().insert(chain),
            Pin::Snapshot(ts) => {
                waiting.pinned.entry(ts).or_default().insert(chain);
                // The snapshot may have closed since it was seen: what was judged before says nothing about it.
                self.judged_closes.store(u64::MAX, Ordering::Relaxed);
            }
        }
        self.publish(&waiting);
    }

    /// Whether a chain may be worth looking at again. A few loads; called after every commit.
    #[inline]
    pub(crate) fn is_due(&self, published: Timestamp, closes: u64) -> bool {
        self.unpublished.load(Ordering::Relaxed) <= published.0
            || self.registering.load(Ordering::Relaxed)
            || (self.any_pinned.load(Ordering::Relaxed)
                && self.judged_closes.load(Ordering::Relaxed) != closes)
    }

    /// Takes out the chains whose reason to wait may be gone.
    pub(crate) fn take_due(&self, clock: &Clock, registry: &ReaderRegistry) -> Vec<Chain> {
        let mut waiting = self.waiting.lock();
        let closes = registry.closes();
        let published = clock.published();
        let mut due: Vec<Chain> = std::mem::take(&mut waiting.registering).into_iter().collect();
        let later = waiting.unpublished.split_off(&published.next());
        due.extend(std::mem::replace(&mut waiting.unpublished, later).into_values().flatten());
        if !waiting.pinned.is_empty() {
            let active = registry.scan();
            let closed = waiting.pinned.extract_if(.., |ts, _| !active.registering && !active.contains(*ts));
            due.extend(closed.flat_map(|(_, chains)| chains));
            if !active.registering {
                self.judged_closes.store(closes, Ordering::Relaxed);
            }
        }
        self.publish(&waiting);
        due.sort_unstable_by_key(|chain| chain.order());
        due.dedup();
        due
    }

    fn publish(&self, waiting: &Waiting) {
        self.registering.store(!waiting.registering.is_empty(), Ordering::Relaxed);
        self.any_pinned.store(!waiting.pinned.is_empty(), Ordering::Relaxed);
        let least = waiting.unpublished.keys().next().map_or(u64::MAX, |ts| ts.0);
        self.unpublished.store(least, Ordering::Relaxed);
    }
}
