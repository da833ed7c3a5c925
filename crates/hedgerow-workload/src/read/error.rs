//! Errors of reading a file.

use std::io;
use std::path::{Path, PathBuf};

use super::matrix_error::MatrixError;

/// An error of reading a file, or one of its rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("{}: {source}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Reading or decompressing failed; nothing after this line can be read.
    #[error("{}:{line}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The line that was being read, from 1.
        line: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// One row is malformed; the reader can continue with the next row.
    #[error("{}:{line}: {reason}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The fault of the row.
        reason: RowError,
    },
    /// A record of several lines does not end, so nothing after it can be read.
    #[error("{}:{line}: {reason}", .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The line on which the record begins, from 1.
        line: u64,
        /// The fault of the record.
        reason: RowError,
    },
    /// A Matrix Market file contradicts its first lines; nothing in it can be trusted.
    #[error("{}:{line}: {reason}", .path.display())]
    Matrix {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The fault of the file.
        reason: MatrixError,
    },
    /// The first bytes of the file are the mark of another encoding than UTF-8.
    #[error("{}: in UTF-16 or UTF-32; convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8", .path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// The name has the extension of a compressed file, but the file is not compressed.
    #[error("{}: not a {format} file, though its name says so", .path.display())]
    NotCompressed {
        /// The file.
        path: PathBuf,
        /// The promised format.
        format: &'static str,
    },
    /// The delimiter of fields cannot be found from a sample.
    #[error("{}:{line}: cannot tell what separates the fields of {row:?}: it could be {candidates}", .path.display())]
    DelimiterUnclear {
        /// The file.
        path: PathBuf,
        /// The line of the first record, from 1.
        line: u64,
        /// The first record, shortened to 100 characters.
        row: String,
        /// The names of the delimiters in question.
        candidates: String,
    },
    /// A sample does not show if the first record names the columns.
    #[error("{}:{line}: cannot tell whether {row:?} is a header: {why}", .path.display())]
    HeaderUnclear {
        /// The file.
        path: PathBuf,
        /// The line of the first record, from 1.
        line: u64,
        /// The first record, shortened to 100 characters.
        row: String,
        /// The reasons for both answers, or the fact that there is none.
        why: &'static str,
    },
    /// The header lacks a column that the format names, or there is no header.
    #[error("{}: no column named {column:?} in the header", .path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The name of the column.
        column: String,
    },
    /// A `.properties` file lacks an entry, or has an unreadable one.
    #[error("{}: property {key}: {reason}", .path.display())]
    Property {
        /// The file.
        path: PathBuf,
        /// The entry, without the graph's name.
        key: String,
        /// The fault of the entry.
        reason: String,
    },
}

impl ReadError {
    /// Returns the file. O(1).
    pub fn path(&self) -> &Path {
        match self {
            ReadError::Open { path, .. }
            | ReadError::Io { path, .. }
            | ReadError::Row { path, .. }
            | ReadError::Record { path, .. }
            | ReadError::Matrix { path, .. }
            | ReadError::Encoding { path }
            | ReadError::NotCompressed { path, .. }
            | ReadError::DelimiterUnclear { path, .. }
            | ReadError::HeaderUnclear { path, .. }
            | ReadError::Column { path, .. }
            | ReadError::Property { path, .. } => path,
        }
    }

