//! Teseo: De Leo and Boncz, "Teseo and the analysis of structural dynamic graphs" (PVLDB 14(6), 2021).
//!
//! All edges, in the order of source and destination, in a *fat tree* (section 4): leaves of many segments of
//! 4 KB that are sparse arrays, with room between the two sides of each segment. A writer changes a segment
//! under its latch; where its room ends, edges go into a buffer beside it, until a service thread spreads the
//! edges of a window of segments, or splits the leaf. A vertex table leads point reads to the lists.
//! Transactions (section 5) change edges where they are and keep what they replaced beside the segment, as
//! HyPer does. [`Teseo`] is the whole container, [`TeseoAlone`] the same for one user at a time. Parameters,
//! protocol and deviations: `docs/design/lab/teseo.md`.

use std::sync::Arc;

use hedgerow_core::{DynamicGraph, Timestamp, Update, Written};

use crate::change;
use crate::{GraphForm, LabError};

mod alone;
mod index;
mod leaf;
mod lists;
mod options;
mod queue;
mod segment;
mod service;
mod shared;
mod snapshot;
mod spread;
mod transaction;
mod tree;
mod undo;
mod version;

pub use alone::{PlainTeseo, TeseoAlone, VersionedTeseo};
use index::MOST;
pub use lists::TeseoBlock;
pub use options::TeseoOptions;
use service::Service;
use shared::Shared;
pub use snapshot::TeseoSnapshot;
use transaction::Transaction;

/// A fat tree with versions, latches, and service threads, which end with it.
pub struct Teseo {
    shared: Arc<Shared>,
    _service: Service,
}

impl Teseo {
    /// An empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Teseo {
        Teseo::with_options(form, TeseoOptions::default())
    }

    /// An empty graph.
    pub fn with_options(form: GraphForm, options: TeseoOptions) -> Teseo {
        let shared = Arc::new(Shared::new(form, options));
        let _service = Service::start(&shared, options.threads);
        Teseo { shared, _service }
    }
}

impl DynamicGraph for Teseo {
    type Error = LabError;
    type Snapshot = TeseoSnapshot<Shared>;

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        self.shared.prefetch_edge(updates);
        loop {
            let mut transaction = Transaction::begin(&self.shared);
            transaction.reserve(updates);
            let more = change::make(updates, self.shared.form, &mut transaction);
            let at = transaction.at;
            if let Some(younger) = transaction.blocked.get() {
                transaction.roll_back();
                self.shared.clock.publish(at, 0, 0);
                // It holds nothing now. If it began at once, it would take again what the younger one waits
                // for, that one would begin again too, and so on in turns.
                self.shared.wait_for(younger);
                continue;
            }
            let vertices = more.vertices + transaction.revived;
            self.shared.clock.publish(at, vertices, more.edges);
            return Ok(Written { timestamp: Timestamp(at), vertices, edges: more.edges });
        }
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        let reader = self.shared.clock.register()?;
        Ok(TeseoSnapshot::registered(self.shared.clone(), self.shared.form, reader))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.shared.rebalance_all();
        self.shared.visit();
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.shared.bytes()
    }
}

#[cfg(test)]
impl Teseo {
    /// How many hold what transactions and snapshots share.
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.shared)
    }
}
