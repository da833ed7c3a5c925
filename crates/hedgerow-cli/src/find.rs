//! `hedgerow find`.

use std::path::PathBuf;

use hedgerow::{FindOptions, Value as Stored};
use hedgerow_core::suggest::instead;
use serde_json::Value;

use crate::error::CliError;
use crate::keys::to_json;
use crate::output::{Report, Style};
use crate::show::Show;
use crate::store::open_read_only;
use hedgerow_load::property;

/// Arguments of `find`.
#[derive(clap::Args)]
pub(crate) struct FindArgs {
    /// The directory of the store
    store: PathBuf,
    /// A property and the value that it must have; may be repeated, and a vertex must match all; an empty
    /// value matches vertices without one
    #[arg(value_name = "PROPERTY=VALUE", required = true)]
    properties: Vec<String>,
    /// The kind of the vertices; "" is the default kind
    #[arg(long, value_name = "KIND", default_value = "")]
    kind: String,
    /// The most vertices to print; the search stops when it finds one more
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    show: Show,
}

/// Prints the keys of the vertices of a kind whose properties have these values.
pub(crate) fn find(args: &FindArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let (snapshot, schema) = (graph.snapshot()?, graph.schema());
    args.show.check(&schema, graph.config().keys)?;
    let kind = schema.find_kind(&args.kind)?;
    let mut wanted: Vec<(&str, Stored)> = Vec::new();
    for text in &args.properties {
        let needed = || CliError::Usage(format!("{text:?}: PROPERTY=VALUE is needed, as in name=Ann"));
        let (name, value) = text.split_once('=').ok_or_else(needed)?;
        let Some(property) = schema.vertex_property(kind, name) else {
            let known: Vec<&str> = schema.vertex_properties_of(kind).map(|known| &**known.name()).collect();
            let of = if args.kind.is_empty() { String::new() } else { format!(" of kind {}", args.kind) };
            let instead = instead(name, &known, "properties");
            return Err(CliError::Usage(format!("vertices{of} have no property {name:?}{instead}")));
        };
        let value = match value {
            "" => Stored::Null,
            value => property::parse(name, property.property_type(), value).map_err(CliError::Usage)?,
        };
        wanted.push((name, value));
    }
    let options = FindOptions::new().limit(args.limit.unwrap_or(usize::MAX));
    let found = snapshot.scan_vertices()?.find(kind, &wanted, options)?;
    let row = |key: &hedgerow::VertexKey| -> Result<Vec<Value>, CliError> {
        let shown = args.show.values(&snapshot, key.as_ref())?;
        Ok([to_json(key)].into_iter().chain(shown).collect())
    };
    let rows = found.found.iter().map(row).collect::<Result<_, CliError>>()?;
    let mut columns = vec!["key".to_owned()];
    columns.extend(args.show.columns("", &["key"]));
    let report = Report::default().field("found", found.found.len() as u64).field("more", found.more);
    report.rows("vertices", &columns, rows).print(style)
}
