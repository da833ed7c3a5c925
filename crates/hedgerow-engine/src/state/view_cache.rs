//! The caches of views. The snapshots of one timestamp share a view, and the next view is made from the
//! newest earlier one (rule R8).
//!
//! A cache keeps the newest view of a label. It needs no slot in the registry: a view refers to lists and
//! corrections that never change, and new reads are at the timestamp of a registered snapshot
//! (`docs/design/views.md`).

use std::sync::{Arc, Weak};

use hedgerow_catalog::error::Result;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::View;
use hedgerow_pager::pager::KeptForSpeed;

use crate::state::chosen_edges::{ChosenEdges, ChosenViews};
use crate::state::csr_cache::CsrCache;

/// A cached view is given up once merges have replaced the main parts of this share of its lists.
const REPLACED_SHARE: u64 = 8;
/// The least number of replaced bytes for giving a view up.
const MIN_REPLACED_BYTES: u64 = 4 << 20;
/// The newest view of a label, for snapshots of its timestamp and as the start of the next one.
#[derive(Default)]
pub(crate) struct ViewCache {
    label: LabelId,
    newest: Mutex<Cached>,
    waste: Waste,
}

/// The memory that only cached views keep.
#[derive(Default)]
struct Waste {
    /// The bytes of main parts replaced since the newest view was made, and the bound from which on the view
    /// is given up.
    replaced: AtomicU64,
    limit: AtomicU64,
    /// True if the bound was exceeded.
    exceeded: AtomicBool,
}

impl Waste {
    /// Starts over after a view of `lists` bytes was made.
    fn renew(&self, lists: u64) {
        self.limit.store((lists / REPLACED_SHARE).max(MIN_REPLACED_BYTES), Ordering::Relaxed);
        self.replaced.store(0, Ordering::Relaxed);
        self.exceeded.store(false, Ordering::Relaxed);
    }

    fn note(&self, bytes: usize) {
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == 0 {
            return; // there never was a view
        }
        let before = self.replaced.fetch_add(bytes as u64, Ordering::Relaxed);
        if before <= limit && before + bytes as u64 > limit {
            self.exceeded.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Default)]
struct Cached {
    ts: Timestamp,
    layout: u64,
    /// `None` while it is being made into the next view, or after it was given up.
    view: Option<Arc<View>>,
    /// The view that was given up, which lives while snapshots use it.
    given_up: Weak<View>,
}

/// Figures for [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewFigures {
    pub(crate) kept: u64,
    pub(crate) built: u64,
    pub(crate) refreshed: u64,
}

impl ViewCache {
    /// Returns the view at `ts`, which must be registered, and of the `layout` that was loaded before. `make`
    /// makes a view, from a previous one if it gets one; if it fails, the cache no longer has that one. The
    /// second value shows how the view was made.
    fn get(
        &self,
        ts: Timestamp,
        layout: u64,
        make: impl FnOnce(Option<Arc<View>>) -> Result<View>,
    ) -> Result<(Arc<View>, Made)> {
        let previous = {
            let mut cached = self.newest.lock();
            let view = cached.view.take().or_else(|| cached.given_up.upgrade());
            match view {
                Some(view) if cached.ts == ts && cached.layout == layout => {
                    cached.view = Some(view.clone());
                    return Ok((view, Made::Nothing));
                }
                // No snapshot uses the cached view: it is made into the next one in place. Another thread
                // that requests a view meanwhile builds it from scratch.
                Some(view) if Arc::strong_count(&view) == 1 && cached.ts <= ts => Some(view),
                view => {
                    cached.view = view.clone();
                    view
                }
            }
        };
        // No lock is held here: while this worker waits, it may run another task that requests a view.
        let made = if previous.is_some() { Made::OfAnother } else { Made::FromScratch };
        let view = Arc::new(make(previous)?);
        Ok((self.offer(view, ts, layout), made))
    }

    /// Returns the view at `ts` and of `layout`, if the cache has it.
    fn find(&self, ts: Timestamp, layout: u64) -> Option<Arc<View>> {
        let cached = self.newest.lock();
        cached.view.clone().filter(|_| (cached.ts, cached.layout) == (ts, layout))
    }

    /// Stores the view, unless the cache has a newer one. Returns the view to use.
    fn offer(&self, view: Arc<View>, ts: Timestamp, layout: u64) -> Arc<View> {
        let old;
        {
            let mut cached = self.newest.lock();
            if (cached.ts, cached.layout) == (ts, layout)
                && let Some(same) = &cached.view
            {
                return same.clone();
            }
            if (cached.ts, cached.layout) > (ts, layout) && cached.view.is_some() {
                return view;
            }
            old = cached.view.replace(view.clone());
            (cached.ts, cached.layout) = (ts, layout);
            self.waste.renew(view.directed_edges() * 4);
        }
        drop(old); // outside the lock: it may free a view
        view
    }

    /// Gives up the newest view: it is freed with the last snapshot that uses it.
    fn give_up(&self) {
        self.waste.exceeded.store(false, Ordering::Relaxed);
        let given_up = {
            let mut cached = self.newest.lock();
            let view = cached.view.take();
            if let Some(view) = &view {
                cached.given_up = Arc::downgrade(view);
            }
            view
        };
        // It has tens of thousands of references: not to be dropped on the thread of a committer.
        if let Some(view) = given_up {
            hedgerow_par::spawn(move || drop(view));
        }
    }

    /// Gives up the newest view. Even if snapshots still use it, the next view is not made from it.
    fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.newest.lock());
        drop(forgotten);
    }
}

