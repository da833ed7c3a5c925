//! `hedgerow export`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hedgerow::{Direction, GraphConfig, KindId, Label, LabelId, Schema, Snapshot, VertexKeyRef};
use hedgerow_arrow::TableOptions;
use hedgerow_arrow::files::FileFormat;
use hedgerow_export::names::Names;
use hedgerow_export::rows::{VertexFile, write_edge_rows, write_vertex_rows};
use hedgerow_export::target::Target;
use hedgerow_export::{ExportOptions, tables};

use crate::edge_objects;
use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::{label_to_read, open_read_only};

/// Arguments of `export`.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The directory of the store
    store: PathBuf,
    /// Write everything into this directory, which must not exist or be empty: vertices, the edges of each
    /// label, all properties, and schema.json
    #[arg(value_name = "DIR", conflicts_with_all = ["out", "vertices", "kind", "label", "properties"])]
    dir: Option<PathBuf>,
    /// The form of the files; parquet and arrow have columns with types
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
    /// Divide each table of a directory into at most this many files, by ranges of vertices with about
    /// equally many edges; all files show the same moment
    #[arg(long, value_name = "N", requires = "dir")]
    partitions: Option<NonZeroUsize>,
    /// The file to write; `-` or none for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the vertices too, also those without edges: one key per line, or a table
    #[arg(long, value_name = "FILE")]
    vertices: Option<PathBuf>,
    /// Write the vertices of this kind, needed if vertices have several kinds; "" is the default kind
    #[arg(long, value_name = "NAME", requires = "vertices")]
    kind: Option<String>,
    /// Write the edges of this label, with their ranks if it is multi; "" is the default label [default: the
    /// label of all edges]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Write the properties too, of edges and of vertices; their columns are named NAME:TYPE, in tables NAME
    #[arg(long)]
    properties: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// Comma-separated
    Csv,
    /// Tab-separated
    Tsv,
    /// Parquet, compressed with zstd
    Parquet,
    /// Arrow's IPC format for files
    Arrow,
}

impl ExportFormat {
    /// Returns the format of a table with typed columns; `None` for lines.
    fn of_table(self) -> Option<FileFormat> {
        match self {
            ExportFormat::Csv | ExportFormat::Tsv => None,
            ExportFormat::Parquet => Some(FileFormat::Parquet),
            ExportFormat::Arrow => Some(FileFormat::Arrow),
        }
    }
}

/// The hint in the error for an export to one file, after `--label`, if edges have several labels.
const OR_A_DIRECTORY: &str = ", or export all of them into a directory: hedgerow export STORE DIR";

/// Writes a directory, or a header and `src,dst[,weight]` rows of one label. Each edge of an undirected graph
/// is written once.
pub(crate) fn export(args: &ExportArgs, style: Style) -> Result<(), CliError> {
    if let Some(dir) = &args.dir {
        if matches!(args.format, ExportFormat::Tsv) {
            return Err(CliError::Usage(
                "--format tsv: a directory has csv, parquet or arrow files".to_owned(),
            ));
        }
        return export_directory(args, dir, style);
    }
    let to_file = args.out.as_ref().is_some_and(|path| path.as_os_str() != "-");
    if !to_file && style != Style::Text && !matches!(args.format, ExportFormat::Csv) {
        let why =
            "--format: standard output has one form; name a file by --out, or leave out --json or --csv";
        return Err(CliError::Usage(why.to_owned()));
    }
    let snapshot = open_read_only(&args.store)?.snapshot()?;
    let schema = snapshot.schema();
    let label = schema.find_label(label_to_read(&snapshot, args.label.as_deref(), OR_A_DIRECTORY)?)?;
    let kind = kind_to_write(args, &schema)?;
    let (edges, vertices) = match args.format.of_table() {
        Some(format) => export_table(args, &snapshot, label, kind, format)?,
        None => export_lines(args, &snapshot, label, kind, style == Style::Json && !to_file)?,
    };
    if !to_file {
        return Ok(());
    }
    let report = Report::default().field("edges", edges);
    vertices.into_iter().fold(report, |report, count| report.field("vertices", count)).print(style)
}

