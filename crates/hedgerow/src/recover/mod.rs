//! Rebuilding the state of a store: images of the last checkpoint, then the log.
//!
//! Both are done in parallel, subgraph by subgraph: [`load`] installs images, [`replay`] reads commits in order and
//! sorts what they do by subgraph, [`apply`] does it. The result is that of doing one operation after the other.

mod apply;
mod batch;
mod fits;
mod load;
mod replay;

#[cfg(test)]
mod tests;

use hedgerow_core::{Direction, KeyKind, LabelId, Timestamp, VertexId};
use hedgerow_io::{Corruption, CorruptionKind};
use hedgerow_mem::{Horizon, Pin, SubgraphTable};
use hedgerow_txn::Counts;

use crate::checkpoint::runs::Runs;
use crate::error::Error;
use crate::idmap::IdMap;
use crate::options::GraphConfig;
use crate::schema::Schema;
use crate::tables::LabelTables;

pub(crate) use load::load_segments;
pub(crate) use replay::Replay;

/// The largest timestamp that a store can hold: a writer would need centuries to reach it.
pub(crate) const LAST_TIMESTAMP: Timestamp = Timestamp(1 << 63);

/// The state being rebuilt.
pub(crate) struct Loaded {
    pub(crate) config: GraphConfig,
    pub(crate) subgraphs: SubgraphTable,
    pub(crate) labels: LabelTables,
    pub(crate) schema: Schema,
    pub(crate) ids: IdMap,
    pub(crate) counts: Counts,
    /// Where the images of the checkpoint are.
    pub(crate) runs: Runs,
    checkpoint: Timestamp,
}

/// While a store is opened there are no readers, and everything is as good as published.
struct NoReaders(Timestamp);

impl Horizon for NoReaders {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

fn invalid(file: &str, what: &'static str) -> Error {
    Corruption::new(file, 0, CorruptionKind::Invalid(what)).into()
}

impl Loaded {
    /// After everything is replayed: ids without a vertex can be given out.
    pub(crate) fn free_unused_ids(&mut self) {
        if self.config.keys == KeyKind::Dense {
            return;
        }
        for id in (0..self.ids.bound()).rev().map(VertexId) {
            let live =
                self.subgraphs.get(id.subgraph()).is_some_and(|s| s.latch().contains_vertex(id.local()));
            if !live {
                self.ids.add_unused(id);
            }
        }
        self.ids.forget_removed();
    }

    fn table(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    /// Whether an edge is counted at this end: at its source, an undirected one at the lesser end.
    fn counts_at(&self, direction: Direction, at: VertexId, other: VertexId) -> bool {
        direction == Direction::Out && (self.config.directed || at <= other)
    }
}
