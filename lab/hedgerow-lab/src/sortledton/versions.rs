//! The versions of one item, which is a neighbour or a vertex. The newest version is where a search finds it
//! first. Older versions are in a chain behind it.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// A timestamp after all others: a reader at this timestamp sees the newest versions.
pub(super) const NEWEST: u64 = u64::MAX >> 1;

/// A timestamp and, in the lowest bit, 1 if the item was removed then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp(u64);

impl Stamp {
    fn new(begin: u64, removed: bool) -> Stamp {
        Stamp(begin << 1 | u64::from(removed))
    }

    #[inline]
    fn begin(self) -> u64 {
        self.0 >> 1
    }

    #[inline]
    fn is_removed(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A version that a newer one replaced.
#[derive(Debug)]
struct Older {
    stamp: Stamp,
    weight: f64,
    older: Option<Box<Older>>,
}

/// The newest version, and a chain of older versions from new to old.
///
/// The item did not exist before the first version of the chain. Without a chain, the newest version is an
/// insertion or a removal. Before an insertion, the item did not exist. Before a removal, the item always
/// existed. So the first removal of a settled neighbour takes no memory of its own.
#[derive(Debug)]
pub(super) struct Versions {
    newest: Stamp,
    older: Option<Box<Older>>,
}

/// The state of a neighbour after a prune of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Readers see different states of it.
    Kept,
    /// All readers, present and future, see its newest state.
    Settled,
    /// No reader sees it.
    Gone,
}

impl Default for Versions {
    /// Makes the versions of an item that never existed.
    fn default() -> Self {
        Versions { newest: Stamp::new(0, true), older: None }
    }
}

impl Versions {
    /// Makes the versions of an item that is inserted at `at`, and did not exist before.
    pub(super) fn inserted(at: u64) -> Versions {
        Versions { newest: Stamp::new(at, false), older: None }
    }

    /// Makes the versions of an item that is removed at `at`. All earlier readers see the item.
    pub(super) fn removed(at: u64) -> Versions {
        Versions { newest: Stamp::new(at, true), older: None }
    }

    /// Makes the versions of an item that gets another weight at `at`. All earlier readers see the weight
    /// `before`.
    pub(super) fn updated(at: u64, before: f64) -> Versions {
        let settled = Older { stamp: Stamp::new(0, false), weight: before, older: None };
        Versions { newest: Stamp::new(at, false), older: Some(Box::new(settled)) }
    }

    /// True if the newest version is a removal.
    #[inline]
    pub(super) fn is_removed(&self) -> bool {
        self.newest.is_removed()
    }

    /// True if a reader at `at` sees the newest version, and this version is no removal.
    #[inline]
    pub(super) fn is_newest(&self, at: u64) -> bool {
        self.newest.begin() <= at && !self.is_removed()
    }

    /// True if the item is new at `at`, so that no other transaction has seen it.
    pub(super) fn is_new(&self, at: u64) -> bool {
        self.newest == Stamp::new(at, false) && self.older.is_none()
    }

    /// Adds a version at `at`. `weight` is the weight of the newest version until now. If this newest version
    /// is also of `at`, no reader has seen it.
    pub(super) fn write(&mut self, at: u64, removed: bool, weight: f64) {
        let before = std::mem::replace(&mut self.newest, Stamp::new(at, removed));
        let seen_by_nobody = before.begin() == at && (self.older.is_some() || !before.is_removed());
        if seen_by_nobody || (before == Stamp::new(0, true) && self.older.is_none()) {
            return;
        }
        if before.is_removed() && self.older.is_none() {
            let settled = Older { stamp: Stamp::new(0, false), weight, older: None };
            self.older = Some(Box::new(settled));
        }
        if before.begin() != at {
            self.older = Some(Box::new(Older { stamp: before, weight, older: self.older.take() }));
        }
    }

