//! The data of a store, in memory and in files: its tables, and all that decides which part of them is in
//! memory.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::{Direction, GraphConfig, LabelId};
use hedgerow_mem::{Hold, SubgraphTable};
use hedgerow_pager::Inboxes;

use crate::error::{Result, StateError};
use crate::state::budget::Budget;
use crate::state::cold_reads::ColdReads;
use crate::state::csr::CsrCache;
use crate::state::directions::{directions_of, is_weighted};
use crate::state::eviction::Eviction;
use crate::state::ids::VertexBound;
use crate::state::log_bound::LogBound;
use crate::state::order::Order;
use crate::state::pages::Pages;
use crate::state::pending::PendingVersions;
use crate::state::schema_cell::SchemaCell;
use crate::state::tables::LabelTables;
use crate::state::view_cache::Views;

/// The part of a store that holds its data.
pub(crate) struct Pager {
    pub(crate) config: GraphConfig,
    pub(crate) schema: Arc<SchemaCell>,
    pub(crate) bound: Arc<VertexBound>,
    pub(crate) order: Arc<Order>,
    /// The bound of the log's length, whose thread also meets demands for memory.
    pub(crate) log_bound: Arc<LogBound>,
    /// The process that opened the store.
    pub(crate) owner: OwnerProcess,
    /// The existence of vertices, and the edges of the default label.
    pub(crate) subgraphs: SubgraphTable,
    /// The edges of the other labels, and the properties of vertices.
    pub(crate) labels: LabelTables,
    /// The source of pages of the tables that are not loaded yet.
    pub(crate) pages: Pages,
    pub(crate) eviction: Eviction,
    /// The operations on chains that are not in memory.
    pub(crate) inboxes: Inboxes,
    pub(crate) cold: ColdReads,
    pub(crate) budget: Arc<Budget>,
    /// True if the store has files.
    pub(crate) has_files: bool,
    /// The memory limit, if the options set one.
    pub(crate) memory_limit: Option<u64>,
    /// Versions that wait for the end of a snapshot, or for the publication of a commit.
    pub(crate) pending: PendingVersions,
    pub(crate) views: Views,
    pub(crate) csrs: CsrCache,
}

impl Pager {
    /// Returns the account of the store's memory.
    #[inline]
    pub(crate) fn account(&self) -> &Arc<Account> {
        self.subgraphs.memory().account()
    }

    /// Returns the table of a label, if the label ever had an edge.
    #[inline]
    pub(crate) fn table(&self, label: LabelId) -> Option<&SubgraphTable> {
        if label == LabelId::DEFAULT { Some(&self.subgraphs) } else { self.labels.get(label) }
    }

    /// Returns the table of a label; makes it if the label never had an edge.
    pub(crate) fn table_or_create(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    /// Returns all tables, ascending by label: the default label, labels with edges, properties of vertices.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(self.labels.iter())
    }

    /// Returns a hold that suffices for all tables (rule P6).
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        self.labels.hold()
    }

    /// Returns a hold that suffices for the table of a label.
    #[inline]
    pub(crate) fn hold_of(&self, label: LabelId) -> Hold {
        if label == LabelId::DEFAULT { Hold::empty() } else { self.labels.hold() }
    }

    /// Returns the directions that are stored for a label.
    pub(super) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        directions_of(&self.config, label)
    }

    /// True if edges of a label carry the weight of a weighted graph.
    #[inline]
    pub(super) fn is_weighted(&self, label: LabelId) -> bool {
        is_weighted(&self.config, label)
    }

    /// True if this process is a forked child of the process that opened the store. Costs one load.
    #[inline]
    pub(super) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Fails in a forked child: other threads of the parent do not exist there, so their work in progress
    /// never ends. Every call of every handle checks this before it takes a lock.
    #[inline]
    pub(super) fn check_owner(&self) -> Result<()> {
        if self.is_forked() { Err(StateError::Forked.into()) } else { Ok(()) }
    }
}
