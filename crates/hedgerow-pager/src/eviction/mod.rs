//! State of evicted chains (rules E1 to E4, E9 of `docs/design/eviction.md`).

pub mod checkpoint_demand;
pub mod commit_loads;
pub mod page_versions;
#[cfg(feature = "planted-faults")]
pub mod switch;

use std::collections::HashMap;

use checkpoint_demand::CheckpointDemand;
use commit_loads::CommitLoads;
use foldhash::fast::FixedState;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_tier::PageId;
use page_versions::PageVersions;

use crate::sources::page_of;

/// The number of searches in vain from which on no more are left out.
const MOST_IN_VAIN: u64 = 6;

/// The state that eviction of chains needs.
pub struct Eviction {
    /// One more than the timestamp up to which the segments of the newest manifest hold everything; 0 if
    /// chains cannot be loaded again.
    clean: AtomicU64,
    /// True if a chain was ever evicted: from then on commits check, under their latches, that the chains
    /// that they need are in memory. Stored under the latch of the first such chain, so that the next thread
    /// that takes that latch sees it.
    happens: AtomicBool,
    /// The number of subgraphs that were evicted and are still out of memory.
    gone: AtomicU64,
    /// The last page that eviction considered.
    hand: Mutex<Option<PageId>>,
    /// The subgraphs that commits have loaded, each with the number of these commits, and their number. They
    /// stay in memory until these commits end.
    pinned: Mutex<HashMap<(LabelId, SubgraphId), u32, FixedState>>,
    pins: AtomicU64,
    /// The bound of what commits load.
    pub commit_loads: CommitLoads,
    /// Page versions: segments that hold the graph as of timestamps that readers hold.
    pub page_versions: PageVersions,
    /// Checkpoints that a shortage of memory demands.
    pub demand: CheckpointDemand,
    /// Searches for room for buffers of checkpoints.
    pub buffer_searches: Searches,
    /// The switch of the tests that evicts after commits.
    #[cfg(feature = "planted-faults")]
    pub switch: switch::EvictionSwitch,
}

impl Eviction {
    /// Makes the state of a store whose segments hold everything up to `clean`, if they can be read again. On
    /// pages in memory, `gone` subgraphs are not in memory.
    pub fn new(clean: Option<Timestamp>, gone: u64) -> Eviction {
        let clean = AtomicU64::new(clean.map_or(0, |clean| clean.0 + 1));
        let (happens, gone) = (AtomicBool::new(gone > 0), AtomicU64::new(gone));
        Eviction {
            clean,
            happens,
            gone,
            hand: Mutex::new(None),
            pinned: Mutex::default(),
            pins: AtomicU64::new(0),
            commit_loads: CommitLoads::default(),
            page_versions: PageVersions::default(),
            demand: CheckpointDemand::new(),
            buffer_searches: Searches::default(),
            #[cfg(feature = "planted-faults")]
            switch: Default::default(),
        }
    }

    /// Records that readable segments hold everything up to `clean`.
    pub fn set_clean(&self, clean: Timestamp) {
        self.commit_loads.begin();
        // Release: a thread that reads it finds these segments.
        self.clean.store(clean.0 + 1, Ordering::Release);
    }

    /// Returns the timestamp up to which segments hold everything, if chains can be loaded again.
    pub fn clean(&self) -> Option<Timestamp> {
        self.clean.load(Ordering::Acquire).checked_sub(1).map(Timestamp)
    }

    /// True if a chain was ever evicted.
    #[inline]
    pub fn happens(&self) -> bool {
        self.happens.load(Ordering::Relaxed)
    }

    /// True if a subgraph that was evicted is still out of memory.
    pub(crate) fn has_taken(&self) -> bool {
        self.gone.load(Ordering::Acquire) > 0
    }

