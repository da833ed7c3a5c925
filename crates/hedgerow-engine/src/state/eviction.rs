//! What is known of chains that were taken out of memory (rules E1 to E5, E9 of `docs/design/protocol.md`).

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};

use super::checkpoint_demand::CheckpointDemand;

/// What is needed to take chains out of memory.
pub(crate) struct Eviction {
    /// One more than the timestamp up to which the segments of the newest manifest hold everything; 0 where chains cannot be read back.
    clean: AtomicU64,
    /// Whether a chain was ever taken out of memory: then commits look, under their latches, whether what they need is there. Stored
    /// under the latch of the first one, so that who has a latch that an evictor had before sees it.
    happens: AtomicBool,
    /// How many subgraphs are not in memory, of those that were.
    gone: AtomicU64,
    /// Which chains go.
    draw: Mutex<Draw>,
    /// Checkpoints that memory asks for.
    pub(crate) demand: CheckpointDemand,
    #[cfg(feature = "planted-faults")]
    pub(crate) switch: super::eviction_switch::EvictionSwitch,
}

/// Numbers that chains are drawn by: splitmix64, from the same beginning in every store, so that tests repeat.
pub(crate) struct Draw(u64);

impl Draw {
    /// One of the numbers below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (u128::from(mixed ^ mixed >> 31) * bound as u128 >> 64) as usize
    }
}

impl Eviction {
    /// Of a store whose segments hold everything up to `clean`, if they can be read back.
    pub(crate) fn new(clean: Option<Timestamp>) -> Eviction {
        let clean = AtomicU64::new(clean.map_or(0, |clean| clean.0 + 1));
        let (happens, gone) = (AtomicBool::new(false), AtomicU64::new(0));
        Eviction {
            clean,
            happens,
            gone,
            draw: Mutex::new(Draw(0)),
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

    /// Which chains go; held by who takes them out of memory.
    pub(crate) fn draw(&self) -> MutexGuard<'_, Draw> {
        self.draw.lock()
    }

    /// A subgraph was taken out of memory. Called under its latch.
    pub(crate) fn note_gone(&self) {
        self.happens.store(true, Ordering::Relaxed);
        self.gone.fetch_add(1, Ordering::AcqRel);
    }

    /// A subgraph is in memory again.
    pub(crate) fn note_back(&self) {
        self.gone.fetch_sub(1, Ordering::AcqRel);
    }
}
