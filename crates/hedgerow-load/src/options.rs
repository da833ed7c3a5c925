//! The options of a load.

use std::path::PathBuf;

use hedgerow::{Durability, KeyKind};
use hedgerow_workload::read::{Column, Comment, Delimiter};

use crate::property::ColumnType;

/// The options of a load. Messages name them as the command line spells them: `--weight-col` is
/// [`weight_col`](Self::weight_col).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The files to load, in this order; `-` is standard input. One directory is an export, or a directory of
    /// LDBC's files.
    pub files: Vec<PathBuf>,
    /// Files of vertices with properties, loaded before edges.
    pub vertices: Vec<PathBuf>,
    /// The kind of the vertices in the files of vertices.
    pub kind: Option<String>,
    /// The type of the keys of that kind, if it is new.
    pub kind_keys: Option<KeyKind>,
    /// The kind of the sources, which the label states from now on; needs `to` and a label.
    pub from: Option<String>,
    /// The kind of the destinations.
    pub to: Option<String>,
    /// The column of the kind of each source; needs `to_column`.
    pub from_column: Option<Column>,
    /// The column of the kind of each destination.
    pub to_column: Option<Column>,
    /// The label of the edges.
    pub label: Option<String>,
    /// The column of each edge's label.
    pub label_column: Option<Column>,
    /// True if labels may have several edges between two vertices; needs a label.
    pub multi: bool,
    /// The column of the rank; needs a label.
    pub rank: Option<Column>,
    /// The properties of the edges.
    pub property: Vec<EdgeProperty>,
    /// The layout of the files.
    pub format: FileFormat,
    /// True if the first row names the columns, false if it is data; `None` detects it.
    pub header: Option<bool>,
    /// The number of lines to skip at the start of each file.
    pub skip: u64,
    /// The separator of fields; `None` detects it.
    pub delimiter: Option<Delimiter>,
    /// The texts without quotes that mean null, besides the empty one.
    pub null: Vec<String>,
    /// The lines that are comments.
    pub comment: Option<Comment>,
    /// True if the edges have a weight.
    pub weighted: bool,
    /// The column of the source.
    pub src_col: Option<Column>,
    /// The column of the destination.
    pub dst_col: Option<Column>,
    /// The column of the weight.
    pub weight_col: Option<Column>,
    /// The column of the time, which is checked, and not stored.
    pub time_col: Option<Column>,
    /// The treatment of malformed rows.
    pub on_error: OnError,
    /// The treatment of an edge that occurs again.
    pub repeat: Repeat,
    /// The number of rows of a transaction; 0 is one transaction for all.
    pub batch: usize,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            files: Vec::new(),
            vertices: Vec::new(),
            kind: None,
            kind_keys: None,
            from: None,
            to: None,
            from_column: None,
            to_column: None,
            label: None,
            label_column: None,
            multi: false,
            rank: None,
            property: Vec::new(),
            format: FileFormat::Auto,
            header: None,
            skip: 0,
            delimiter: None,
            null: Vec::new(),
            comment: None,
            weighted: false,
            src_col: None,
            dst_col: None,
            weight_col: None,
            time_col: None,
            on_error: OnError::Raise,
            repeat: Repeat::Last,
            batch: LoadOptions::BATCH,
        }
    }
}

impl LoadOptions {
    /// The default number of rows of a transaction.
    pub const BATCH: usize = 65_536;

