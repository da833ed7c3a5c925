//! The versions of one thing, a neighbour or a vertex: the newest where it is found first, older ones in a
//! chain behind it.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::{Active, Clock};
use crate::planted::{Planted, is_on};

/// A timestamp that comes after all: readers at it see the newest versions.
pub(super) const NEWEST: u64 = u64::MAX >> 1;

/// A timestamp and, in the lowest bit, whether the thing was removed then.
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

/// The newest version, and older ones from new to old.
///
/// Before the first version of the chain there was nothing. Without a chain, there was nothing before a
/// version that inserts, and the thing was there since ever before one that removes: so the first removal of
/// a settled neighbour takes no memory of its own.
#[derive(Debug)]
pub(super) struct Versions {
    newest: Stamp,
    older: Option<Box<Older>>,
}

/// What is left to know of a neighbour after its versions were pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Some reader sees it otherwise than others do.
    Kept,
    /// All readers, present and future, see it as it is.
    Settled,
    /// Nobody sees it.
    Gone,
}

impl Default for Versions {
    /// Never there.
    fn default() -> Self {
        Versions { newest: Stamp::new(0, true), older: None }
    }
}

impl Versions {
    /// Something inserted at `at` that was not there before.
    pub(super) fn inserted(at: u64) -> Versions {
        Versions { newest: Stamp::new(at, false), older: None }
    }

    /// Something removed at `at` that all others see.
    pub(super) fn removed(at: u64) -> Versions {
        Versions { newest: Stamp::new(at, true), older: None }
    }

    /// Something that all others see with the weight `before`, and that gets another one at `at`.
    pub(super) fn updated(at: u64, before: f64) -> Versions {
        let settled = Older { stamp: Stamp::new(0, false), weight: before, older: None };
        Versions { newest: Stamp::new(at, false), older: Some(Box::new(settled)) }
    }

    /// Whether the newest version is a removal.
    #[inline]
    pub(super) fn is_removed(&self) -> bool {
        self.newest.is_removed()
    }

    /// Whether `at` sees the newest version, and that is no removal.
    #[inline]
    pub(super) fn is_newest(&self, at: u64) -> bool {
        self.newest.begin() <= at && !self.is_removed()
    }

    /// Whether it is new at `at`: nobody else has seen it.
    pub(super) fn is_new(&self, at: u64) -> bool {
        self.newest == Stamp::new(at, false) && self.older.is_none()
    }

    /// Adds a version at `at`; `weight` is that of the newest one until now, which no reader has seen if it
    /// is of `at` too.
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

    /// The weight at `at`, if the thing is there then; `weight` is that of the newest version.
    #[inline]
    pub(super) fn visible(&self, at: u64, weight: f64) -> Option<f64> {
        if self.newest.begin() <= at {
            return (!self.is_removed()).then_some(weight);
        }
        self.visible_older(at, weight)
    }

    /// Rare: out of the loops.
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

    /// Gives up the versions that no reader needs.
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

    /// The bytes of the chain.
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

/// Unlinks what no reader needs from a chain whose first version was replaced at `end`.
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

/// A timestamp before which nobody reads, now or later. On a cache line of its own, since writers raise it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Bound(AtomicU64);

/// The timestamps of readers as writers know them.
///
/// A bound, shared by all writers, answers mostly: no reader is before it, now or later. Only for a newer
/// version the writer reads the tracer.
pub(super) struct Horizon<'a> {
    shared: Option<(&'a Clock, &'a Bound)>,
    bound: u64,
    asked: OnceCell<(u64, Active)>,
}

impl<'a> Horizon<'a> {
    /// For a writer beside readers. `bound` is where the writers of a container keep the bound.
    pub(super) fn shared(clock: &'a Clock, bound: &'a Bound) -> Self {
        Horizon { shared: Some((clock, bound)), bound: bound.0.load(Relaxed), asked: OnceCell::new() }
    }

    /// For a writer beside whom nobody reads: whoever reads later does so at `bound` or after it.
    pub(super) fn alone(bound: u64) -> Self {
        Horizon { shared: None, bound, asked: OnceCell::new() }
    }

    /// Whether a reader, now or later, sees a version that begins at `begin` and is replaced at `end`.
    pub(super) fn needs(&self, begin: u64, end: u64) -> bool {
        if end <= self.bound || is_on(Planted::ReadersForgotten) {
            return false;
        }
        let Some((clock, bound)) = self.shared else { return true };
        let (published, active) = self.asked.get_or_init(|| {
            // In this order: a reader that enters the tracer later sees this transaction published, and
            // enters no earlier one.
            let published = clock.published();
            let active = clock.active();
            bound.0.fetch_max(active.oldest().unwrap_or(published).min(published), Relaxed);
            (published, active)
        });
        end > *published || active.needs(begin, end)
    }
}