    /// Locks the last page that eviction considered; the evicting thread holds it.
    pub(crate) fn hand(&self) -> MutexGuard<'_, Option<PageId>> {
        self.hand.lock()
    }

    /// Pins subgraphs: they are not evicted until the result is dropped. A subgraph that is being evicted at
    /// this moment may still leave memory. O(subgraphs).
    pub(crate) fn pin(&self, subgraphs: &[(LabelId, SubgraphId)]) -> Pins<'_> {
        let mut pinned = self.pinned.lock();
        subgraphs.iter().for_each(|subgraph| *pinned.entry(*subgraph).or_default() += 1);
        self.pins.store(pinned.len() as u64, Ordering::Release);
        drop(pinned);
        Pins { eviction: self, subgraphs: subgraphs.into() }
    }

    /// True if a subgraph is pinned. The caller holds its latch.
    pub(crate) fn is_pinned(&self, subgraph: (LabelId, SubgraphId)) -> bool {
        self.pins.load(Ordering::Acquire) > 0
            && !faults::is_on(PlantedFault::PinForgotten)
            && self.pinned.lock().contains_key(&subgraph)
    }

    /// True if a subgraph of a page is pinned. The caller holds the latches of the page.
    pub(crate) fn is_page_pinned(&self, page: PageId) -> bool {
        self.pins.load(Ordering::Acquire) > 0
            && !faults::is_on(PlantedFault::PinForgotten)
            && self.pinned.lock().keys().any(|&(label, id)| page_of(label, id) == page)
    }

    /// Notes that chains are evicted. Called under the latch of the first one.
    pub(crate) fn note_happens(&self) {
        self.happens.store(true, Ordering::Relaxed);
    }

    /// Counts the evicted subgraphs of a page as part of the page, which was evicted.
    pub(crate) fn note_page_gone(&self, subgraphs: u64) {
        self.gone.fetch_sub(subgraphs, Ordering::AcqRel);
    }

    /// Counts an evicted subgraph. Called under its latch.
    pub(crate) fn note_gone(&self) {
        self.note_happens();
        self.gone.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts `subgraphs` subgraphs of a page, which no other thread sees yet, as being only in files.
    pub fn note_stored(&self, subgraphs: u64) {
        if subgraphs > 0 {
            self.happens.store(true, Ordering::Relaxed);
            self.gone.fetch_add(subgraphs, Ordering::AcqRel);
        }
    }

    /// Counts a subgraph as being in memory again.
    pub(crate) fn note_back(&self) {
        self.gone.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The pace of searches that may find nothing: after each search in vain, twice as many are left out.
#[derive(Default)]
pub struct Searches {
    in_vain: AtomicU64,
    left_out: AtomicU64,
}

impl Searches {
    /// True if the next search is due.
    pub(crate) fn is_due(&self) -> bool {
        // Relaxed, here and below: another pace is as good.
        let left_out = self.left_out.load(Ordering::Relaxed);
        self.left_out.store(left_out.saturating_sub(1), Ordering::Relaxed);
        left_out == 0
    }

    /// Notes whether a search found something.
    pub fn note(&self, found: bool) {
        let in_vain = if found { 0 } else { (self.in_vain.load(Ordering::Relaxed) + 1).min(MOST_IN_VAIN) };
        self.in_vain.store(in_vain, Ordering::Relaxed);
        self.left_out.store((1 << in_vain) - 1, Ordering::Relaxed);
    }
}

/// Subgraphs that stay in memory until this is dropped.
pub struct Pins<'e> {
    eviction: &'e Eviction,
    subgraphs: Box<[(LabelId, SubgraphId)]>,
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        let mut pinned = self.eviction.pinned.lock();
        for subgraph in &self.subgraphs {
            if let Some(count) = pinned.get_mut(subgraph) {
                *count -= 1;
                if *count == 0 {
                    pinned.remove(subgraph);
                }
            }
        }
        self.eviction.pins.store(pinned.len() as u64, Ordering::Release);
    }
}