/// Writes the edges of one label as lines, or as JSON, and the vertices if they are asked for. Returns both
/// numbers.
fn export_lines(
    args: &ExportArgs,
    snapshot: &Snapshot,
    label: &Label,
    kind: KindId,
    as_json: bool,
) -> Result<(u64, Option<u64>), CliError> {
    let delimiter = if matches!(args.format, ExportFormat::Tsv) { b'\t' } else { b',' };
    let (config, schema) = (snapshot.config(), snapshot.schema());
    let is_default = label.id() == LabelId::DEFAULT;
    let weighted = config.weighted && is_default;
    if as_json {
        if args.vertices.as_deref().is_some_and(|path| path.as_os_str() == "-") {
            let why = "--vertices -: standard output has the edges as JSON; name a file";
            return Err(CliError::Usage(why.to_owned()));
        }
        edge_objects::write(snapshot, label, weighted, args.properties)?;
        return Ok((0, write_vertices(args, kind, snapshot, delimiter)?));
    }
    let mut out = Target::open(args.out.as_deref())?;
    let edges = if is_default && !args.properties && schema.kinds().is_empty() {
        write_plain(config, snapshot, delimiter, &mut out)?
    } else {
        let properties = if args.properties { label.properties() } else { &[] };
        write_edge_rows(snapshot, label, properties, weighted, delimiter, &mut out, &|_| Ok(()))?
    };
    let vertices = write_vertices(args, kind, snapshot, delimiter)?;
    out.finish()?;
    Ok((edges, vertices))
}

/// Writes the whole store into a directory.
fn export_directory(args: &ExportArgs, dir: &Path, style: Style) -> Result<(), CliError> {
    let format = match args.format.of_table() {
        None if args.partitions.is_some_and(|partitions| partitions.get() > 1) => {
            return Err(CliError::Usage("--partitions: say --format parquet or arrow".to_owned()));
        }
        None => hedgerow_export::ExportFormat::Csv,
        Some(FileFormat::Parquet) => hedgerow_export::ExportFormat::Parquet,
        Some(FileFormat::Arrow) => hedgerow_export::ExportFormat::Arrow,
    };
    let snapshot = open_read_only(&args.store)?.snapshot()?;
    let options = ExportOptions::new(format).store(Some(&args.store));
    let options = options.partitions(args.partitions.map_or(1, NonZeroUsize::get));
    let exported = hedgerow_export::export(&snapshot, dir, &options).map_err(|error| match error {
        hedgerow_export::Error::Refused(why) => CliError::Failed(format!("DIR: {why}")),
        error => error.into(),
    })?;
    Report::default()
        .field("vertices", exported.vertices)
        .field("edges", exported.edges)
        .field("labels", exported.labels as u64)
        .print(style)
}

/// Writes the edges of one label as a table, and the vertices if they are asked for. Returns both numbers.
fn export_table(
    args: &ExportArgs,
    snapshot: &Snapshot,
    label: &Label,
    kind: KindId,
    format: FileFormat,
) -> Result<(u64, Option<u64>), CliError> {
    let is_standard = |path: Option<&PathBuf>| path.is_none_or(|path| path.as_os_str() == "-");
    if args.vertices.is_some() && is_standard(args.out.as_ref()) && is_standard(args.vertices.as_ref()) {
        let why = "--vertices: standard output takes one table; name a file by --vertices or --out";
        return Err(CliError::Usage(why.to_owned()));
    }
    let out = Target::open(args.out.as_deref())?;
    let to = args.vertices.as_ref().map(|path| Target::open(Some(path))).transpose()?;
    let options = TableOptions::new();
    let options = if args.properties { options } else { options.without_properties() };
    let next = |_| Ok(());
    let (edges, out) = tables::write_edges(snapshot, label, &options, format, out, &next)?;
    let written =
        to.map(|to| tables::write_vertices(snapshot, kind, &options, format, to, &next)).transpose()?;
    let (vertices, to) = written.unzip();
    // No file gets its name before all are complete.
    out.finish()?;
    to.map(Target::finish).transpose()?;
    Ok((edges, vertices))
}

