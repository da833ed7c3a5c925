//! The layout of an export directory, which `export` writes and `load` reads. `docs/design/data-model.md` has
//! the format.

/// The file that describes the store and names the other files.
pub(crate) const SCHEMA_FILE: &str = "schema.json";

/// The name of the format in `schema.json`.
pub(crate) const FORMAT: &str = "hedgerow-export";
pub(crate) const VERSION: u64 = 1;
/// The version of the format for a store with kinds of vertices.
pub(crate) const KINDS_VERSION: u64 = 2;

/// The columns after source and destination in a store with kinds, if the label does not state the kinds.
pub(crate) const KIND_COLUMNS: [&str; 2] = ["src_kind", "dst_kind"];

/// True if a column of an export that is no property has this name.
pub(crate) fn reserved(name: &str) -> bool {
    ["id", "src", "dst", "rank", "weight"].contains(&name) || KIND_COLUMNS.contains(&name)
}

/// The delimiter of the fields of all files.
pub(crate) const DELIMITER: u8 = b',';
