//! The arguments of `hedgerow load`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use hedgerow::{Durability, KeyKind};
use hedgerow_load::{
    EdgeProperty, FileFormat, LoadOptions, OnError, Repeat, StoreOptions, parse_column, parse_comment,
    parse_delimiter, parse_edge_property,
};
use hedgerow_workload::read::{Column, Comment, Delimiter};

/// Arguments of `load`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("labelled").args(["label", "label_column"]))]
pub(crate) struct LoadArgs {
    /// The directory of the store
    pub(super) store: PathBuf,
    /// Files to load, in this order (gzip and zstd files are decompressed); - for standard input; or one
    /// directory that an export wrote
    #[arg(required_unless_present = "vertices", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A file of vertices with properties, loaded before edges. It has a header: the key, then a column for
    /// each property, named NAME:TYPE; the types are bool, i64, f64, utf8, bytes and timestamp (a date), or
    /// timestamp_s, _ms, _us, _ns for numbers of these units since 1970
    #[arg(long, value_name = "FILE")]
    vertices: Vec<PathBuf>,
    /// The kind of the vertices in the files of vertices, defined if it is new; each kind has its own keys
    /// and properties. Without a file of vertices: a kind that --from or --to names, for --kind-keys
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// The type of the keys of that kind; by default u64 for a new kind, and the stored type for an existing
    /// one
    #[arg(long, value_enum, value_name = "KEYS", requires = "kind")]
    kind_keys: Option<KindKeys>,
    /// The kind of the source vertices, which the label states from now on; "" is the default kind
    #[arg(long, value_name = "KIND", requires_all = ["labelled", "to"])]
    from: Option<String>,
    /// The kind of the destinations of the edges
    #[arg(long, value_name = "KIND", requires_all = ["labelled", "from"])]
    to: Option<String>,
    /// The column of the kind of each source, empty for the default kind; the label then states no kinds
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, requires = "to_column", conflicts_with = "from")]
    from_column: Option<Column>,
    /// The column of the kind of each destination
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, requires = "from_column", conflicts_with = "to")]
    to_column: Option<Column>,
    /// The label of the edges; their weights become its property weight
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// The column of each edge's label; labels are defined in the order of their first rows
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, conflicts_with = "label")]
    label_column: Option<Column>,
    /// Labels may have several edges between two vertices, distinguished by rank; without --rank the ranks
    /// are counted up
    #[arg(long, requires = "labelled")]
    multi: bool,
    /// The column of the rank, a whole number from 0; the label becomes multi
    #[arg(long, value_name = "COLUMN", value_parser = parse_column, requires = "labelled")]
    rank: Option<Column>,
    /// A property of the edges: NAME:TYPE as in --vertices, then =COLUMN if the column has another name; may
    /// be repeated
    #[arg(long, value_name = "NAME:TYPE[=COLUMN]", value_parser = parse_edge_property)]
    property: Vec<EdgeProperty>,
    /// The layout of the files; auto detects it from the name of each file and its first 1,000 lines
    #[arg(long, value_enum, default_value_t = Format(FileFormat::Auto))]
    format: Format,
    /// The first row names the columns
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first row is data
    #[arg(long)]
    no_header: bool,
    /// Skip this many lines at the start of each file
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// The separator of fields: one character, tab, or blanks
    #[arg(long, value_name = "C", value_parser = parse_delimiter)]
    delimiter: Option<Delimiter>,
    /// A text without quotes that means null, such as \N or NULL; an empty field always does; may be repeated
    #[arg(long, value_name = "TEXT")]
    null: Vec<String>,
    /// The character with which comments begin; none if every line is data [default: # and %]
    #[arg(long, value_name = "C|none", value_parser = parse_comment)]
    comment: Option<Comment>,
    /// Edges have a direction (the default of a new store, unless a .properties file or a symmetric matrix
    /// states the opposite)
    #[arg(long, conflicts_with = "undirected")]
    directed: bool,
    /// Edges have no direction
    #[arg(long)]
    undirected: bool,
    /// Do not store incoming edges in a new directed store: it takes less memory, but incoming neighbors and
    /// removals search all vertices
    #[arg(long, conflicts_with = "undirected")]
    no_reverse: bool,
    /// The type of vertex keys; by default u64 for a new store, and the stored type for an existing one
    #[arg(long, value_enum)]
    keys: Option<Keys>,
    /// Edges have a weight, in the column named weight, or in the third column of snap files; rows of .e and
    /// .el files without one have weight 1
    #[arg(long)]
    weighted: bool,
    /// The column of the source: its position from 1, or its name in the header
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    src_col: Option<Column>,
    /// The column of the destination
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    dst_col: Option<Column>,
    /// The column of the weight
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    weight_col: Option<Column>,
    /// The column of the time, which is checked, and not stored
    #[arg(long, value_name = "COLUMN", value_parser = parse_column)]
    time_col: Option<Column>,
    /// The treatment of malformed rows
    #[arg(long, value_enum, default_value_t = OnErrorArg::Raise)]
    on_error: OnErrorArg,
    /// The weight of an edge that occurs again
    #[arg(long, value_enum, default_value_t = RepeatArg::Last)]
    repeat: RepeatArg,
    /// Rows per transaction; 0 loads all rows in one transaction, of at most 16,777,216 rows
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    batch: usize,
    /// The moment at which transactions become durable
    #[arg(long, value_enum, default_value_t = Sync::Manual)]
    durability: Sync,
    /// Do not write a checkpoint: the loaded rows stay in the log, and the next open replays them
    #[arg(long)]
    no_checkpoint: bool,
    /// The permissions of the files of a new store, in octal: 640 lets the group read [default: 600]
    #[arg(long, value_name = "OCTAL", value_parser = mode)]
    mode: Option<u32>,
}

