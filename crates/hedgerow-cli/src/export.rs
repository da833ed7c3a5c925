//! `hedgerow export`.

use std::path::PathBuf;

use hedgerow::{Direction, Snapshot, Topology, ValueRef, VertexId, WeightedTopology};

use crate::error::CliError;
use crate::output::{Style, quoted};
use crate::property;
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
    /// Write the edges of this label, with their ranks if it is multi
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
    if args.label.is_some() || args.properties {
        write_rows(args, &snapshot, &names, delimiter, &mut out)?;
        write_vertices(args, &snapshot, delimiter)?;
        return out.finish();
    }
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
    write_vertices(args, &snapshot, delimiter)?;
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

/// `src,dst[,rank][,weight][,NAME:TYPE...]` of the edges of one label.
fn write_rows(
    args: &ExportArgs,
    snapshot: &Snapshot,
    names: &[String],
    delimiter: u8,
    out: &mut Target,
) -> Result<(), CliError> {
    let label = args.label.as_deref().unwrap_or("");
    let schema = snapshot.schema();
    let owner =
        schema.label(label).ok_or_else(|| hedgerow::Error::NoSuchLabel { label: label.to_owned() })?;
    let properties = if args.properties { owner.properties() } else { &[] };
    let weighted = label.is_empty() && snapshot.view().has_weights();
    let mut columns = vec!["src".to_owned(), "dst".to_owned()];
    columns.extend(owner.is_multi().then(|| "rank".to_owned()));
    columns.extend(weighted.then(|| "weight".to_owned()));
    columns.extend(properties.iter().map(|p| quoted(&property::header(p), delimiter).into_owned()));
    let comma = char::from(delimiter).to_string();
    out.write(|w| writeln!(w, "{}", columns.join(&comma)))?;
    let mut result = Ok(());
    snapshot.for_each_edge_row(label, |edge| {
        if result.is_err() {
            return;
        }
        let mut line = format!("{}{comma}{}", name(names, edge.src()), name(names, edge.dst()));
        if owner.is_multi() {
            line += &format!("{comma}{}", edge.rank());
        }
        if weighted {
            line += &format!("{comma}{}", edge.weight());
        }
        for property in properties {
            line += &comma;
            line += &field(edge.get(property.id()), delimiter);
        }
        result = out.write(|w| writeln!(w, "{line}"));
    })?;
    result
}

/// A value as a field: nothing for null, and `""` for an empty text.
fn field(value: ValueRef<'_>, delimiter: u8) -> String {
    property::to_text(value).map_or_else(String::new, |text| quoted(&text, delimiter).into_owned())
}

fn write_vertices(args: &ExportArgs, snapshot: &Snapshot, delimiter: u8) -> Result<(), CliError> {
    let Some(path) = &args.vertices else { return Ok(()) };
    let mut out = Target::open(Some(path))?;
    if !args.properties {
        out.write(|w| snapshot.vertices().try_for_each(|(_, key)| writeln!(w, "{key}")))?;
        return out.finish();
    }
    let schema = snapshot.schema();
    let properties = schema.vertex_properties();
    let comma = char::from(delimiter).to_string();
    let headers = properties.iter().map(|p| comma.clone() + &quoted(&property::header(p), delimiter));
    out.write(|w| writeln!(w, "id{}", headers.collect::<String>()))?;
    for (_, key) in snapshot.vertices() {
        let mut line = quoted(&key.to_string(), delimiter).into_owned();
        for property in properties {
            line += &comma;
            let value = snapshot.vertex_property(&key, property.name());
            line += &field(value.as_ref().map_or(ValueRef::Null, |value| value.as_ref()), delimiter);
        }
        out.write(|w| writeln!(w, "{line}"))?;
    }
    out.finish()
}
