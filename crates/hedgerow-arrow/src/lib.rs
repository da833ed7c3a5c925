//! Tables of a store as Arrow record batches, and the columns of record batches as keys and properties of a
//! store. With the feature `files` also reads and writes files of Parquet and of Arrow's IPC format.
//!
//! A table goes out as an iterator of batches ([`EdgeBatches`], [`VertexBatches`]), each of at most
//! [`BATCH_ROWS`] rows. A batch is made when it is pulled, so a table takes the memory of a few batches, or
//! of the edges of its largest hub. The schema is known before the first batch. `docs/design/frames.md` has
//! the types of columns.
#![forbid(unsafe_code)]

mod column;
mod edges;
mod error;
#[cfg(feature = "files")]
pub mod files;
mod keys;
mod options;
pub mod read;
mod vertices;

pub use edges::EdgeBatches;
pub use error::Error;
pub use options::TableOptions;
pub use vertices::VertexBatches;

/// The greatest number of rows in a batch.
pub const BATCH_ROWS: usize = 1 << 16;

/// The columns of tables that are no properties.
const RESERVED: [&str; 7] = ["id", "src", "dst", "src_kind", "dst_kind", "rank", "weight"];

/// True if a column of this name is no property in the tables of a store.
pub fn reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The bytes of texts and bytes in a batch from which on it ends after the source, or the vertex, that it
/// has.
const BATCH_BYTES: usize = 1 << 26;
