//! How an export directory is laid out: what `export` writes and `load` reads back. `docs/design/data-model.md` has the format.

/// The file that says what the store is and names the other files.
pub(crate) const SCHEMA_FILE: &str = "schema.json";

/// What `schema.json` says of itself.
pub(crate) const FORMAT: &str = "hedgerow-export";
pub(crate) const VERSION: u64 = 1;

/// What separates the fields of all files.
pub(crate) const DELIMITER: u8 = b',';
