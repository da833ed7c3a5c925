//! `hedgerow schema`.

use std::path::PathBuf;

use hedgerow::{KindId, Property, Schema};
use hedgerow_export::text::{kind_name, kinds};
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

/// Prints the labels, the properties of edges and vertices with their types, and the kinds of vertices if
/// there are any.
pub(crate) fn schema(args: &SchemaArgs, style: Style) -> Result<(), CliError> {
    let graph = open_read_only(&args.store)?;
    let schema = graph.schema();
    let mut rows = Vec::new();
    for label in schema.labels() {
        let name = &**label.name();
        let what = if label.is_multi() { "multi label" } else { "label" };
        rows.push(Row { label: Some(name), ends: label.ends(), ..Row::new(what) });
        rows.extend(
            label.properties().iter().map(|p| Row { label: Some(name), ..Row::of("edge property", p) }),
        );
    }
    if schema.kinds().is_empty() {
        rows.extend(schema.vertex_properties().iter().map(|p| Row::of("vertex property", p)));
        let rows = rows.iter().map(Row::plain).collect();
        return Report::default().rows("schema", &COLUMNS[..4], rows).print(style);
    }
    for (id, keys) in kinds(&schema, graph.config().keys) {
        rows.push(Row { kind: Some(id), of_type: Some(kind_name(keys)), ..Row::new("vertex kind") });
        let properties = schema.vertex_properties_of(id);
        rows.extend(properties.map(|p| Row { kind: Some(id), ..Row::of("vertex property", p) }));
    }
    let rows = rows.iter().map(|row| row.with_kinds(&schema)).collect();
    Report::default().rows("schema", &COLUMNS, rows).print(style)
}

const COLUMNS: [&str; 7] = ["kind", "label", "property", "type", "vertex_kind", "from", "to"];

/// The content of one row; only stores with kinds use the last three fields.
#[derive(Default)]
struct Row<'a> {
    what: &'static str,
    label: Option<&'a str>,
    property: Option<&'a str>,
    of_type: Option<&'static str>,
    kind: Option<KindId>,
    ends: Option<[KindId; 2]>,
}

impl<'a> Row<'a> {
    fn new(what: &'static str) -> Row<'a> {
        Row { what, ..Row::default() }
    }

    fn of(what: &'static str, property: &'a Property) -> Row<'a> {
        let of_type = Some(property.property_type().name());
        Row { property: Some(property.name()), of_type, ..Row::new(what) }
    }

    fn plain(&self) -> Vec<Value> {
        vec![self.what.into(), self.label.into(), self.property.into(), self.of_type.into()]
    }

    fn with_kinds(&self, schema: &Schema) -> Vec<Value> {
        let name = |id: KindId| schema.kind_name(id);
        let ends = [self.kind, self.ends.map(|ends| ends[0]), self.ends.map(|ends| ends[1])];
        self.plain().into_iter().chain(ends.map(|id| id.map(name).into())).collect()
    }
}
