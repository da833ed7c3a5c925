//! `hedgerow load`.
//!
//! A load that meets a malformed row which it must not pass, or cannot read a file to its end, leaves a store as it was.
//! Into a store that was there before, every file is read twice: first to check every row, then to load. A new store is
//! loaded while the rows are checked, and removed after a failure; only labels that a column names are looked up before.

mod beside;
mod directory;
mod input;
mod report;
mod rows;
mod write;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::ValueEnum;
use hedgerow::{Durability, Graph, KeyKind, Options};
use hedgerow_workload::read::{Column, Delimiter};

use crate::error::CliError;
use crate::output::Style;
use crate::store::is_vacant;
use input::Input;
use report::Clock;
use rows::{OnError, Rejects, Rules};

/// Arguments of `load`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("labelled").args(["label", "label_column"]))]
pub(crate) struct LoadArgs {
    /// The directory of the store
    store: PathBuf,
    /// Files to load, in this order, those of gzip and zstd decompressed on the way; - for standard input; or one
    /// directory that an export wrote
    #[arg(required_unless_present = "vertices", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A file of vertices with properties, loaded first: under a header, the key and then a column for each property,
    /// named NAME:TYPE; the types are bool, i64, f64, utf8, bytes and timestamp (microseconds since 1970)
    #[arg(long, value_name = "FILE")]
    vertices: Vec<PathBuf>,
    /// The label of the edges; weights are then its property weight
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// The column of each edge's label; labels are defined in the order in which they come
    #[arg(long, value_name = "COLUMN", value_parser = input::column, conflicts_with = "label")]
    label_column: Option<Column>,
    /// Labels may have several edges between two vertices, told apart by rank; without --rank they are counted on
    #[arg(long, requires = "labelled")]
    multi: bool,
    /// The column of the rank, a whole number from 0; such a label is multi
    #[arg(long, value_name = "COLUMN", value_parser = input::column, requires = "labelled")]
    rank: Option<Column>,
    /// A property of the edges: its name and type, and its column if that is named otherwise; may be repeated
    #[arg(long, value_name = "NAME:TYPE[=COLUMN]", value_parser = input::edge_property)]
    property: Vec<input::EdgeProperty>,
    /// How the files are laid out; auto goes by the name of each, and by its first 1,000 lines
    #[arg(long, value_enum, default_value_t = FileFormat::Auto)]
    format: FileFormat,
    /// The first row names the columns
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first row is data
    #[arg(long)]
    no_header: bool,
    /// Lines to leave out before everything else
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// What separates fields: one character, tab, or blanks
    #[arg(long, value_name = "C", value_parser = input::delimiter)]
    delimiter: Option<Delimiter>,
    /// A text without quotes that stands for null, as \N or NULL, beside the empty one; may be repeated
    #[arg(long, value_name = "TEXT")]
    null: Vec<String>,
    /// Edges have a direction (the default of a new store, unless a .properties file says otherwise)
    #[arg(long, conflicts_with = "undirected")]
    directed: bool,
    /// Edges have no direction
    #[arg(long)]
    undirected: bool,
    /// Keep no incoming edges of the vertices of a new directed store: less memory, but incoming neighbors and removals take a look at all vertices
    #[arg(long, conflicts_with = "undirected")]
    no_reverse: bool,
    /// The type of vertex keys; u64 in a new store, or as the store has it
    #[arg(long, value_enum)]
    keys: Option<Keys>,
    /// Edges have a weight, in the column named weight, or in the third one of snap; rows of .e and .el files without
    /// one have weight 1
    #[arg(long)]
    weighted: bool,
    /// The column of the source: its position from 1, or its name in the header
    #[arg(long, value_name = "COLUMN", value_parser = input::column)]
    src_col: Option<Column>,
    /// The column of the destination
    #[arg(long, value_name = "COLUMN", value_parser = input::column)]
    dst_col: Option<Column>,
    /// The column of the weight
    #[arg(long, value_name = "COLUMN", value_parser = input::column)]
    weight_col: Option<Column>,
    /// The column of the time, which is checked, and not stored
    #[arg(long, value_name = "COLUMN", value_parser = input::column)]
    time_col: Option<Column>,
    /// What becomes of malformed rows
    #[arg(long, value_enum, default_value_t = OnError::Raise)]
    on_error: OnError,
    /// What an edge that is there already does to its weight
    #[arg(long, value_enum, default_value_t = Repeat::Last)]
    repeat: Repeat,
    /// Rows per transaction; 0 loads everything in one, of at most 16,777,216 rows
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    batch: usize,
    /// When transactions become durable
    #[arg(long, value_enum, default_value_t = Sync::Manual)]
    durability: Sync,
    /// Leave what was loaded in the log: the next open replays it
    #[arg(long)]
    no_checkpoint: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// By the name of the file
    Auto,
    /// Separated by commas, with or without a header
    Csv,
    /// Separated by tabs, with or without a header
    Tsv,
    /// SRC DST separated by blanks, # before comments
    Snap,
    /// SRC DST TIME separated by blanks
    Temporal,
    /// A .properties file with its .v and .e, or one of those two
    Graphalytics,
    /// One vertex a line: the first field, or with str keys the whole line
    Vertices,
    /// SRC DST [WEIGHT] separated by blanks
    El,
    /// SRC DST WEIGHT separated by blanks
    Wel,
    /// DIMACS shortest-path files
    Gr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keys {
    /// Whole numbers below 2^64
    U64,
    /// Text
    Str,
    /// Whole numbers from 0, without gaps as a rule; no map of keys is kept
    Dense,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repeat {
    /// The new weight holds
    Last,
    /// The old weight holds
    First,
    /// Weights are added
    Sum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sync {
    /// Each before the next begins
    Sync,
    /// All of them at the end
    Manual,
}

/// Loads files into a store.
pub(crate) fn load(args: &LoadArgs, style: Style) -> Result<(), CliError> {
    let clock = Clock::start();
    if let [directory] = &args.files[..]
        && directory.is_dir()
    {
        return directory::load(args, directory, style, clock);
    }
    let mut inputs = input::inputs(args)?;
    let existing = open_existing(args, options(args, &inputs))?;
    let config = existing.as_ref().map(Graph::config);
    let asked = is_weighted(args, &inputs);
    let labelled = is_labelled(args);
    let weighted = if labelled { asked } else { config.map_or(asked, |config| config.weighted) };
    if args.repeat == Repeat::Sum && (labelled || !args.property.is_empty()) {
        return Err(CliError::Usage("--repeat sum: not with --label or --property".to_owned()));
    }
    if args.repeat == Repeat::Sum && !weighted {
        return Err(CliError::Usage("--repeat sum: the graph has no weights (see --weighted)".to_owned()));
    }
    let kind = config.map_or(key_kind(args).unwrap_or(KeyKind::U64), |config| config.keys);
    let rules = Rules { kind, finite: args.repeat == Repeat::Sum, on_error: args.on_error };
    let mut rejects = Rejects::default();
    let checks = existing.is_some() || args.label_column.is_some();
    for input in &mut inputs {
        input.settle(args, kind, weighted)?;
        if checks {
            input.labels = rows::validate(input, &rules, &mut rejects)?.labels;
        }
    }
    let unchecked = (!checks).then_some(&mut rejects);
    let loaded = match existing {
        Some(graph) => write::into_existing(graph, args, &inputs, &rules)?,
        None => write::into_new(options(args, &inputs), args, &inputs, &rules, unchecked)?,
    };
    report::print(&loaded, &inputs, &rejects, &rules, clock, style)
}

/// Opens the store if there is one: its keys decide what is malformed, and a locked one needs no reading.
fn open_existing(args: &LoadArgs, options: Options) -> Result<Option<Graph>, CliError> {
    if is_vacant(&args.store) { Ok(None) } else { Ok(Some(options.create(false).open(&args.store)?)) }
}

/// Whether edges get another label than the default one.
fn is_labelled(args: &LoadArgs) -> bool {
    args.label_column.is_some() || args.label.as_ref().is_some_and(|label| !label.is_empty())
}

fn durability(args: &LoadArgs) -> Durability {
    match args.durability {
        Sync::Sync => Durability::Sync,
        Sync::Manual => Durability::Manual,
    }
}

/// How the store is opened: what the arguments leave open is as the store has it.
fn options(args: &LoadArgs, inputs: &[Input]) -> Options {
    let mut options = Options::new().durability(durability(args));
    let stated = inputs.iter().find_map(|input| input.directed);
    if let Some(directed) = (args.directed || args.undirected).then_some(args.directed).or(stated) {
        options = options.directed(directed);
    }
    if let Some(kind) = key_kind(args) {
        options = options.keys(kind);
    }
    if args.no_reverse {
        options = options.reverse(false);
    }
    if is_weighted(args, inputs) && !is_labelled(args) {
        options = options.weighted(true);
    }
    options
}

fn key_kind(args: &LoadArgs) -> Option<KeyKind> {
    args.keys.map(|keys| match keys {
        Keys::U64 => KeyKind::U64,
        Keys::Str => KeyKind::Str,
        Keys::Dense => KeyKind::Dense,
    })
}

/// Whether weights are asked for: by name, by column, or by the properties of a graph.
fn is_weighted(args: &LoadArgs, inputs: &[Input]) -> bool {
    args.weighted || args.weight_col.is_some() || inputs.iter().any(|input| input.weighted)
}