    /// Returns the first of these options that is given; an empty list means all except files and `--batch`.
    pub(crate) fn given(&self, names: &[&str]) -> Option<&'static str> {
        let given = [
            ("--vertices", !self.vertices.is_empty()),
            ("--kind", self.kind.is_some()),
            ("--from", self.from.is_some()),
            ("--from-column", self.from_column.is_some()),
            ("--label", self.label.is_some()),
            ("--label-column", self.label_column.is_some()),
            ("--multi", self.multi),
            ("--rank", self.rank.is_some()),
            ("--property", !self.property.is_empty()),
            ("--format", self.format != FileFormat::Auto),
            ("--header", self.header == Some(true)),
            ("--no-header", self.header == Some(false)),
            ("--skip", self.skip != 0),
            ("--delimiter", self.delimiter.is_some()),
            ("--null", !self.null.is_empty()),
            ("--comment", self.comment.is_some()),
            ("--weighted", self.weighted),
            ("--src-col", self.src_col.is_some()),
            ("--dst-col", self.dst_col.is_some()),
            ("--weight-col", self.weight_col.is_some()),
            ("--time-col", self.time_col.is_some()),
            ("--on-error", self.on_error != OnError::Raise),
            ("--repeat", self.repeat != Repeat::Last),
        ];
        let is_asked = |name: &str| names.is_empty() || names.contains(&name);
        given.into_iter().find(|(name, given)| *given && is_asked(name)).map(|(name, _)| name)
    }

    /// True if an option says what the column at this position is.
    pub(crate) fn takes(&self, position: usize) -> bool {
        let columns = [&self.src_col, &self.dst_col, &self.weight_col, &self.time_col, &self.rank];
        let others = [&self.from_column, &self.to_column, &self.label_column];
        columns.into_iter().chain(others).flatten().any(|column| *column == Column::Index(position))
    }

    /// Returns an option that needs another one which is absent, or contradicts another one, with the reason.
    pub(crate) fn fault(&self) -> Option<String> {
        let labelled = self.label.is_some() || self.label_column.is_some();
        let pairs = [
            ("--kind-keys: needs --kind", self.kind_keys.is_some() && self.kind.is_none()),
            ("--from: needs --to", self.from.is_some() && self.to.is_none()),
            ("--to: needs --from", self.to.is_some() && self.from.is_none()),
            ("--from: needs --label or --label-column", self.from.is_some() && !labelled),
            ("--from-column: needs --to-column", self.from_column.is_some() && self.to_column.is_none()),
            ("--to-column: needs --from-column", self.to_column.is_some() && self.from_column.is_none()),
            ("--from-column: not with --from", self.from_column.is_some() && self.from.is_some()),
            ("--label-column: not with --label", self.label.is_some() && self.label_column.is_some()),
            ("--multi: needs --label or --label-column", self.multi && !labelled),
            ("--rank: needs --label or --label-column", self.rank.is_some() && !labelled),
            ("FILE: no file to load", self.files.is_empty() && self.vertices.is_empty()),
        ];
        pairs.into_iter().find(|(_, wrong)| *wrong).map(|(why, _)| why.to_owned())
    }
}

/// The options of the store that a load opens or creates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreOptions {
    /// The type of vertex keys; `None` is `u64` for a new store, and the stored type for an existing one.
    pub keys: Option<KeyKind>,
    /// True if edges have a direction; `None` leaves it to the files, then to the store.
    pub directed: Option<bool>,
    /// False to store no incoming edges in a new directed store.
    pub reverse: bool,
    /// The durability of each transaction.
    pub durability: Durability,
    /// True to write a checkpoint at the end.
    pub checkpoint: bool,
    /// The permissions of the files of a new store.
    pub mode: Option<u32>,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            keys: None,
            directed: None,
            reverse: true,
            durability: Durability::Manual,
            checkpoint: true,
            mode: None,
        }
    }
}

/// The options about the lines of files.
pub(crate) const LINES: [&str; 6] =
    ["--header", "--no-header", "--skip", "--delimiter", "--null", "--comment"];

/// The layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Detected from the name of the file and its first lines.
    Auto,
    /// Separated by commas, with or without a header.
    Csv,
    /// Separated by tabs, with or without a header.
    Tsv,
    /// Source and destination between blanks, `#` before comments.
    Snap,
    /// Source, destination and time between blanks.
    Temporal,
    /// A `.properties` file with its `.v` and `.e` files, or one of those two files.
    Graphalytics,
    /// One vertex per line.
    Vertices,
    /// Source, destination and perhaps a weight between blanks.
    El,
    /// Source, destination and weight between blanks.
    Wel,
    /// DIMACS shortest-path files.
    Gr,
    /// Matrix Market in coordinate format.
    Mtx,
    /// The `out.*` file of a Konect network.
    Konect,
    /// Relationships of autonomous systems: `AS|AS|RELATIONSHIP`.
    AsRel,
    /// Files of LDBC's Social Network Benchmark.
    Ldbc,
    /// GraphML.
    Graphml,
}