    /// Returns the line at fault, from 1, if one is. O(1).
    pub fn line(&self) -> Option<u64> {
        match self {
            ReadError::Io { line, .. }
            | ReadError::Row { line, .. }
            | ReadError::Record { line, .. }
            | ReadError::Matrix { line, .. }
            | ReadError::DelimiterUnclear { line, .. }
            | ReadError::HeaderUnclear { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Returns the kind of the system's error, if one stopped the reading. O(1).
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            ReadError::Open { source, .. } | ReadError::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    /// True if only one row is lost, so that reading can continue.
    pub fn is_row(&self) -> bool {
        matches!(self, ReadError::Row { .. })
    }

    pub(crate) fn row(path: &Path, line: u64, reason: RowError) -> Self {
        ReadError::Row { path: path.to_owned(), line, reason }
    }
}

/// A fault of one row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The line does not end within the limit; it was skipped to its end.
    #[error("line longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The line is not UTF-8.
    #[error("not UTF-8; convert the file, for example with iconv -t UTF-8")]
    NotUtf8,
    /// A column is absent.
    #[error("no column {} for the {what}, the row has {found} columns", .column + 1)]
    MissingColumn {
        /// The expected content of the column.
        what: &'static str,
        /// Its position, from 0.
        column: usize,
        /// Columns in the row.
        found: usize,
    },
    /// The row has another number of columns than the first one.
    #[error("the row has {found} columns, the {} in line {first} has {expected}", if *.header { "header" } else { "first row" })]
    Width {
        /// Columns in the row.
        found: usize,
        /// Columns in the first record.
        expected: usize,
        /// The line of the first record.
        first: u64,
        /// True if that is a header.
        header: bool,
    },
    /// A field is empty.
    #[error("empty {what}")]
    Empty {
        /// The expected content of the field.
        what: &'static str,
    },
    /// A field is a text that stands for null.
    #[error("{what} is null: {text:?}")]
    Null {
        /// The expected content of the field.
        what: &'static str,
        /// The field, shortened to 40 characters.
        text: String,
    },
    /// A field is not a number of the kind needed.
    #[error("{what} is not a number: {text:?}")]
    NotANumber {
        /// The expected content of the field.
        what: &'static str,
        /// The field, shortened to 40 characters.
        text: String,
    },
    /// A line has a carriage return outside of quotes.
    #[error(
        "the line contains a carriage return: lines end with a line feed; convert the file, for example with tr '\\r' '\\n'"
    )]
    CarriageReturn,
    /// A line that would be a comment has as many fields as the rows.
    #[error(
        "the line begins with {start:?} and has {fields} columns as the rows have: it is a comment or a row; say which by \
         --comment {start} or --comment none"
    )]
    CommentOrRow {
        /// Its first character.
        start: char,
        /// Its fields.
        fields: usize,
    },
    /// A field between blanks begins with a quote.
    #[error(
        "the field {text:?} begins with a quote: fields between blanks cannot be quoted; write commas or tabs between them"
    )]
    QuoteBetweenBlanks {
        /// The field, shortened to 40 characters.
        text: String,
    },
    /// A whole number would be rounded, or is beyond the largest `f64`.
    #[error(
        "{what} {text} does not fit a 64-bit float without rounding; a property of type i64 or utf8 keeps it"
    )]
    Rounded {
        /// The expected content of the field.
        what: &'static str,
        /// The field, shortened to 40 characters.
        text: String,
    },
    /// A quoted field does not end with a quote before the delimiter.
    #[error("text follows the closing quote of a field, before the next delimiter")]
    Quote,
    /// A quoted field does not end within the limit, or within the file.
    #[error("a quoted field that begins here does not end within {limit} bytes or within the file")]
    Unclosed {
        /// The limit in bytes.
        limit: usize,
    },
    /// Something is wrong with the field in a column.
    #[error("{reason} in column {}", .column + 1)]
    InColumn {
        /// The position of the column, from 0.
        column: usize,
        /// The fault.
        reason: Box<RowError>,
    },
    /// A fault of an entry of a matrix.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A keyword is none of the expected ones.
    #[error("expected {expected}, found {text:?}")]
    Unexpected {
        /// The expected keywords.
        expected: &'static str,
        /// The field, shortened to 40 characters.
        text: String,
    },
}

impl RowError {
    pub(crate) fn not_a_number(what: &'static str, text: &str) -> Self {
        RowError::NotANumber { what, text: shorten(text) }
    }

    pub(crate) fn rounded(what: &'static str, text: &str) -> Self {
        RowError::Rounded { what, text: shorten(text) }
    }

    pub(crate) fn in_column(self, column: usize) -> Self {
        RowError::InColumn { column, reason: Box::new(self) }
    }

    pub(crate) fn unexpected(expected: &'static str, text: &str) -> Self {
        RowError::Unexpected { expected, text: shorten(text) }
    }
}

pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
