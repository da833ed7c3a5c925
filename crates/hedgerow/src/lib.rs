//! Hedgerow: an embedded, transactional, durable dynamic graph store.
//!
//! A program opens a directory, writes edges in serializable durable transactions, and runs graph queries and
//! whole-graph analytics on snapshots. Snapshots cost nothing to open and do not stop writers.
//!
//! ```
//! use hedgerow::{Direction, Graph};
//!
//! let graph = Graph::in_memory()?;
//! let mut tx = graph.write()?;
//! tx.put_edge((1, 2))?;
//! tx.put_edge((1, 3))?;
//! tx.commit()?;
//!
//! let snapshot = graph.snapshot()?;
//! assert_eq!(snapshot.edge_count()?, 2);
//! assert_eq!(snapshot.degree(1, Direction::Out)?, Some(2));
//! # Ok::<(), hedgerow::Error>(())
//! ```
//!
//! With the feature `kernels`, the module `kernels` has graph analytics: shortest paths, PageRank,
//! communities and others.
//!
//! `docs/contract.md` states the promises of a commit, and `docs/design/protocol.md` explains how the store
//! keeps them.
#![forbid(unsafe_code)]

mod graph_read;
#[cfg(feature = "kernels")]
pub mod kernels;

pub use graph_read::GraphRead;
pub use hedgerow_core::{
    Block, Changes, Column, Comparison, Condition, Direction, EdgeChange, EdgeChangeKind, KeyColumn, KeyKind,
    KindId, LabelId, Neighbors, Predicate, PropertyId, PropertyType, Resident, TextColumn, Timestamp,
    Topology, Value, ValueRef, ValueSet, VertexId, VertexKey, VertexKeyRef, WeightedNeighbors,
    WeightedTopology,
};
#[doc(hidden)]
pub use hedgerow_engine::Thresholds;
pub use hedgerow_engine::{
    Ack, Applied, ArgumentError, Backup, CheckReport, Checkpoint, CommitError, Csr, CsrOptions, DefaultLabel,
    Durability, EdgeDirection, EdgeKey, EdgeLimit, EdgeOf, EdgePattern, EdgeRow, EdgeScan, EdgeSelection,
    EdgeSelectionRef, EdgeToWrite, Error, Expansion, FindOptions, Graph, GraphConfig, Isolation, KHopOptions,
    KernelView, Kind, LEAST_MEMORY_LIMIT, Label, LabelOptions, LabelRef, LabelSnapshot, Lent, LentEdge,
    Limited, MissingVertex, NeighborCursor, NeighborLists, Neighborhood, OpenError, Options, Pipeline,
    Properties, Property, RemoveOptions, RemovedEdges, Result, RowOrder, SalvageReport, Schema, Shortage,
    Snapshot, StateError, Stats, StorageError, Ticket, TieredBlock, TieredView, VertexRow, VertexScan,
    WriteTxn, check_path, check_path_within, salvage, salvage_on, salvage_on_within, salvage_within,
};
pub use hedgerow_io as io;
pub use hedgerow_io::LockHolder;
pub use hedgerow_mem::View;