/// Returns the kind of the vertices to write.
fn kind_to_write(args: &ExportArgs, schema: &Schema) -> Result<KindId, CliError> {
    match &args.kind {
        Some(name) => Ok(schema.find_kind(name)?),
        None if args.vertices.is_some() && !schema.kinds().is_empty() => {
            let names = schema.kinds().iter().map(|kind| format!(", {:?}", kind.name())).collect::<String>();
            let why =
                format!("vertices are of kinds \"\"{names}: name one of them with --kind{OR_A_DIRECTORY}");
            Err(CliError::Failed(why))
        }
        None => Ok(KindId::DEFAULT),
    }
}

/// Writes the edges of the default label without properties.
fn write_plain(
    config: GraphConfig,
    snapshot: &Snapshot,
    delimiter: u8,
    out: &mut Target,
) -> Result<u64, CliError> {
    let names = Names::of(snapshot, delimiter)?;
    let comma = char::from(delimiter);
    let header = if config.weighted { format!("{comma}weight") } else { String::new() };
    out.write(|w| writeln!(w, "src{comma}dst{header}"))?;
    let view = snapshot.default_label().view()?;
    let mut edges = 0;
    for v in view.vertices() {
        out.write(|w| {
            let mut result = Ok(());
            view.for_each_weighted(v, Direction::Out, |u, weight| {
                if result.is_ok() && (config.directed || v <= u) {
                    edges += 1;
                    result = write!(w, "{}{comma}{}", names.get(v), names.get(u)).and_then(|()| {
                        if config.weighted { writeln!(w, "{comma}{weight}") } else { writeln!(w) }
                    });
                }
            });
            result
        })?;
    }
    Ok(edges)
}

/// Refuses a key that a line cannot represent: a load would read a different key, or no key.
fn check_line(key: VertexKeyRef<'_>) -> Result<(), CliError> {
    let VertexKeyRef::Str(text) = key else { return Ok(()) };
    if text.is_empty() || text.trim() != text || text.contains(['\n', '\r']) {
        let shown: String = text.chars().take(40).collect();
        let why =
            "is empty, or has a line break or blanks at an end, which a line without quotes does not keep";
        return Err(CliError::Failed(format!("--vertices: key {shown:?} {why}; say --properties")));
    }
    Ok(())
}

fn write_vertices(
    args: &ExportArgs,
    kind: KindId,
    snapshot: &Snapshot,
    delimiter: u8,
) -> Result<Option<u64>, CliError> {
    let Some(path) = &args.vertices else { return Ok(None) };
    let mut out = Target::open(Some(path))?;
    if !args.properties {
        let (_, keys) = snapshot.scan_vertices()?.keys()?;
        let of_kind = keys.iter().map(VertexKeyRef::split).filter(|(of, _)| *of == kind);
        let mut count = 0;
        for (_, key) in of_kind {
            check_line(key)?;
            out.write(|w| writeln!(w, "{key}"))?;
            count += 1;
        }
        out.finish()?;
        return Ok(Some(count));
    }
    let schema = snapshot.schema();
    let properties = schema.vertex_properties_of(kind).collect();
    let mut files = [VertexFile::begin(kind, properties, delimiter, out)?];
    write_vertex_rows(snapshot, &mut files, delimiter, &|_| Ok(()))?;
    let counts = files.into_iter().map(VertexFile::finish).collect::<Result<Vec<u64>, _>>()?;
    Ok(Some(counts.into_iter().sum()))
}
