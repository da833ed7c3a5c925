//! `hedgerow schema`.

use std::path::PathBuf;

use hedgerow::Property;
use serde_json::Value;

use crate::error::CliError;
use crate::output::{Report, Style};
use crate::store::open_read_only;

/// Arguments of `schema`.
#[derive(clap::Args)]
pub(crate) struct SchemaArgs {
    /// The directory of the store
    store: PathBuf,
}

/// Prints labels, and the properties of edges and vertices with their types.
pub(crate) fn schema(args: &SchemaArgs, style: Style) -> Result<(), CliError> {
    let schema = open_read_only(&args.store)?.schema();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for label in schema.labels() {
        let name = &**label.name();
        let kind = if label.is_multi() { "multi label" } else { "label" };
        rows.push(vec![kind.into(), name.into(), Value::Null, Value::Null]);
        rows.extend(label.properties().iter().map(|p| row("edge property", name.into(), p)));
    }
    rows.extend(schema.vertex_properties().iter().map(|p| row("vertex property", Value::Null, p)));
    Report::default().table("schema", &["kind", "label", "property", "type"], rows).print(style)
}

fn row(kind: &str, label: Value, property: &Property) -> Vec<Value> {
    vec![kind.into(), label, (&**property.name()).into(), property.property_type().name().into()]
}
