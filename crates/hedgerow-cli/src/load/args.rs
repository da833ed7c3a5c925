//! The arguments of `hedgerow load`.

use std::path::PathBuf;

use clap::ValueEnum;
use hedgerow::{Durability, KeyKind, Options};
use hedgerow_workload::read::{Column, Comment, Delimiter};

use crate::property::{self, ColumnType};

/// Arguments of `load`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("labelled").args(["label", "label_column"]))]
pub(crate) struct LoadArgs {
    /// The directory of the store
    pub(super) store: PathBuf,
    /// Files to load, in this order (gzip and zstd files are decompressed); - for standard input; or one
    /// directory that an export wrote
    #[arg(required_unless_present = "vertices", value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// A file of vertices with properties, loaded before edges. It has a header: the key, then a column for
    /// each property, named NAME:TYPE; the types are bool, i64, f64, utf8, bytes and timestamp (a date), or
    /// timestamp_s, _ms, _us, _ns for numbers of these units since 1970
    #[arg(long, value_name = "FILE")]
    pub(super) vertices: Vec<PathBuf>,
    /// The kind of the vertices in the files of vertices, defined if it is new; each kind has its own keys
    /// and properties. Without a file of vertices: a kind that --from or --to names, for --kind-keys
    #[arg(long, value_name = "NAME")]
    pub(super) kind: Option<String>,
    /// The type of the keys of that kind; by default u64 for a new kind, and the stored type for an existing
    /// one
    #[arg(long, value_enum, value_name = "KEYS", requires = "kind")]
    pub(super) kind_keys: Option<KindKeys>,
    /// The kind of the source vertices, which the label states from now on; "" is the default kind
    #[arg(long, value_name = "KIND", requires_all = ["labelled", "to"])]
    pub(super) from: Option<String>,
    /// The kind of the destinations of the edges
    #[arg(long, value_name = "KIND", requires_all = ["labelled", "from"])]
    pub(super) to: Option<String>,
    /// The column of the kind of each source, empty for the default kind; the label then states no kinds
    #[arg(long, value_name = "COLUMN", value_parser = column, requires = "to_column", conflicts_with = "from")]
    pub(super) from_column: Option<Column>,
    /// The column of the kind of each destination
    #[arg(long, value_name = "COLUMN", value_parser = column, requires = "from_column", conflicts_with = "to")]
    pub(super) to_column: Option<Column>,
    /// The label of the edges; their weights become its property weight
    #[arg(long, value_name = "NAME")]
    pub(super) label: Option<String>,
    /// The column of each edge's label; labels are defined in the order of their first rows
    #[arg(long, value_name = "COLUMN", value_parser = column, conflicts_with = "label")]
    pub(super) label_column: Option<Column>,
    /// Labels may have several edges between two vertices, distinguished by rank; without --rank the ranks
    /// are counted up
    #[arg(long, requires = "labelled")]
    pub(super) multi: bool,
    /// The column of the rank, a whole number from 0; the label becomes multi
    #[arg(long, value_name = "COLUMN", value_parser = column, requires = "labelled")]
    pub(super) rank: Option<Column>,
    /// A property of the edges: NAME:TYPE as in --vertices, then =COLUMN if the column has another name; may
    /// be repeated
    #[arg(long, value_name = "NAME:TYPE[=COLUMN]", value_parser = edge_property)]
    pub(super) property: Vec<EdgeProperty>,
    /// The layout of the files; auto detects it from the name of each file and its first 1,000 lines
    #[arg(long, value_enum, default_value_t = FileFormat::Auto)]
    pub(super) format: FileFormat,
    /// The first row names the columns
    #[arg(long, conflicts_with = "no_header")]
    pub(super) header: bool,
    /// The first row is data
    #[arg(long)]
    pub(super) no_header: bool,
    /// Skip this many lines at the start of each file
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) skip: u64,
    /// The separator of fields: one character, tab, or blanks
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub(super) delimiter: Option<Delimiter>,
    /// A text without quotes that means null, such as \N or NULL; an empty field always does; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Vec<String>,
    /// The character with which comments begin; none if every line is data [default: # and %]
    #[arg(long, value_name = "C|none", value_parser = comment)]
    pub(super) comment: Option<Comment>,
    /// Edges have a direction (the default of a new store, unless a .properties file or a symmetric matrix
    /// states the opposite)
    #[arg(long, conflicts_with = "undirected")]
    pub(super) directed: bool,
    /// Edges have no direction
    #[arg(long)]
    pub(super) undirected: bool,
    /// Do not store incoming edges in a new directed store: it takes less memory, but incoming neighbors and
    /// removals search all vertices
    #[arg(long, conflicts_with = "undirected")]
    pub(super) no_reverse: bool,
    /// The type of vertex keys; by default u64 for a new store, and the stored type for an existing one
    #[arg(long, value_enum)]
    pub(super) keys: Option<Keys>,
    /// Edges have a weight, in the column named weight, or in the third column of snap files; rows of .e and
    /// .el files without one have weight 1
    #[arg(long)]
    pub(super) weighted: bool,
    /// The column of the source: its position from 1, or its name in the header
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(super) src_col: Option<Column>,
    /// The column of the destination
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(super) dst_col: Option<Column>,
    /// The column of the weight
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(super) weight_col: Option<Column>,
    /// The column of the time, which is checked, and not stored
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(super) time_col: Option<Column>,
    /// The treatment of malformed rows
    #[arg(long, value_enum, default_value_t = OnError::Raise)]
    pub(super) on_error: OnError,
    /// The weight of an edge that occurs again
    #[arg(long, value_enum, default_value_t = Repeat::Last)]
    pub(super) repeat: Repeat,
    /// Rows per transaction; 0 loads all rows in one transaction, of at most 16,777,216 rows
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub(super) batch: usize,
    /// The moment at which transactions become durable
    #[arg(long, value_enum, default_value_t = Sync::Manual)]
    pub(super) durability: Sync,
    /// Do not write a checkpoint: the loaded rows stay in the log, and the next open replays them
    #[arg(long)]
    pub(super) no_checkpoint: bool,
    /// The permissions of the files of a new store, in octal: 640 lets the group read [default: 600]
    #[arg(long, value_name = "OCTAL", value_parser = mode)]
    pub(super) mode: Option<u32>,
}