/// Reads permissions in the octal form of `chmod`.
fn mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| "permissions are octal digits, as 640".to_owned())
}

/// A layout on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Format(FileFormat);

/// All layouts, for the parser.
static FORMATS: [Format; FileFormat::ALL.len()] = {
    let mut formats = [Format(FileFormat::Auto); FileFormat::ALL.len()];
    let mut at = 0;
    while at < formats.len() {
        formats[at] = Format(FileFormat::ALL[at].1);
        at += 1;
    }
    formats
};

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            FileFormat::Auto => "Detected from the name of the file",
            FileFormat::Csv => "Separated by commas, with or without a header",
            FileFormat::Tsv => "Separated by tabs, with or without a header",
            FileFormat::Snap => "SRC DST separated by blanks, # before comments",
            FileFormat::Temporal => "SRC DST TIME separated by blanks",
            FileFormat::Graphalytics => {
                "A .properties file with its .v and .e files, or one of those two files"
            }
            FileFormat::Vertices => {
                "One vertex per line: the first field is its key, or with str keys the whole line"
            }
            FileFormat::El => "SRC DST [WEIGHT] separated by blanks",
            FileFormat::Wel => "SRC DST WEIGHT separated by blanks",
            FileFormat::Gr => "DIMACS shortest-path files",
            FileFormat::Mtx => "Matrix Market in coordinate format: entries are edges, their values weights",
            FileFormat::Konect => {
                "The out.* file of a Konect network, whose first line says what its columns are"
            }
            FileFormat::AsRel => "AS|AS|RELATIONSHIP, as CAIDA publishes relationships of autonomous systems",
            FileFormat::Ldbc => {
                "Files of LDBC's Social Network Benchmark, by their names, or a directory of them"
            }
            FileFormat::Graphml => {
                "GraphML: nodes and edges with data, whose keys state their names and types"
            }
            _ => return None,
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keys {
    /// Whole numbers below 2^64
    U64,
    /// Text
    Str,
    /// Whole numbers from 0, usually without gaps; the store keeps no map of keys
    Dense,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindKeys {
    /// Whole numbers below 2^64
    U64,
    /// Text
    Str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RepeatArg {
    /// The edge gets the new weight
    Last,
    /// The edge retains the old weight
    First,
    /// Weights are added
    Sum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sync {
    /// Each transaction is durable before the next one begins
    Sync,
    /// All transactions become durable when the load finishes
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnErrorArg {
    /// The first one fails the load; nothing is loaded
    Raise,
    /// Malformed rows are left out and counted; the first one is described
    Skip,
    /// Malformed rows are left out; up to 1,000 of them are described
    Collect,
}

impl LoadArgs {
    /// Returns the options of the store.
    pub(super) fn store_options(&self) -> StoreOptions {
        let mut store = StoreOptions::default();
        store.keys = self.keys.map(|keys| match keys {
            Keys::U64 => KeyKind::U64,
            Keys::Str => KeyKind::Str,
            Keys::Dense => KeyKind::Dense,
        });
        store.directed = (self.directed || self.undirected).then_some(self.directed);
        store.reverse = !self.no_reverse;
        store.durability = match self.durability {
            Sync::Sync => Durability::Sync,
            Sync::Manual => Durability::Manual,
        };
        store.checkpoint = !self.no_checkpoint;
        store.mode = self.mode;
        store
    }

    /// Returns the options of the load.
    pub(super) fn load_options(&self) -> LoadOptions {
        let mut load = LoadOptions::default();
        load.files.clone_from(&self.files);
        load.vertices.clone_from(&self.vertices);
        load.kind.clone_from(&self.kind);
        load.kind_keys = self.kind_keys.map(|keys| match keys {
            KindKeys::U64 => KeyKind::U64,
            KindKeys::Str => KeyKind::Str,
        });
        load.from.clone_from(&self.from);
        load.to.clone_from(&self.to);
        load.from_column.clone_from(&self.from_column);
        load.to_column.clone_from(&self.to_column);
        load.label.clone_from(&self.label);
        load.label_column.clone_from(&self.label_column);
        load.multi = self.multi;
        load.rank.clone_from(&self.rank);
        load.property.clone_from(&self.property);
        load.format = self.format.0;
        load.header = (self.header || self.no_header).then_some(self.header);
        load.skip = self.skip;
        load.delimiter = self.delimiter;
        load.null.clone_from(&self.null);
        load.comment = self.comment;
        load.weighted = self.weighted;
        load.src_col.clone_from(&self.src_col);
        load.dst_col.clone_from(&self.dst_col);
        load.weight_col.clone_from(&self.weight_col);
        load.time_col.clone_from(&self.time_col);
        load.on_error = match self.on_error {
            OnErrorArg::Raise => OnError::Raise,
            OnErrorArg::Skip => OnError::Skip,
            OnErrorArg::Collect => OnError::Collect,
        };
        load.repeat = match self.repeat {
            RepeatArg::Last => Repeat::Last,
            RepeatArg::First => Repeat::First,
            RepeatArg::Sum => Repeat::Sum,
        };
        load.batch = self.batch;
        load
    }
}
