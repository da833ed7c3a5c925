//! The caches of all labels: one for the default label, and a bounded number for others.

use std::sync::Arc;

use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};
use hedgerow_core::{LabelId, Timestamp};
use hedgerow_mem::View;

use super::{Made, ViewCache, ViewFigures};
use crate::store::Engine;

/// Labels beside the default one whose views are kept: those asked for last.
const MOST_LABELS: usize = 8;

/// The newest view of each label that was asked for lately.
#[derive(Default)]
pub(crate) struct Views {
    default: ViewCache,
    /// Of other labels, the one asked for last at the end.
    others: Mutex<Vec<Arc<ViewCache>>>,
    /// Counts the settlings of the whole graph: they change the layout without a timestamp.
    layout: AtomicU64,
    built: AtomicU64,
    refreshed: AtomicU64,
}

impl Views {
    /// The view of a label at `ts`, which must be registered. `count_edges` tells what the snapshot counts; it is
    /// asked only if a view has to be made.
    pub(crate) fn get(
        &self,
        engine: &Engine,
        label: LabelId,
        ts: Timestamp,
        count_edges: impl FnOnce() -> u64,
    ) -> Arc<View> {
        // Loaded first: what is settled meanwhile makes the view out of date, not wrong.
        let layout = self.layout.load(Ordering::Acquire);
        let (view, made) = match label {
            LabelId::DEFAULT => self.default.get(engine, ts, layout, count_edges),
            _ => self.of(label).get(engine, ts, layout, count_edges),
        };
        match made {
            Made::Nothing => {}
            Made::OfAnother => _ = self.refreshed.fetch_add(1, Ordering::Relaxed),
            Made::FromScratch => _ = self.built.fetch_add(1, Ordering::Relaxed),
        }
        view
    }

    /// The cache of another label than the default one; that which was not asked for longest makes room for it.
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

    /// Notes that a merge replaced a main part of `bytes`, which a view of the label may now be alone to keep.
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

    /// Notes that the layout of the whole graph changed.
    pub(crate) fn note_settled(&self) {
        self.layout.fetch_add(1, Ordering::Release);
    }

    /// Whether the newest view of the default label keeps more than it is worth. Those of other labels are given up
    /// where that is noted.
    #[inline]
    pub(crate) fn is_wasteful(&self) -> bool {
        self.default.waste.exceeded.load(Ordering::Relaxed)
    }

    /// Gives the newest view of the default label up: it goes with the last snapshot that uses it.
    pub(crate) fn give_up(&self) {
        self.default.give_up();
    }

    /// Gives the newest views of all labels up.
    pub(crate) fn give_all_up(&self) {
        self.each(ViewCache::give_up);
    }

    /// Gives the newest views up, and does not make others of them even while snapshots use them.
    pub(crate) fn forget(&self) {
        self.default.forget();
        let forgotten = std::mem::take(&mut *self.others.lock());
        drop(forgotten);
    }

    pub(crate) fn figures(&self) -> ViewFigures {
        let mut bytes = 0;
        self.each(|cache| bytes += cache.bytes());
        ViewFigures {
            bytes,
            built: self.built.load(Ordering::Relaxed),
            refreshed: self.refreshed.load(Ordering::Relaxed),
        }
    }
}
