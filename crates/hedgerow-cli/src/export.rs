//! `hedgerow export`.

use std::path::PathBuf;

use hedgerow::{Direction, Snapshot, Topology, VertexId};

use crate::error::CliError;
use crate::output::{Style, quoted};
use crate::store::open_read_only;
use crate::target::Target;

/// Arguments of `export`.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The directory of the store
    store: PathBuf,
    /// The form of the file
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
    /// The file to write; `-` or none for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the vertices too, one key a line, those without edges included
    #[arg(long, value_name = "FILE")]
    vertices: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// Comma-separated
    Csv,
    /// Tab-separated
    Tsv,
}

/// Writes `src,dst[,weight]` rows under a header; of an undirected graph each edge once.
pub(crate) fn export(args: &ExportArgs, style: Style) -> Result<(), CliError> {
    let delimiter = match (args.format, style) {
        (_, Style::Json) => {
            return Err(CliError::Usage("--json: edges are exported as csv or tsv".to_owned()));
        }
        (ExportFormat::Csv, _) => b',',
        (ExportFormat::Tsv, _) => b'\t',
    };
    let graph = open_read_only(&args.store)?;
    let config = graph.config();
    let snapshot = graph.snapshot()?;
    let names: Vec<String> = names(&snapshot, delimiter);
    let mut out = Target::open(args.out.as_deref())?;
    let comma = char::from(delimiter);
    let header = if config.weighted { format!("{comma}weight") } else { String::new() };
    out.write(|w| writeln!(w, "src{comma}dst{header}"))?;
    let view = snapshot.view();
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
    write_vertices(args, &snapshot)?;
    out.finish()
}

/// The keys of all vertices by id, ready to be written.
fn names(snapshot: &Snapshot, delimiter: u8) -> Vec<String> {
    let mut names = vec![String::new(); snapshot.view().vertex_bound()];
    for (id, key) in snapshot.vertices() {
        if let Some(name) = names.get_mut(id.0 as usize) {
            *name = quoted(&key.to_string(), delimiter).into_owned();
        }
    }
    names
}

fn name(names: &[String], id: VertexId) -> &str {
    names.get(id.0 as usize).map_or("", String::as_str)
}

fn write_vertices(args: &ExportArgs, snapshot: &Snapshot) -> Result<(), CliError> {
    let Some(path) = &args.vertices else { return Ok(()) };
    let mut out = Target::open(Some(path))?;
    out.write(|w| snapshot.vertices().try_for_each(|(_, key)| writeln!(w, "{key}")))?;
    out.finish()
}
