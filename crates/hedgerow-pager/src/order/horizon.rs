//! The store's knowledge of its readers when it merges versions.

use std::cell::OnceCell;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_mem::{Horizon, Pin};
use hedgerow_txn::{ActiveReaders, Clock, ReaderRegistry};

/// The store's knowledge of its readers at the first use. The first use loads the published timestamp, which
/// often changes in other caches, and then scans the registry (rule R5). Most commits never need it.
pub struct LiveHorizon<'a> {
    clock: &'a Clock,
    registry: &'a ReaderRegistry,
    published: OnceCell<Timestamp>,
    active: OnceCell<ActiveReaders<'a>>,
}

/// The horizon while a store is opened: there are no readers, and all commits count as published.
pub struct NoReaders(pub Timestamp);

impl Horizon for NoReaders {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

impl<'a> LiveHorizon<'a> {
    /// Makes a horizon that has loaded nothing yet.
    pub fn new(clock: &'a Clock, registry: &'a ReaderRegistry) -> LiveHorizon<'a> {
        LiveHorizon { clock, registry, published: OnceCell::new(), active: OnceCell::new() }
    }

    fn active(&self) -> &ActiveReaders<'a> {
        self.published();
        self.active.get_or_init(|| self.registry.scan())
    }

    /// Returns the oldest timestamp that any reader, now or later, can see; `None` while a reader is
    /// registering.
    pub fn oldest(&self) -> Option<Timestamp> {
        let published = self.published();
        self.active().oldest(published)
    }
}

impl Horizon for LiveHorizon<'_> {
    fn published(&self) -> Timestamp {
        *self.published.get_or_init(|| self.clock.published())
    }

    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
        if begin >= end || faults::is_on(PlantedFault::VersionReclaimedEarly) {
            return None;
        }
        let active = self.active();
        if let Some(newest) = active.newest_in(begin, end) {
            return Some(Pin::Snapshot(newest));
        }
        active.registering.then_some(Pin::Registering(end))
    }
}
