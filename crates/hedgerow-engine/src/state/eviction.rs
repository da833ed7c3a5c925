//! What is known of chains that were taken out of memory (rules E1 to E5, E9 of `docs/design/protocol.md`).

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_core::{LabelId, SubgraphId, Timestamp};

use super::checkpoint_demand::CheckpointDemand;
use super::page_versions::PageVersions;

/// What is needed to take chains out of memory.
pub(crate) struct Eviction {
    /// One more than the timestamp up to which the segments of the newest manifest hold everything; 0 where chains cannot be read back.
    clean: AtomicU64,
    /// Whether a chain was ever taken out of memory: then commits look, under their latches, whether what they need is there. Stored
    /// under the latch of the first one, so that who has a latch that an evictor had before sees it.
    happens: AtomicBool,
    /// How many subgraphs are not in memory, of those that were.
    gone: AtomicU64,
    /// The last subgraph that was looked at.
    hand: Mutex<Option<(LabelId, SubgraphId)>>,
    /// Held by a commit from its second load on, until it ends: two commits that load much would evict each other's subgraphs.
    turn: Mutex<()>,
    /// What files say as of timestamps that readers hold.
    pub(crate) page_versions: PageVersions,
    /// Checkpoints that memory asks for.
    pub(crate) demand: CheckpointDemand,
    #[cfg(feature = "planted-faults")]
    pub(crate) switch: super::eviction_switch::EvictionSwitch,
}

impl Eviction {
    /// Of a store whose segments hold everything up to `clean`, if they can be read back, and of which so many subgraphs are not in memory
    /// on pages that are.
    pub(crate) fn new(clean: Option<Timestamp>, gone: u64) -> Eviction {
        let clean = AtomicU64::new(clean.map_or(0, |clean| clean.0 + 1));
        let (happens, gone) = (AtomicBool::new(gone > 0), AtomicU64::new(gone));
        Eviction {
            clean,
            happens,
            gone,
            hand: Mutex::new(None),
            turn: Mutex::new(()),
            page_versions: PageVersions::default(),
            demand: CheckpointDemand::new(),
            #[cfg(feature = "planted-faults")]
            switch: Default::default(),
        }
    }

    /// Segments that can be read hold everything up to `clean`.
    pub(crate) fn set_clean(&self, clean: Timestamp) {
        // Release: who reads it finds these segments.
        self.clean.store(clean.0 + 1, Ordering::Release);
    }

    /// Up to where that is, if chains can be read back.
    pub(crate) fn clean(&self) -> Option<Timestamp> {
        self.clean.load(Ordering::Acquire).checked_sub(1).map(Timestamp)
    }

    /// Whether a chain was ever taken out of memory.
    #[inline]
    pub(crate) fn happens(&self) -> bool {
        self.happens.load(Ordering::Relaxed)
    }

    /// Whether some are not in memory that were.
    pub(crate) fn has_taken(&self) -> bool {
        self.gone.load(Ordering::Acquire) > 0
    }

    /// The last subgraph that was looked at; held by who takes chains out of memory.
    pub(crate) fn hand(&self) -> MutexGuard<'_, Option<(LabelId, SubgraphId)>> {
        self.hand.lock()
    }

    /// The turn of commits that load a second time. Blocks until the commit that has it ends; called with nothing held.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// A subgraph was taken out of memory. Called under its latch.
    pub(crate) fn note_gone(&self) {
        self.happens.store(true, Ordering::Relaxed);
        self.gone.fetch_add(1, Ordering::AcqRel);
    }

    /// So many subgraphs of a page, which nobody else sees yet, are only in files.
    pub(crate) fn note_stored(&self, subgraphs: u64) {
        if subgraphs > 0 {
            self.happens.store(true, Ordering::Relaxed);
            self.gone.fetch_add(subgraphs, Ordering::AcqRel);
        }
    }

    /// A subgraph is in memory again.
    pub(crate) fn note_back(&self) {
        self.gone.fetch_sub(1, Ordering::AcqRel);
    }
}
