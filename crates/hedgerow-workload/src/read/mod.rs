//! Streaming readers of graph files: one row at a time, constant memory, errors that name file and line.
//!
//! Gzip and zstd files are recognised by their first bytes, and decompressed on the way. The caller decides
//! about a malformed row: a reader returns an error for it ([`ReadError::is_row`]) and continues with the
//! next row.

mod edges;
mod error;
mod expected;
mod fields;
mod format;
mod graphalytics;
mod lines;
mod matrix_error;
mod matrix_market;
mod names;
mod numbers;
mod progress;
mod records;
mod sniff;
mod source;
mod time;

#[cfg(test)]
mod tests;

pub use edges::{EdgeReader, Extra, Row};
pub use error::{ReadError, RowError};
pub use expected::{read_expected, read_vertices};
pub use format::{Column, Comment, Delimiter, EdgeFormat, FormatError, Header, Syntax};
pub use graphalytics::Graphalytics;
pub use lines::{Lines, MAX_LINE_BYTES};
pub use matrix_error::MatrixError;
pub use matrix_market::{MatrixMarket, MatrixSizes, MatrixValues, Symmetry};
pub use names::{ImporterColumn, ImporterRole, importer_columns, usual_column};
pub use numbers::{is_rounded, parse_weight};
pub use progress::Progress;
pub use sniff::{FieldKind, Sniffed, sniff};
pub use time::{ReadTime, TimeError, TimeUnit, read_time, show_time};