/// The way in which a view was made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Nothing,
    OfAnother,
    FromScratch,
}

/// The greatest number of labels other than the default one whose views are kept: the last requested ones.
const MOST_LABELS: usize = 8;

/// The newest view of each label that was requested recently.
#[derive(Default)]
pub(crate) struct Views {
    default: ViewCache,
    /// The caches of other labels; the last requested one is the last element.
    others: Mutex<Vec<Arc<ViewCache>>>,
    /// The number of settlings of the whole graph, which change the layout without a timestamp.
    layout: AtomicU64,
    built: AtomicU64,
    refreshed: AtomicU64,
    /// The views of several labels, or of chosen edges of one.
    chosen: ChosenViews,
    /// The copies of views as rows that callers use.
    pub(crate) csrs: CsrCache,
}

impl KeptForSpeed for Views {
    /// Gives up the newest views. Even if snapshots still use them, the next views are not made from them.
    fn give_up(&self) {
        self.default.forget();
        self.chosen.forget();
        let forgotten = std::mem::take(&mut *self.others.lock());
        drop(forgotten);
    }
}

impl Views {
    /// Returns the view of chosen edges at `ts`: the view of another snapshot, or a new one from `make`.
    pub(crate) fn chosen(
        &self,
        ts: Timestamp,
        chosen: &ChosenEdges,
        make: impl FnOnce() -> Result<View>,
    ) -> Result<Arc<View>> {
        if let Some(view) = self.chosen.find(ts, chosen) {
            return Ok(view);
        }
        // No lock is held here, for the same reason as in `get`.
        let view = Arc::new(make()?);
        // For one whole label, the label's view was counted at its reads; this one has fewer vertices.
        if chosen.only_whole_label().is_none() {
            self.built.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.chosen.offer(ts, chosen, view))
    }

    /// Returns the view of a label at `ts`, which must be registered. `make` makes a view, from a previous
    /// one if it gets one.
    pub(crate) fn get(
        &self,
        label: LabelId,
        ts: Timestamp,
        make: impl FnOnce(Option<Arc<View>>) -> Result<View>,
    ) -> Result<Arc<View>> {
        // Loaded first: if subgraphs are settled meanwhile, the view counts as outdated, and is still right.
        let layout = self.layout.load(Ordering::Acquire);
        let (view, made) = match label {
            LabelId::DEFAULT => self.default.get(ts, layout, make)?,
            _ => self.of(label).get(ts, layout, make)?,
        };
        match made {
            Made::Nothing => {}
            Made::OfAnother => _ = self.refreshed.fetch_add(1, Ordering::Relaxed),
            Made::FromScratch => _ = self.built.fetch_add(1, Ordering::Relaxed),
        }
        Ok(view)
    }

    /// Returns the view of the default label at `ts`, if another snapshot made it. O(1).
    pub(crate) fn shared(&self, ts: Timestamp) -> Option<Arc<View>> {
        self.default.find(ts, self.layout.load(Ordering::Acquire))
    }

    /// Returns the cache of a label other than the default one. A new cache replaces the least recently used
    /// one.
    fn of(&self, label: LabelId) -> Arc<ViewCache> {
        let (cache, _outside_the_lock);
        {
            let mut others = self.others.lock();
            let found = others.iter().position(|cache| cache.label == label);
            cache = match found {
                Some(at) => others.remove(at),
                None => Arc::new(ViewCache { label, ..ViewCache::default() }),
            };
            _outside_the_lock = (others.len() == MOST_LABELS).then(|| others.remove(0));
            others.push(cache.clone());
        }
        cache
    }

    /// Calls `f` with all caches.
    fn each(&self, mut f: impl FnMut(&ViewCache)) {
        f(&self.default);
        let others = self.others.lock().clone();
        others.iter().for_each(|cache| f(cache));
    }

    /// Records that a merge replaced a main part of `bytes`, which only a view of the label may still keep.
    pub(crate) fn note_replaced(&self, label: LabelId, bytes: usize) {
        if label == LabelId::DEFAULT {
            return self.default.waste.note(bytes);
        }
        let found = self.others.lock().iter().find(|cache| cache.label == label).cloned();
        if let Some(cache) = found {
            cache.waste.note(bytes);
            if cache.waste.exceeded.load(Ordering::Relaxed) {
                cache.give_up();
            }
        }
    }

    /// Records that the layout of the whole graph changed.
    pub(crate) fn note_settled(&self) {
        self.layout.fetch_add(1, Ordering::Release);
    }

    /// True if the newest view of the default label keeps too much replaced memory. Views of other labels are
    /// given up in [`note_replaced`](Self::note_replaced).
    #[inline]
    pub(crate) fn is_wasteful(&self) -> bool {
        self.default.waste.exceeded.load(Ordering::Relaxed)
    }

    /// Gives up the newest view of the default label: it is freed with the last snapshot that uses it.
    pub(crate) fn give_up_wasteful(&self) {
        self.default.give_up();
    }

    /// Gives up the newest views of all labels.
    pub(crate) fn give_all_up(&self) {
        self.each(ViewCache::give_up);
    }

    pub(crate) fn figures(&self) -> ViewFigures {
        let mut kept = 0;
        self.each(|cache| kept += u64::from(cache.newest.lock().view.is_some()));
        ViewFigures {
            kept,
            built: self.built.load(Ordering::Relaxed),
            refreshed: self.refreshed.load(Ordering::Relaxed),
        }
    }
}
