//! Teseo: De Leo and Boncz, "Teseo and the analysis of structural dynamic graphs" (PVLDB 14(6), 2021).
//!
//! The store holds all edges in a *fat tree* (section 4), ordered by source and then by destination. A leaf
//! has many segments of 4 KB. A segment is a sparse array: its room is in the middle, between two packed
//! sides. A writer changes a segment under the latch of the segment. When the room is full, the writer puts
//! edges into a buffer of the segment. Later a service thread spreads the edges of a window of segments, or
//! splits the leaf. A vertex table leads point reads to the lists.
//!
//! Transactions (section 5) change edges in place. As in HyPer, each segment keeps the values that they
//! replaced. [`Teseo`] is the whole container; [`TeseoAlone`] is the same container for one user at a time.
//! Parameters, protocol and deviations: `docs/design/lab/teseo.md`.

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

/// A fat tree with versions, latches, and service threads. A drop of the tree stops the threads.
pub struct Teseo {
    shared: Arc<Shared>,
    _service: Service,
}

impl Teseo {
    /// Makes an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Teseo {
        Teseo::with_options(form, TeseoOptions::default())
    }

    /// Makes an empty graph.
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
                // The transaction holds no changes now. If it began again at once, it could change again an
                // item for which the younger transaction waits. The younger one would then begin again too,
                // and both would repeat this in turns.
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
    /// Returns the number of references to the state that transactions and snapshots share.
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.shared)
    }
}
