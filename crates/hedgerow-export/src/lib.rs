//! Exports of a store: a directory with a file of vertices for each kind, a file of edges for each label, and
//! `schema.json`, which describes the store and names the files; `hedgerow load` loads it into an equal
//! store. Files are lines of CSV, or tables of Parquet or Arrow. `docs/design/data-model.md` has the format.
//!
//! [`export`] writes such a directory from one snapshot, so that commits meanwhile change nothing in it. The
//! other items are its parts, which the command line also uses for single files.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it writes the files that users ask for"
)]

mod describe;
mod directory;
mod error;
pub mod layout;
pub mod names;
pub mod rows;
pub mod tables;
pub mod target;
pub mod text;

pub use directory::{ExportFormat, ExportOptions, Exported, export};
pub use error::Error;