/// Reads permissions in the octal form of `chmod`.
fn mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| "permissions are octal digits, as 640".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Detected from the name of the file
    Auto,
    /// Separated by commas, with or without a header
    Csv,
    /// Separated by tabs, with or without a header
    Tsv,
    /// SRC DST separated by blanks, # before comments
    Snap,
    /// SRC DST TIME separated by blanks
    Temporal,
    /// A .properties file with its .v and .e files, or one of those two files
    Graphalytics,
    /// One vertex per line: the first field is its key, or with str keys the whole line
    Vertices,
    /// SRC DST [WEIGHT] separated by blanks
    El,
    /// SRC DST WEIGHT separated by blanks
    Wel,
    /// DIMACS shortest-path files
    Gr,
    /// Matrix Market in coordinate format: entries are edges, their values weights
    Mtx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Keys {
    /// Whole numbers below 2^64
    U64,
    /// Text
    Str,
    /// Whole numbers from 0, usually without gaps; the store keeps no map of keys
    Dense,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KindKeys {
    /// Whole numbers below 2^64
    U64,
    /// Text
    Str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repeat {
    /// The edge gets the new weight
    Last,
    /// The edge retains the old weight
    First,
    /// Weights are added
    Sum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sync {
    /// Each transaction is durable before the next one begins
    Sync,
    /// All transactions become durable when the load finishes
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// The first one fails the load; nothing is loaded
    Raise,
    /// Malformed rows are left out and counted; the first one is described
    Skip,
    /// Malformed rows are left out; up to 1,000 of them are described
    Collect,
}

/// Returns the options with the permissions that the arguments give a new store.
pub(super) fn with_mode(options: Options, args: &LoadArgs) -> Options {
    match args.mode {
        Some(mode) => options.mode(mode),
        None => options,
    }
}

/// Returns the durability of transactions.
pub(super) fn durability(args: &LoadArgs) -> Durability {
    match args.durability {
        Sync::Sync => Durability::Sync,
        Sync::Manual => Durability::Manual,
    }
}

/// Returns the type of vertex keys, if the arguments state it.
pub(super) fn key_kind(args: &LoadArgs) -> Option<KeyKind> {
    args.keys.map(|keys| match keys {
        Keys::U64 => KeyKind::U64,
        Keys::Str => KeyKind::Str,
        Keys::Dense => KeyKind::Dense,
    })
}

/// Returns the type of the keys of `--kind`, if the arguments state it.
pub(super) fn keys_of_kind(args: &LoadArgs) -> Option<KeyKind> {
    args.kind_keys.map(|keys| match keys {
        KindKeys::U64 => KeyKind::U64,
        KindKeys::Str => KeyKind::Str,
    })
}

/// Parses a column of the command line: a number is a position from 1, another text a name.
fn column(text: &str) -> Result<Column, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("columns count from 1".to_owned()),
        Ok(position) => Ok(Column::Index(position - 1)),
        Err(_) if text.is_empty() => Err("a position from 1 or a name is needed".to_owned()),
        Err(_) => Ok(Column::Name(text.to_owned())),
    }
}

/// Parses the choice of comments of the command line.
fn comment(text: &str) -> Result<Comment, String> {
    match (text, text.as_bytes()) {
        ("none", _) => Ok(Comment::None),
        (_, [byte]) if byte.is_ascii_punctuation() && *byte != b'"' => Ok(Comment::Byte(*byte)),
        _ => {
            Err("one ASCII character that is no letter, digit, blank or quote is needed, or none".to_owned())
        }
    }
}

/// Parses a delimiter of the command line.
fn delimiter(text: &str) -> Result<Delimiter, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(Delimiter::Byte(b'\t')),
        ("blanks" | " ", _) => Ok(Delimiter::Whitespace),
        (_, [b'"' | b'\r' | b'\n' | 0]) => Err("a quote or a line break cannot separate fields".to_owned()),
        (_, [byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(Delimiter::Byte(*byte)),
        _ => Err("one ASCII character that is no letter or digit is needed, or tab, or blanks".to_owned()),
    }
}

/// A property of edges on the command line: `NAME:TYPE`, followed by `=COLUMN` if its column has another
/// name.
#[derive(Clone, Debug)]
pub(super) struct EdgeProperty {
    pub(super) name: String,
    pub(super) kind: ColumnType,
    pub(super) column: Column,
}

/// Reads an [`EdgeProperty`].
fn edge_property(text: &str) -> Result<EdgeProperty, String> {
    let (head, from) = text.split_once('=').map_or((text, None), |(head, from)| (head, Some(from)));
    let (name, kind) = property::parse_header(head)?;
    let column = from.map_or_else(|| Ok(Column::Name(name.clone())), column)?;
    Ok(EdgeProperty { name, kind, column })
}
