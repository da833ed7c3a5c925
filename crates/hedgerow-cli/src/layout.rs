//! How an export directory is laid out: what `export` writes and `load` reads back. `docs/design/data-model.md` has the format.

/// The file that says what the store is and names the other files.
pub(crate) const SCHEMA_FILE: &str = "schema.json";

/// What `schema.json` says of itself.
pub(crate) const FORMAT: &str = "hedgerow-export";
pub(crate) const VERSION: u64 = 1;
/// The version of a store with kinds of vertices.
pub(crate) const KINDS_VERSION: u64 = 2;

/// The columns behind source and destination in a store with kinds, where the label does not say them.
pub(crate) const KIND_COLUMNS: [&str; 2] = ["src_kind", "dst_kind"];

/// What separates the fields of all files.
pub(crate) const DELIMITER: u8 = b',';