    /// Returns the weight at `at`, if the item exists then. `weight` is the weight of the newest version.
    #[inline]
    pub(super) fn visible(&self, at: u64, weight: f64) -> Option<f64> {
        if self.newest.begin() <= at {
            return (!self.is_removed()).then_some(weight);
        }
        self.visible_older(at, weight)
    }

    /// Returns the weight of an older version. This call is rare, so it is kept out of the loops.
    #[cold]
    #[inline(never)]
    fn visible_older(&self, at: u64, weight: f64) -> Option<f64> {
        let mut older = match &self.older {
            Some(older) => older,
            None if is_on(Planted::RemovalForgetsBefore) => return None,
            None => return self.is_removed().then_some(weight),
        };
        while older.stamp.begin() > at {
            older = older.older.as_ref()?;
        }
        (!older.stamp.is_removed()).then_some(older.weight)
    }

    /// Removes the versions that no reader needs.
    pub(super) fn prune(&mut self, horizon: &Horizon<'_>) -> Fate {
        let end = self.newest.begin();
        if self.older.is_none() {
            return match (horizon.needs(0, end), self.is_removed()) {
                (true, _) => Fate::Kept,
                (false, true) => Fate::Gone,
                (false, false) => Fate::Settled,
            };
        }
        prune_chain(&mut self.older, end, horizon);
        match (&self.older, self.is_removed()) {
            (Some(_), _) => Fate::Kept,
            (None, true) => Fate::Gone,
            (None, false) if horizon.needs(0, end) => Fate::Kept,
            (None, false) => Fate::Settled,
        }
    }

    /// Returns the number of bytes of the chain.
    pub(super) fn bytes(&self) -> usize {
        let mut older = self.older.as_ref();
        let mut bytes = 0;
        while let Some(version) = older {
            bytes += size_of::<Older>();
            older = version.older.as_ref();
        }
        bytes
    }
}

/// Unlinks the versions that no reader needs from a chain. `end` is the time when its first version was
/// replaced.
fn prune_chain(mut link: &mut Option<Box<Older>>, mut end: u64, horizon: &Horizon<'_>) {
    while let Some(mut version) = link.take() {
        let begin = version.stamp.begin();
        if horizon.needs(begin, end) {
            link = &mut link.insert(version).older;
        } else {
            *link = version.older.take();
        }
        end = begin;
    }
}

/// A timestamp before which no reader reads, now or later. It is on a cache line of its own, since writers
/// raise it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Bound(AtomicU64);

/// The timestamps of readers, as writers know them.
///
/// All writers share a bound, which is usually enough: no reader is before it, now or later. A writer reads
/// the tracer only for a newer version.
pub(super) struct Horizon<'a> {
    shared: Option<(&'a Clock, &'a Bound)>,
    bound: u64,
    asked: OnceCell<(u64, Active)>,
}

impl<'a> Horizon<'a> {
    /// Makes the horizon of a writer with concurrent readers. `bound` is the bound that the writers of a
    /// container share.
    pub(super) fn shared(clock: &'a Clock, bound: &'a Bound) -> Self {
        Horizon { shared: Some((clock, bound)), bound: bound.0.load(Relaxed), asked: OnceCell::new() }
    }

    /// Makes the horizon of a writer without concurrent readers. Every later reader reads at `bound` or after
    /// it.
    pub(super) fn alone(bound: u64) -> Self {
        Horizon { shared: None, bound, asked: OnceCell::new() }
    }

    /// True if a reader, now or later, sees a version that begins at `begin` and is replaced at `end`.
    pub(super) fn needs(&self, begin: u64, end: u64) -> bool {
        if end <= self.bound || is_on(Planted::ReadersForgotten) {
            return false;
        }
        let Some((clock, bound)) = self.shared else { return true };
        let (published, active) = self.asked.get_or_init(|| {
            // The order matters. A reader that enters the tracer later sees this timestamp as published, and
            // enters no earlier one.
            let published = clock.published();
            let active = clock.active();
            bound.0.fetch_max(active.oldest().unwrap_or(published).min(published), Relaxed);
            (published, active)
        });
        end > *published || active.needs(begin, end)
    }
}
