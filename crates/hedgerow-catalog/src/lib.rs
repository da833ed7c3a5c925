//! The schema of a graph, and the errors of a store.
//!
//! The pager and the engine both use these types. The crate reads no files, and takes no part in commits.
#![forbid(unsafe_code)]

pub mod directions;
pub mod error;
pub mod kinds;
pub mod label;
pub mod schema;
pub mod schema_cell;
