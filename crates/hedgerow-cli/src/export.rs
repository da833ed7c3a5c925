//! `hedgerow export`.

mod directory;
mod names;
mod rows;

use std::path::PathBuf;

use hedgerow::{Direction, GraphConfig, LabelId, Snapshot};

use crate::error::CliError;
use crate::output::Style;
use crate::store::{label_to_read, open_read_only};
use crate::target::Target;
use names::{name, names};
use rows::{write_edge_rows, write_vertex_rows};

/// Arguments of `export`.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The directory of the store
    store: PathBuf,
    /// Write everything into this directory, which must not exist or be empty: vertices, the edges of each label, all
    /// properties, and schema.json
    #[arg(value_name = "DIR", conflicts_with_all = ["format", "out", "vertices", "label", "properties"])]
    dir: Option<PathBuf>,
    /// The form of the file
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
    /// The file to write; `-` or none for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the vertices too, one key a line, those without edges included
    #[arg(long, value_name = "FILE")]
    vertices: Option<PathBuf>,
    /// Write the edges of this label, with their ranks if it is multi; "" is the default label [default: the label of all
    /// edges]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Write the properties too, of edges and of vertices; their columns are named NAME:TYPE
    #[arg(long)]
    properties: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// Comma-separated
    Csv,
    /// Tab-separated
    Tsv,
}

/// What an export of one file has beside `--label` when edges have several labels.
const OR_A_DIRECTORY: &str = ", or export all of them into a directory: hedgerow export STORE DIR";

/// Writes a directory, or `src,dst[,weight]` rows of one label under a header; of an undirected graph each edge once.
pub(crate) fn export(args: &ExportArgs, style: Style) -> Result<(), CliError> {
    if let Some(dir) = &args.dir {
        return directory::export_directory(&args.store, dir, style);
    }
    let delimiter = match (args.format, style) {
        (_, Style::Json) => {
            return Err(CliError::Usage("--json: edges are exported as csv or tsv".to_owned()));
        }
        (ExportFormat::Csv, _) => b',',
        (ExportFormat::Tsv, _) => b'\t',
    };
    let graph = open_read_only(&args.store)?;
    let (config, snapshot) = (graph.config(), graph.snapshot()?);
    let label = label_to_read(&snapshot, args.label.as_deref(), OR_A_DIRECTORY)?;
    let mut out = Target::open(args.out.as_deref())?;
    if label == LabelId::DEFAULT && !args.properties {
        write_plain(config, &snapshot, delimiter, &mut out)?;
    } else {
        let schema = snapshot.schema();
        let owner = schema.find_label(label)?;
        let properties = if args.properties { owner.properties() } else { &[] };
        let weighted = config.weighted && label == LabelId::DEFAULT;
        write_edge_rows(&snapshot, owner, properties, weighted, delimiter, &mut out)?;
    }
    write_vertices(args, &snapshot, delimiter)?;
    out.finish()
}

/// The edges of the default label without properties.
fn write_plain(
    config: GraphConfig,
    snapshot: &Snapshot,
    delimiter: u8,
    out: &mut Target,
) -> Result<(), CliError> {
    let names = names(snapshot, delimiter)?;
    let comma = char::from(delimiter);
    let header = if config.weighted { format!("{comma}weight") } else { String::new() };
    out.write(|w| writeln!(w, "src{comma}dst{header}"))?;
    let view = snapshot.view()?;
    for v in view.vertices() {
        out.write(|w| {
            let mut result = Ok(());
            view.for_each_weighted(v, Direction::Out, |u, weight| {
                if result.is_ok() && (config.directed || v <= u) {
                    result = write!(w, "{}{comma}{}", name(&names, v), name(&names, u)).and_then(|()| {
                        if config.weighted { writeln!(w, "{comma}{weight}") } else { writeln!(w) }
                    });
                }
            });
            result
        })?;
    }
    Ok(())
}

fn write_vertices(args: &ExportArgs, snapshot: &Snapshot, delimiter: u8) -> Result<(), CliError> {
    let Some(path) = &args.vertices else { return Ok(()) };
    let mut out = Target::open(Some(path))?;
    if !args.properties {
        let (_, keys) = snapshot.all_vertex_keys()?;
        keys.iter().try_for_each(|key| out.write(|w| writeln!(w, "{key}")))?;
        return out.finish();
    }
    write_vertex_rows(snapshot, snapshot.schema().vertex_properties(), delimiter, &mut out)?;
    out.finish()
}
