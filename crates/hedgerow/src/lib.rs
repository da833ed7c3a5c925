//! Hedgerow: an embedded, transactional, durable dynamic graph store.
//!
//! A program opens a directory, writes edges in serializable durable transactions, and runs graph queries and
//! whole-graph analytics on snapshots that cost nothing to open, beside the writers.
//!
//! ```
//! use hedgerow::{Direction, Graph};
//!
//! let graph = Graph::in_memory()?;
//! let mut tx = graph.write()?;
//! tx.put_edge(1, 2)?;
//! tx.put_edge(1, 3)?;
//! tx.commit()?;
//!
//! let snapshot = graph.snapshot()?;
//! assert_eq!(snapshot.edge_count(), 2);
//! assert_eq!(snapshot.degree(1, Direction::Out), Some(2));
//! # Ok::<(), hedgerow::Error>(())
//! ```
//!
//! What a commit promises is in `docs/contract.md`; how it is kept, in `docs/design/protocol.md`.
#![forbid(unsafe_code)]

mod all_labels;
mod check;
mod checkpoint;
mod closing;
mod durability;
mod error;
mod graph;
mod idmap;
mod labelled;
mod open;
mod options;
mod properties;
mod reclaim;
mod recover;
mod scan;
mod schema;
mod sections;
mod settle;
mod snapshot;
mod stats;
mod tables;
mod tools;
mod views;
mod write;

pub use all_labels::EdgePattern;
pub use check::{CheckReport, check_path};
pub use checkpoint::Checkpoint;
pub use error::{Error, Result};
pub use graph::Graph;
pub use hedgerow_core::{
    Block, Direction, KeyKind, LabelId, Neighbors, PropertyId, PropertyType, Timestamp, Topology, Value,
    ValueRef, VertexId, VertexKey, VertexKeyRef, WeightedBlock, WeightedNeighbors, WeightedTopology,
};
pub use hedgerow_io as io;
pub use hedgerow_io::LockHolder;
pub use hedgerow_mem::View;
pub use labelled::EdgeOf;
pub use options::{Durability, GraphConfig, Isolation, Options};
pub use properties::Properties;
pub use scan::EdgeRow;
pub use schema::{Label, LabelOptions, LabelRef, Property, Schema};
pub use snapshot::Snapshot;
pub use stats::Stats;
pub use tools::{Backup, SalvageReport, salvage, salvage_on};
pub use write::{Ack, Applied, EdgeKey, Pipeline, Ticket, WriteTxn};
