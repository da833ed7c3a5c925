//! The engine of the store. The crate [`hedgerow`](../hedgerow/index.html) exports the types that users may
//! depend on.
//!
//! Only this crate connects all others: versions of subgraphs (`hedgerow-mem`), the order of commits
//! (`hedgerow-txn`), the log, the files of a checkpoint. `docs/design/layout.md` lists which of its modules
//! may use which.
#![forbid(unsafe_code)]

mod background;
mod commit;
mod config;
mod durable;
mod files;
mod graph;
mod open;
mod options;
mod read;
mod state;
mod stats;
mod tools;

pub use commit::{Ack, Applied, Pipeline, RemoveOptions, RemovedEdges, Ticket, WriteTxn};
pub use config::{Durability, Isolation};
pub use durable::checkpoint::Checkpoint;
pub use graph::Graph;
pub use hedgerow_catalog::error::{
    ArgumentError, CommitError, Error, OpenError, Result, Shortage, StateError, StorageError,
};
pub use hedgerow_catalog::kinds::Kind;
pub use hedgerow_catalog::label::{Label, Property};
pub use hedgerow_catalog::schema::{LabelRef, Schema};
pub use hedgerow_core::{
    Block, Comparison, Condition, Direction, GraphConfig, KeyColumn, KeyKind, KindId, LabelId, Neighbors,
    PropertyId, PropertyType, Resident, TextColumn, Timestamp, Topology, Value, ValueRef, ValueSet, VertexId,
    VertexKey, VertexKeyRef, WeightedNeighbors, WeightedTopology,
};
pub use hedgerow_io as io;
pub use hedgerow_io::LockHolder;
pub use hedgerow_mem::View;
pub use hedgerow_pager::limits::LEAST_MEMORY_LIMIT;
pub use options::{Options, Thresholds};
pub use read::all_labels::EdgePattern;
pub use read::at_vertex::EdgeOf;
pub use read::default_label::DefaultLabel;
pub use read::expand::Expansion;
pub use read::first::{EdgeLimit, FindOptions, Limited};
pub use read::k_hop::{KHopOptions, Neighborhood};
pub use read::label_snapshot::LabelSnapshot;
pub use read::lent::{Lent, LentEdge};
pub use read::many::{MissingVertex, NeighborLists};
pub use read::neighbors::NeighborCursor;
pub use read::properties::Properties;
pub use read::rows::{EdgeRow, VertexRow};
pub use read::scan::{EdgeScan, VertexScan};
pub use read::selection::EdgeSelection;
pub use read::selection_ref::EdgeSelectionRef;
pub use read::snapshot::Snapshot;
pub use read::tiered::{KernelView, TieredBlock, TieredView};
pub use state::chosen_edges::EdgeDirection;
pub use state::csr_cache::{Csr, CsrOptions, RowOrder};
pub use state::edge_key::{EdgeKey, EdgeToWrite};
pub use state::label_options::LabelOptions;
pub use stats::Stats;
pub use tools::{
    Backup, CheckReport, SalvageReport, check_path, check_path_within, salvage, salvage_on,
    salvage_on_within, salvage_within,
};
