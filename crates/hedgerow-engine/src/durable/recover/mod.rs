//! Recovery of the state of a store: images of the last checkpoint, then the log.
//!
//! Both are read in parallel, subgraph by subgraph. [`load`] opens the segments, [`recovered_keys`] finds the
//! vertices in them. [`replay`] reads commits in order and sorts their operations by subgraph, [`touched`]
//! loads the subgraphs that the operations need, [`apply`] applies the operations. The result is the same as
//! that of applying them one by one.

mod apply;
mod balance;
mod chain;
mod gathered;
mod load;
mod outcome;
mod recovered_keys;
mod replay;
mod touched;
mod whole;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use hedgerow_catalog::schema::Schema;
use hedgerow_core::{GraphConfig, LabelId, SubgraphId, Timestamp};
use hedgerow_io::{Vfs, VfsLock};
use hedgerow_mem::SubgraphTable;
use hedgerow_pager::Inboxes;
use hedgerow_pager::ids::IdMap;
use hedgerow_pager::pager::pages::Pages;
use hedgerow_pager::tables::LabelTables;
use hedgerow_txn::Counts;

use crate::files::image_table::Runs;
use crate::files::log::Durable;
use crate::state::placement::Placement;
use crate::state::store::EngineParts;

pub(crate) use load::load_segments;
pub(crate) use replay::Replay;

/// The largest timestamp that a store can hold: a writer would need years to reach it. Subgraphs note
/// timestamps in 56 bits.
pub(crate) const LAST_TIMESTAMP: Timestamp = Timestamp(1 << 55);

/// The state of the store while recovery rebuilds it.
pub(crate) struct Loaded {
    pub(crate) config: GraphConfig,
    pub(crate) subgraphs: SubgraphTable,
    pub(crate) labels: LabelTables,
    pub(crate) schema: Schema,
    pub(crate) ids: IdMap,
    pub(crate) counts: Counts,
    /// The places of the images of the checkpoint.
    pub(crate) runs: Runs,
    /// The source of pages that are not loaded yet.
    pub(crate) pages: Pages,
    /// Operations of the log on chains that are not in memory.
    pub(crate) inboxes: Inboxes,
    /// The vertices that the segments have, by subgraph, in no order. Empty in a dense graph.
    living: Vec<(SubgraphId, u64)>,
    /// The number of subgraphs of loaded pages whose chains are not in memory.
    pub(crate) evicted: u64,
    checkpoint: Timestamp,
}

impl Loaded {
    /// Returns the parts of the store that holds commits up to `last`.
    pub(crate) fn into_parts(
        self,
        last: Timestamp,
        durable: Option<Durable>,
        directory: Option<Arc<dyn Vfs>>,
        lock: Option<Box<dyn VfsLock>>,
    ) -> EngineParts {
        let Loaded { config, subgraphs, labels, schema, ids, counts, pages, inboxes, evicted, .. } = self;
        EngineParts {
            config,
            last,
            counts,
            subgraphs,
            labels,
            pages,
            inboxes,
            evicted,
            schema,
            ids,
            durable,
            directory,
            lock,
        }
    }
}

impl Loaded {
    fn table(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    /// Returns all tables, ascending by label.
    fn tables(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(self.labels.iter())
    }

    /// Returns the rule for the lists that have a copy of an edge.
    fn placement(&self) -> Placement {
        Placement::of(&self.config)
    }
}
