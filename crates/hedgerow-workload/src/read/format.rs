//! The layout of the rows of an edge file.

use std::path::Path;
use std::str::FromStr;

/// The delimiter of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delimiter {
    /// The delimiter found in the first row: a tab, else a comma, else a semicolon, else blanks.
    #[default]
    Auto,
    /// Any number of blanks and tabs; fields cannot be quoted.
    Whitespace,
    /// This ASCII character; fields may be quoted with `"`, in which `""` stands for one quote.
    Byte(u8),
}

/// The choice of a header in the first row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// A header if the format names a column, or if the row names a source and a destination in a usual way.
    #[default]
    Auto,
    /// The first row names the columns.
    Yes,
    /// The first row is data.
    No,
}

/// The place of a value in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The position, from 0.
    Index(usize),
    /// The position, from 0, in rows that have it.
    IfPresent(usize),
    /// The column with this name in the header.
    Name(String),
    /// Nowhere, even if the header names it.
    Absent,
}

impl Column {
    /// Returns the position, if it is known without a header.
    pub(super) fn position(&self) -> Option<usize> {
        match self {
            Column::Index(at) | Column::IfPresent(at) => Some(*at),
            Column::Name(_) | Column::Absent => None,
        }
    }
}

/// The syntax of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Rows of fields; empty lines and [comments](Comment) are left out.
    #[default]
    Rows,
    /// DIMACS shortest-path files: comments start with `c`, the problem line with `p`, arcs with `a` or
    /// nothing.
    Dimacs,
    /// Matrix Market files in coordinate format: a banner, comments that start with `%`, a size line, then
    /// entries.
    MatrixMarket,
}

/// The lines that are comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comment {
    /// Lines that start with `#` or `%`.
    #[default]
    Usual,
    /// Like [`Usual`](Self::Usual), but for keys that are text: a line below the first record with as many
    /// fields may be a row, and is refused.
    Doubted,
    /// Lines that start with this character.
    Byte(u8),
    /// No lines.
    None,
}

/// The format of an edge file. The default detects all that it can and takes no weights and no times, unless
/// the header names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeFormat {
    /// The syntax of lines.
    pub syntax: Syntax,
    /// The delimiter of fields.
    pub delimiter: Delimiter,
    /// The choice of a header.
    pub header: Header,
    /// The source; by default the column that the header names, else the first column without another
    /// meaning.
    pub src: Option<Column>,
    /// The destination; by default the column that the header names, else the second column without another
    /// meaning.
    pub dst: Option<Column>,
    /// The weight; by default the column that the header names, else none.
    pub weight: Option<Column>,
    /// The time; by default the column that the header names, else none.
    pub time: Option<Column>,
    /// The further columns, which rows return as text.
    pub extra: Vec<Column>,
    /// The number of lines to skip before all others.
    pub skip_lines: u64,
    /// The texts without quotes that mean null; an empty field without quotes always does.
    pub nulls: Vec<String>,
    /// The lines that are comments.
    pub comment: Comment,
    /// True for exported files: every line is data, blanks belong to fields, and a key in quotes may be
    /// empty.
    pub exact: bool,
    /// True to return each entry off the diagonal of a symmetric matrix a second time, turned around; in a
    /// skew-symmetric matrix with the opposite weight.
    pub both_ways: bool,
    /// True if rows and columns of a matrix may be vertices of two sets, so that it need not be square.
    pub two_sets: bool,
}

/// An unknown name of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {name:?}; known are csv, tsv, snap, temporal, e, el, wel, gr, mtx")]
pub struct FormatError {
    /// The name.
    pub name: String,
}

impl EdgeFormat {
    /// Returns the format of comma-separated values.
    pub fn csv() -> Self {
        EdgeFormat { delimiter: Delimiter::Byte(b','), ..EdgeFormat::default() }
    }

    /// Returns the format of tab-separated values.
    pub fn tsv() -> Self {
        EdgeFormat { delimiter: Delimiter::Byte(b'\t'), ..EdgeFormat::default() }
    }

    /// Returns the format of SNAP text: `SRC DST` separated by blanks, `#` before comments.
    pub fn snap() -> Self {
        EdgeFormat { delimiter: Delimiter::Whitespace, header: Header::No, ..EdgeFormat::default() }
    }

    /// Returns the format of SNAP text with times: `SRC DST TIME`.
    pub fn temporal() -> Self {
        EdgeFormat { time: Some(Column::Index(2)), ..EdgeFormat::snap() }
    }

    /// Returns the format of Graphalytics `.e` and GAP `.el`: `SRC DST`, with a weight in rows that have a
    /// third field.
    pub fn edge_list() -> Self {
        EdgeFormat { weight: Some(Column::IfPresent(2)), ..EdgeFormat::snap() }
    }

    /// Returns the format of GAP `.wel`: `SRC DST WEIGHT`.
    pub fn weighted_edge_list() -> Self {
        EdgeFormat { weight: Some(Column::Index(2)), ..EdgeFormat::snap() }
    }

    /// Returns the format of DIMACS `.gr`.
    pub fn dimacs() -> Self {
        EdgeFormat { syntax: Syntax::Dimacs, ..EdgeFormat::edge_list() }
    }

    /// Returns the format of Matrix Market in coordinate format.
    pub fn matrix_market() -> Self {
        EdgeFormat { syntax: Syntax::MatrixMarket, ..EdgeFormat::snap() }
    }

    /// Returns the position of the source (0) or the destination (1) if neither the format nor a header gives
    /// it. A column with another meaning, for instance labels, is skipped.
    pub(super) fn usual_key(&self, end: usize) -> usize {
        let others = self.extra.iter().chain(&self.weight).chain(&self.time);
        let taken: Vec<usize> = others.filter_map(Column::position).collect();
        let mut free = (0..).filter(|at| !taken.contains(at));
        let keys = [free.next().unwrap_or(0), free.next().unwrap_or(1)];
        let other = [&self.dst, &self.src][end].as_ref().and_then(Column::position);
        if other == Some(keys[end]) { keys[1 - end] } else { keys[end] }
    }

    /// Returns the usual format of files named like `path`, compressed or not; [`EdgeFormat::default`] for
    /// unknown names.
    pub fn of_path(path: &Path) -> Self {
        let compressed = matches!(path.extension().and_then(|e| e.to_str()), Some("gz" | "zst"));
        let plain = if compressed { path.file_stem().map(Path::new).unwrap_or(path) } else { path };
        match plain.extension().and_then(|e| e.to_str()) {
            Some("txt") | None => EdgeFormat::default(),
            Some(extension) => extension.parse().unwrap_or_default(),
        }
    }
}

impl FromStr for EdgeFormat {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        match name {
            "csv" => Ok(EdgeFormat::csv()),
            "tsv" => Ok(EdgeFormat::tsv()),
            "snap" | "txt" => Ok(EdgeFormat::snap()),
            "temporal" => Ok(EdgeFormat::temporal()),
            "e" | "el" => Ok(EdgeFormat::edge_list()),
            "wel" => Ok(EdgeFormat::weighted_edge_list()),
            "gr" => Ok(EdgeFormat::dimacs()),
            "mtx" => Ok(EdgeFormat::matrix_market()),
            _ => Err(FormatError { name: name.to_owned() }),
        }
    }
}
