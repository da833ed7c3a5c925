//! The vocabulary of Hedgerow: ids, timestamps, operations, keys and the capability traits between storage
//! and analytics. It does no I/O and starts no threads, except for the work of [`fork`] in a forked child.
//!
//! `unsafe` is confined to [`fork`], [`simd`] and the locks of [`sync`].
#![deny(unsafe_code)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "Hedgerow needs a target of 64 bits: it maps regions of memory that fewer bits cannot address"
);
#[cfg(not(target_endian = "little"))]
compile_error!("Hedgerow needs a little-endian target: its files and columns are read as they lie in memory");

pub mod account;
pub mod assemble;
pub mod changes;
pub mod column;
pub mod config;
pub mod dynamic;
pub mod faults;
pub mod fork;
pub mod growing;
pub mod id;
pub mod key;
pub mod key_column;
pub mod op;
pub mod predicate;
pub mod property;
pub mod row;
pub mod row_ref;
pub mod search;
pub mod simd;
pub mod spans;
pub mod suggest;
pub mod sync;
pub mod time;
pub mod view;

pub use changes::{Changes, Changing, EdgeChange, EdgeChangeKind};
pub use column::{Column, Columns};
pub use config::GraphConfig;
pub use dynamic::{Capability, DynamicGraph, GraphSnapshot, Update, Written};
pub use id::{LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
pub use key::{KeyKind, KindId, VertexKey, VertexKeyRef};
pub use key_column::{KeyColumn, TextColumn};
pub use op::Op;
pub use predicate::{Comparison, Condition, EdgeTest, Predicate, PropertyTest, ValueSet};
pub use property::{PropertyId, PropertyType, Value, ValueRef};
pub use row::{Cells, Row};
pub use row_ref::RowRef;
pub use search::{InterpolationHint, lower_bound_near, lower_bound_soon};
pub use time::Timestamp;
pub use view::{
    Block, ByVertex, Direction, Neighbors, Resident, Topology, WeightedNeighbors, WeightedTopology,
    for_each_contained, scan_blocks,
};
