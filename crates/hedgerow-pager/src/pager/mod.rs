//! The data of a store, in memory and in files: its tables, and all that decides which part of them is in
//! memory.

pub mod census;
pub mod cold_reads;
pub mod keys;
pub mod pages;
mod recent;
mod reclaim;
pub mod room;

use std::sync::Arc;

use hedgerow_catalog::directions::{directions_of, is_weighted};
use hedgerow_catalog::error::{Result, StateError};
use hedgerow_catalog::schema_cell::SchemaCell;
use hedgerow_core::account::Account;
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::{Direction, GraphConfig, LabelId};
use hedgerow_mem::{Hold, SubgraphTable};

use crate::budget::Budget;
use crate::eviction::Eviction;
use crate::ids::VertexBound;
use crate::order::Order;
use crate::order::pending::PendingVersions;
use crate::pager::cold_reads::ColdReads;
use crate::pager::pages::Pages;
use crate::sources::Inboxes;
use crate::tables::LabelTables;

/// A thread in the background that meets demands for memory.
pub trait MeetsDemands: Send + Sync {
    /// Makes the thread meet the [demand](crate::eviction::checkpoint_demand::Wanted). Returns true if a
    /// thread exists.
    fn ask(&self) -> bool;
    /// True if the thread exists by now.
    fn has_thread(&self) -> bool;
}

/// A holder of memory that is kept only for speed, such as views. The pager takes the memory back before it
/// evicts.
pub trait KeptForSpeed: Send + Sync {
    /// Gives the memory up. Takes locks, and calls nothing of the pager.
    fn give_up(&self);
}

/// The part of a store that holds its data.
pub struct Pager {
    /// The configuration of the graph.
    pub config: GraphConfig,
    /// The schema of the open store.
    pub schema: Arc<SchemaCell>,
    /// The bound of vertex ids.
    pub bound: Arc<VertexBound>,
    /// The order of commits, and the open snapshots.
    pub order: Arc<Order>,
    /// The thread that meets demands for memory.
    pub helper: Arc<dyn MeetsDemands>,
    /// The views that are kept only for speed.
    pub views: Arc<dyn KeptForSpeed>,
    /// The process that opened the store.
    pub owner: OwnerProcess,
    /// The existence of vertices, and the edges of the default label.
    pub subgraphs: SubgraphTable,
    /// The edges of the other labels, and the properties of vertices.
    pub labels: LabelTables,
    /// The source of pages of the tables that are not loaded yet.
    pub pages: Pages,
    /// The state of evicted chains.
    pub eviction: Eviction,
    /// The operations on chains that are not in memory.
    pub inboxes: Inboxes,
    /// The data that reads of files keep.
    pub cold: ColdReads,
    /// The budget of the memory limit.
    pub budget: Arc<Budget>,
    /// True if the store has files.
    pub has_files: bool,
    /// The memory limit, if the options set one.
    pub memory_limit: Option<u64>,
    /// Versions that wait for the end of a snapshot, or for the publication of a commit.
    pub pending: PendingVersions,
}

impl Pager {
    /// Returns the account of the store's memory.
    #[inline]
    pub fn account(&self) -> &Arc<Account> {
        self.subgraphs.memory().account()
    }

    /// Returns the table of a label, if the label ever had an edge.
    #[inline]
    pub fn table(&self, label: LabelId) -> Option<&SubgraphTable> {
        if label == LabelId::DEFAULT { Some(&self.subgraphs) } else { self.labels.get(label) }
    }

    /// Returns the table of a label; makes it if the label never had an edge.
    pub fn table_or_create(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    /// Returns all tables, ascending by label: the default label, labels with edges, properties of vertices.
    pub fn tables(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(self.labels.iter())
    }

    /// Returns a hold that suffices for all tables (rule P6).
    #[inline]
    pub fn hold(&self) -> Hold {
        self.labels.hold()
    }

    /// Returns a hold that suffices for the table of a label.
    #[inline]
    pub fn hold_of(&self, label: LabelId) -> Hold {
        if label == LabelId::DEFAULT { Hold::empty() } else { self.labels.hold() }
    }

    /// Returns the directions that are stored for a label.
    pub(crate) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        directions_of(&self.config, label)
    }

    /// True if edges of a label carry the weight of a weighted graph.
    #[inline]
    pub(crate) fn is_weighted(&self, label: LabelId) -> bool {
        is_weighted(&self.config, label)
    }

    /// True if this process is a forked child of the process that opened the store. Costs one load.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Fails in a forked child: other threads of the parent do not exist there, so their work in progress
    /// never ends. Every call of every handle checks this before it takes a lock.
    #[inline]
    pub(crate) fn check_owner(&self) -> Result<()> {
        if self.is_forked() { Err(StateError::Forked.into()) } else { Ok(()) }
    }
}
