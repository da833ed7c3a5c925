//! The layout of an export directory, which `export` writes and `load` reads. `docs/design/data-model.md` has
//! the format.

/// The file that describes the store and names the other files.
pub const SCHEMA_FILE: &str = "schema.json";

/// The name of the format in `schema.json`.
pub const FORMAT: &str = "hedgerow-export";
/// The version of the format for a store without kinds of vertices.
pub const VERSION: u64 = 1;
/// The version of the format for a store with kinds of vertices.
pub const KINDS_VERSION: u64 = 2;

/// The version of the format for an export in parts: the description of a file has `parts`.
pub const PARTS_VERSION: u64 = 3;

/// The columns after source and destination in a store with kinds, if the label does not state the kinds.
pub const KIND_COLUMNS: [&str; 2] = ["src_kind", "dst_kind"];

/// The delimiter of the fields of all files.
pub const DELIMITER: u8 = b',';
