//! Page versions: segments that hold the graph as of timestamps that readers hold. Reads at these timestamps
//! use them for data that is not in memory (rule E8 of `docs/design/page-versions.md`).

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_core::account::Charge;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicUsize, Mutex, Ordering};
use hedgerow_mem::{Horizon, Pin};
use hedgerow_txn::ReaderRegistry;

use crate::order::horizon::LiveHorizon;
use crate::sources::Sources;

/// The greatest number of timestamps with a page version.
pub(crate) const MOST: usize = 16;

/// The segments that hold the whole graph as of one timestamp.
struct PageVersion {
    at: Timestamp,
    sources: Arc<Sources>,
    _charge: Charge,
}

/// The page versions of a store, one for each of a few timestamps. A page version is dropped when no reader
/// holds its timestamp any more.
pub struct PageVersions {
    all: Mutex<Vec<PageVersion>>,
    /// Their number, so that only readers of old snapshots take the lock.
    count: AtomicUsize,
}

impl Default for PageVersions {
    fn default() -> PageVersions {
        PageVersions { all: Mutex::new(Vec::new()), count: AtomicUsize::new(0) }
    }
}

impl PageVersions {
    /// Returns the segments that hold the graph as of `t`, if there is a page version for it.
    pub fn at(&self, t: Timestamp) -> Option<Arc<Sources>> {
        // Acquire, like the lock: a reader that found the mark in place of a chain must find the page version
        // on which the eviction relied.
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let all = self.all.lock();
        all.iter().find(|version| version.at == t).map(|version| version.sources.clone())
    }

    /// True if there is a page version for `t`.
    pub fn has(&self, t: Timestamp) -> bool {
        self.at(t).is_some()
    }

    /// Returns the timestamps that have a page version.
    fn timestamps(&self) -> Vec<Timestamp> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        self.all.lock().iter().map(|version| version.at).collect()
    }

    /// True if there are no page versions. A reader that needs one has it before data is evicted.
    pub(crate) fn are_none(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// True if there is no room for another page version.
    pub fn are_full(&self) -> bool {
        self.all.lock().len() >= MOST
    }

    /// Drops page versions that no reader holds any more. The caller has just loaded `published`. O(page
    /// versions), and a scan of the readers if there is a page version.
    pub(crate) fn drop_unread(&self, published: Timestamp, readers: &ReaderRegistry) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        // After `published` was loaded: later registrations are of that or a later timestamp (rule R5).
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

    /// Makes readers at `at` read `sources` from now on.
    pub fn put(&self, at: Timestamp, sources: Arc<Sources>, charge: Charge) {
        let mut all = self.all.lock();
        all.push(PageVersion { at, sources, _charge: charge });
        self.count.store(all.len(), Ordering::Release);
    }
}

/// The readers that need data in memory: those without a page version.
pub(crate) struct UnkeptHorizon<'a> {
    live: LiveHorizon<'a>,
    kept: Vec<Timestamp>,
}

impl<'a> UnkeptHorizon<'a> {
    /// Makes the horizon of the readers in `live`, which was not scanned yet.
    pub(crate) fn new(live: LiveHorizon<'a>, versions: &PageVersions) -> UnkeptHorizon<'a> {
        UnkeptHorizon { live, kept: versions.timestamps() }
    }
}

impl Horizon for UnkeptHorizon<'_> {
    fn published(&self) -> Timestamp {
        self.live.published()
    }

    /// A reader at `begin` counts even with a page version, since no range remains to search behind it.
    fn pin_in(&self, begin: Timestamp, mut end: Timestamp) -> Option<Pin> {
        loop {
            match self.live.pin_in(begin, end)? {
                Pin::Snapshot(t) if t > begin && self.kept.contains(&t) => end = t,
                pin => return Some(pin),
            }
        }
    }
}