impl FileFormat {
    /// All formats, with the names that the command line has for them.
    pub const ALL: [(&'static str, FileFormat); 15] = [
        ("auto", FileFormat::Auto),
        ("csv", FileFormat::Csv),
        ("tsv", FileFormat::Tsv),
        ("snap", FileFormat::Snap),
        ("temporal", FileFormat::Temporal),
        ("graphalytics", FileFormat::Graphalytics),
        ("vertices", FileFormat::Vertices),
        ("el", FileFormat::El),
        ("wel", FileFormat::Wel),
        ("gr", FileFormat::Gr),
        ("mtx", FileFormat::Mtx),
        ("konect", FileFormat::Konect),
        ("as-rel", FileFormat::AsRel),
        ("ldbc", FileFormat::Ldbc),
        ("graphml", FileFormat::Graphml),
    ];

    /// Returns the name of the format. O(1).
    pub fn name(self) -> &'static str {
        FileFormat::ALL.iter().find(|(_, format)| *format == self).map_or("auto", |(name, _)| name)
    }
}

/// The edge that stays if one occurs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The edge gets the new weight and properties.
    Last,
    /// The edge retains the old ones.
    First,
    /// Weights are added.
    Sum,
}

/// The treatment of malformed rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The first one fails the load; nothing is loaded.
    Raise,
    /// Malformed rows are left out and counted; the first one is described.
    Skip,
    /// Malformed rows are left out; up to 1,000 of them are described.
    Collect,
}

/// A property of edges, and its column.
#[derive(Clone, Debug)]
pub struct EdgeProperty {
    /// The name of the property.
    pub name: String,
    /// The type of its column.
    pub kind: ColumnType,
    /// The column.
    pub column: Column,
}

/// Parses a column: a number is a position from 1, another text a name. O(length).
///
/// # Errors
/// The fault in the text.
pub fn parse_column(text: &str) -> Result<Column, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("columns count from 1".to_owned()),
        Ok(position) => Ok(Column::Index(position - 1)),
        Err(_) if text.is_empty() => Err("a position from 1 or a name is needed".to_owned()),
        Err(_) => Ok(Column::Name(text.to_owned())),
    }
}

/// Parses the choice of comments: one character, or `none`. O(length).
///
/// # Errors
/// The fault in the text.
pub fn parse_comment(text: &str) -> Result<Comment, String> {
    match (text, text.as_bytes()) {
        ("none", _) => Ok(Comment::None),
        (_, [byte]) if byte.is_ascii_punctuation() && *byte != b'"' => Ok(Comment::Byte(*byte)),
        _ => {
            Err("one ASCII character that is no letter, digit, blank or quote is needed, or none".to_owned())
        }
    }
}

/// Parses a delimiter: one character, `tab` or `blanks`. O(length).
///
/// # Errors
/// The fault in the text.
pub fn parse_delimiter(text: &str) -> Result<Delimiter, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t" | "\t", _) => Ok(Delimiter::Byte(b'\t')),
        ("blanks" | " ", _) => Ok(Delimiter::Whitespace),
        (_, [b'"' | b'\r' | b'\n' | 0]) => Err("a quote or a line break cannot separate fields".to_owned()),
        (_, [byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(Delimiter::Byte(*byte)),
        _ => Err("one ASCII character that is no letter or digit is needed, or tab, or blanks".to_owned()),
    }
}

/// Parses `NAME:TYPE`, followed by `=COLUMN` if the column has another name than the property. O(length).
///
/// # Errors
/// The fault in the text.
pub fn parse_edge_property(text: &str) -> Result<EdgeProperty, String> {
    let (head, from) = text.split_once('=').map_or((text, None), |(head, from)| (head, Some(from)));
    let (name, kind) = crate::property::parse_header(head)?;
    let column = from.map_or_else(|| Ok(Column::Name(name.clone())), parse_column)?;
    Ok(EdgeProperty { name, kind, column })
}
