//! What files say as of timestamps that readers hold, for what is not in memory as they see it (rule E8 of
//! `docs/design/protocol.md`).

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_core::account::Charge;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicUsize, Mutex, Ordering};
use hedgerow_mem::{Horizon, Pin};
use hedgerow_txn::ReaderRegistry;

use crate::files::sources::Sources;
use crate::state::horizon::LiveHorizon;

/// So many timestamps have a page version at most.
pub(crate) const MOST: usize = 16;

/// Segments that hold all of the graph as it was at one timestamp.
struct PageVersion {
    at: Timestamp,
    sources: Arc<Sources>,
    _charge: Charge,
}

/// The page versions of a store: one for each of a few timestamps. One is dropped when nobody reads its timestamp any more.
pub(crate) struct PageVersions {
    all: Mutex<Vec<PageVersion>>,
    /// How many there are, so that others than the readers of old snapshots need not lock.
    count: AtomicUsize,
}

impl Default for PageVersions {
    fn default() -> PageVersions {
        PageVersions { all: Mutex::new(Vec::new()), count: AtomicUsize::new(0) }
    }
}

impl PageVersions {
    /// What holds the graph as of `t`, if something was written for that.
    pub(crate) fn at(&self, t: Timestamp) -> Option<Arc<Sources>> {
        // Acquire, as the lock: who met the mark in place of a chain finds the page version that the evictor relied on.
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let all = self.all.lock();
        all.iter().find(|version| version.at == t).map(|version| version.sources.clone())
    }

    /// Whether there is one of `t`.
    pub(crate) fn has(&self, t: Timestamp) -> bool {
        self.at(t).is_some()
    }

    /// The timestamps that have one.
    fn timestamps(&self) -> Vec<Timestamp> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        self.all.lock().iter().map(|version| version.at).collect()
    }

    /// Whether no other one may come.
    pub(crate) fn are_full(&self) -> bool {
        self.all.lock().len() >= MOST
    }

    /// Drops those that nobody reads any more, `published` being loaded just now. O(page versions), and a scan of the readers where there is
    /// one.
    pub(crate) fn drop_unread(&self, published: Timestamp, readers: &ReaderRegistry) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        // After `published` was loaded: who registers from now on reads that or a later timestamp (rule R5).
        let active = readers.scan();
        if active.registering {
            return;
        }
        let forgotten = faults::is_on(PlantedFault::PageVersionForgotten);
        let is_read =
            |version: &PageVersion| version.at >= published || (active.contains(version.at) && !forgotten);
        let mut all = self.all.lock();
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut *all).into_iter().partition(is_read);
        *all = kept;
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        // Files are closed without the lock.
        drop(gone);
    }

    /// From now on `sources` are read by who reads at `t`.
    pub(crate) fn put(&self, at: Timestamp, sources: Arc<Sources>, charge: Charge) {
        let mut all = self.all.lock();
        all.push(PageVersion { at, sources, _charge: charge });
        self.count.store(all.len(), Ordering::Release);
    }
}

/// The readers that need what is in memory: those that have no page version.
pub(crate) struct UnkeptHorizon<'a> {
    live: LiveHorizon<'a>,
    kept: Vec<Timestamp>,
}

impl<'a> UnkeptHorizon<'a> {
    /// Of the readers in `live`, which were not looked at yet.
    pub(crate) fn new(live: LiveHorizon<'a>, versions: &PageVersions) -> UnkeptHorizon<'a> {
        UnkeptHorizon { live, kept: versions.timestamps() }
    }
}

impl Horizon for UnkeptHorizon<'_> {
    fn published(&self) -> Timestamp {
        self.live.published()
    }

    /// A reader at the very beginning counts, whatever it has: nothing is left then to look behind it.
    fn pin_in(&self, begin: Timestamp, mut end: Timestamp) -> Option<Pin> {
        loop {
            match self.live.pin_in(begin, end)? {
                Pin::Snapshot(t) if t > begin && self.kept.contains(&t) => end = t,
                pin => return Some(pin),
            }
        }
    }
}
