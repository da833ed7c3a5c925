//! What the store knows about its readers when it merges versions.

use std::cell::OnceCell;

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_mem::{Horizon, Pin};
use hedgerow_txn::{ActiveReaders, ReaderRegistry};

/// What the store knows about its readers at one moment. The registry is scanned at the first question, after the
/// published timestamp was loaded (rule R5).
pub(crate) struct LiveHorizon<'a> {
    published: Timestamp,
    registry: &'a ReaderRegistry,
    active: OnceCell<ActiveReaders<'a>>,
}

impl<'a> LiveHorizon<'a> {
    /// What holds when `published` was just loaded.
    pub(crate) fn new(published: Timestamp, registry: &'a ReaderRegistry) -> LiveHorizon<'a> {
        LiveHorizon { published, registry, active: OnceCell::new() }
    }

    fn active(&self) -> &ActiveReaders<'a> {
        self.active.get_or_init(|| self.registry.scan())
    }

    /// The oldest timestamp that any reader, now or later, can see; `None` while a reader is registering.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.active().oldest(self.published)
    }
}

impl Horizon for LiveHorizon<'_> {
    fn published(&self) -> Timestamp {
        self.published
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
