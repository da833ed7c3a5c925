//! The pager of a store: the one place that knows which part of the data is in memory.
//!
//! - [`sources`]: the sources of lists in files and inboxes, and their merge.
//! - [`order`]: the order of commits, and the readers that keep old versions.
//! - [`budget`], [`limits`]: the memory limit, and the memory that calls have taken.
//! - [`tables`], [`ids`]: the tables of subgraphs, and the map of keys, in memory.
//! - [`eviction`]: which data is not in memory, and why.
//! - [`pager`]: the [`Pager`], which reads, loads and evicts, and makes room.
//!
//! `docs/design/pager.md` describes the pager as a whole.
#![forbid(unsafe_code)]

pub mod budget;
pub mod eviction;
pub mod ids;
pub mod limits;
pub mod order;
pub mod pager;
pub mod sources;
pub mod tables;

pub use pager::Pager;
pub use sources::{InboxBase, InboxView, Inboxes, Sources, page_of, sort_newest_first};
