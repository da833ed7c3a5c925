//! `hedgerow export`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hedgerow::{Direction, GraphConfig, KindId, LabelId, Schema, Snapshot, VertexKeyRef};
use hedgerow_arrow::TableOptions;
use hedgerow_arrow::files::FileFormat;
use hedgerow_export::names::Names;
use hedgerow_export::rows::{VertexFile, write_edge_rows, write_vertex_rows};
use hedgerow_export::target::Target;
use hedgerow_export::{ExportOptions, tables};

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
    if style == Style::Json {
        return Err(CliError::Usage("--json: edges are exported as csv, tsv, parquet or arrow".to_owned()));
    }
    if let Some(format) = args.format.of_table() {
        return export_table(args, format);
    }
    let delimiter = if matches!(args.format, ExportFormat::Tsv) { b'\t' } else { b',' };
    let graph = open_read_only(&args.store)?;
    let (config, snapshot) = (graph.config(), graph.snapshot()?);
    let label = label_to_read(&snapshot, args.label.as_deref(), OR_A_DIRECTORY)?;
    let mut out = Target::open(args.out.as_deref())?;
    let kind = kind_to_write(args, &snapshot.schema())?;
    let has_kinds = !snapshot.schema().kinds().is_empty();
    if label == LabelId::DEFAULT && !args.properties && !has_kinds {
        write_plain(config, &snapshot, delimiter, &mut out)?;
    } else {
        let schema = snapshot.schema();
        let owner = schema.find_label(label)?;
        let properties = if args.properties { owner.properties() } else { &[] };
        let weighted = config.weighted && label == LabelId::DEFAULT;
        write_edge_rows(&snapshot, owner, properties, weighted, delimiter, &mut out, &|| Ok(()))?;
    }
    write_vertices(args, kind, &snapshot, delimiter)?;
    Ok(out.finish()?)
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

/// Writes the edges of one label as a table, and the vertices if they are asked for.
fn export_table(args: &ExportArgs, format: FileFormat) -> Result<(), CliError> {
    let snapshot = open_read_only(&args.store)?.snapshot()?;
    let schema = snapshot.schema();
    let label = schema.find_label(label_to_read(&snapshot, args.label.as_deref(), OR_A_DIRECTORY)?)?;
    let kind = kind_to_write(args, &schema)?;
    let is_standard = |path: Option<&PathBuf>| path.is_none_or(|path| path.as_os_str() == "-");
    if args.vertices.is_some() && is_standard(args.out.as_ref()) && is_standard(args.vertices.as_ref()) {
        let why = "--vertices: standard output takes one table; name a file by --vertices or --out";
        return Err(CliError::Usage(why.to_owned()));
    }
    let out = Target::open(args.out.as_deref())?;
    let vertices = args.vertices.as_ref().map(|path| Target::open(Some(path))).transpose()?;
    let options = TableOptions::new();
    let options = if args.properties { options } else { options.without_properties() };
    let next = || Ok(());
    let mut written = vec![tables::write_edges(&snapshot, label, &options, format, out, &next)?.1];
    if let Some(to) = vertices {
        written.push(tables::write_vertices(&snapshot, kind, &options, format, to, &next)?.1);
    }
    // No file gets its name before all are complete.
    Ok(written.into_iter().try_for_each(Target::finish)?)
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
) -> Result<(), CliError> {
    let names = Names::of(snapshot, delimiter)?;
    let comma = char::from(delimiter);
    let header = if config.weighted { format!("{comma}weight") } else { String::new() };
    out.write(|w| writeln!(w, "src{comma}dst{header}"))?;
    let view = snapshot.default_label().view()?;
    for v in view.vertices() {
        out.write(|w| {
            let mut result = Ok(());
            view.for_each_weighted(v, Direction::Out, |u, weight| {
                if result.is_ok() && (config.directed || v <= u) {
                    result = write!(w, "{}{comma}{}", names.get(v), names.get(u)).and_then(|()| {
                        if config.weighted { writeln!(w, "{comma}{weight}") } else { writeln!(w) }
                    });
                }
            });
            result
        })?;
    }
    Ok(())
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
) -> Result<(), CliError> {
    let Some(path) = &args.vertices else { return Ok(()) };
    let mut out = Target::open(Some(path))?;
    if !args.properties {
        let (_, keys) = snapshot.scan_vertices()?.keys()?;
        let of_kind = keys.iter().map(VertexKeyRef::split).filter(|(of, _)| *of == kind);
        for (_, key) in of_kind {
            check_line(key)?;
            out.write(|w| writeln!(w, "{key}"))?;
        }
        return Ok(out.finish()?);
    }
    let schema = snapshot.schema();
    let properties = schema.vertex_properties_of(kind).collect();
    let mut files = [VertexFile::begin(kind, properties, delimiter, out)?];
    write_vertex_rows(snapshot, &mut files, delimiter, &|| Ok(()))?;
    Ok(files.into_iter().try_for_each(|file| file.finish().map(drop))?)
}
