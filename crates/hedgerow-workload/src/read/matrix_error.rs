//! Faults of Matrix Market files.

/// A fault of a Matrix Market file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// The first line is no banner.
    #[error(
        "{text:?} is not the first line of a Matrix Market file: %%MatrixMarket matrix coordinate, then real, integer or \
         pattern, then general, symmetric or skew-symmetric"
    )]
    Banner {
        /// The line, shortened to 40 characters.
        text: String,
    },
    /// The matrix has a form that stands for no graph with numeric weights.
    #[error("{what} {text:?} is not supported: {instead}")]
    Unsupported {
        /// The meaning of the word.
        what: &'static str,
        /// The word, shortened to 40 characters.
        text: String,
        /// The form to write in its place.
        instead: &'static str,
    },
    /// The size line is not three whole numbers.
    #[error("{text:?} is not the size line of a matrix: the numbers of rows, columns and entries")]
    Sizes {
        /// The line, shortened to 40 characters.
        text: String,
    },
    /// The file ends before the size line.
    #[error("the file ends before the size line, which has the numbers of rows, columns and entries")]
    NoSizes,
    /// Rows and columns are not the same vertices.
    #[error(
        "the matrix has {rows} rows and {columns} columns, so rows and columns are different vertices, but equal ids \
         would name the same vertex"
    )]
    Rectangular {
        /// The number of rows.
        rows: u64,
        /// The number of columns.
        columns: u64,
    },
    /// A symmetric matrix is not square.
    #[error(
        "a symmetric matrix has as many rows as columns; this matrix has {rows} rows and {columns} columns"
    )]
    NotSquare {
        /// The number of rows.
        rows: u64,
        /// The number of columns.
        columns: u64,
    },
    /// The number of entries in the file differs from the number in its size line.
    #[error("the size line states {expected} entries, but the file has {}", found_entries(*.found, *.expected))]
    Entries {
        /// The number in the size line.
        expected: u64,
        /// The number read.
        found: u64,
    },
    /// An entry has the wrong number of columns.
    #[error("an entry of this matrix has {expected} columns, the row has {found}")]
    Width {
        /// The number of columns of an entry.
        expected: usize,
        /// The number of columns in the row.
        found: usize,
    },
    /// The row or the column of an entry is not in the matrix.
    #[error("{what} {text:?} is not from 1 to {most}")]
    OutOfRange {
        /// Row or column.
        what: &'static str,
        /// The field, shortened to 40 characters.
        text: String,
        /// The number of rows or columns.
        most: u64,
    },
    /// A skew-symmetric matrix has an entry on its diagonal.
    #[error("a skew-symmetric matrix has no entry on its diagonal")]
    Diagonal,
}

fn found_entries(found: u64, expected: u64) -> String {
    if found > expected { "more".to_owned() } else { found.to_string() }
}
