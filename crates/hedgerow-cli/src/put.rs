//! `hedgerow put`.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow::{Graph, KindId, LabelId, Properties, Property, PropertyType, Schema, Value};
use hedgerow_core::suggest::instead;

use crate::element::{EdgeArgs, VertexArgs};
use crate::error::CliError;
use crate::output::{Report, Style};
use crate::property::parse_exact;
use crate::store::open_to_write;

/// The element to write.
#[derive(clap::Subcommand)]
pub(crate) enum Put {
    /// Create a vertex, or change its properties
    Vertex(PutVertex),
    /// Create an edge, and the vertices that it lacks, or change its properties and its weight
    Edge(PutEdge),
}

/// Arguments of `put vertex`.
#[derive(clap::Args)]
pub(crate) struct PutVertex {
    #[command(flatten)]
    vertex: VertexArgs,
    #[command(flatten)]
    changes: Changes,
}

/// Arguments of `put edge`.
#[derive(clap::Args)]
pub(crate) struct PutEdge {
    #[command(flatten)]
    edge: EdgeArgs,
    #[command(flatten)]
    changes: Changes,
}

/// The properties to change. Others keep their values.
#[derive(clap::Args)]
struct Changes {
    /// Give the property this value, in the type that the schema states; the weight of an edge is the
    /// property weight; may be repeated
    #[arg(long, value_name = "PROPERTY=VALUE")]
    set: Vec<String>,
    /// Remove the value of this property; may be repeated
    #[arg(long, value_name = "PROPERTY")]
    unset: Vec<String>,
}

/// Creates or changes one vertex or one edge, in one transaction.
pub(crate) fn put(what: &Put, style: Style) -> Result<(), CliError> {
    match what {
        Put::Vertex(PutVertex { vertex, changes }) => {
            let graph = open_to_write(&vertex.store)?;
            let schema = graph.schema();
            let key = vertex.key(&graph, &schema)?;
            let changes = changes.of_vertex(&schema, key.kind())?;
            let written = write(&graph, |txn| {
                let old = txn.vertex_properties(&key)?;
                let Some((outcome, new)) = merged(old, &changes) else { return Ok(UNCHANGED) };
                txn.put_vertex_with(&key, new)?;
                Ok(outcome)
            })?;
            written.added_to(VertexArgs::report(&schema, &key)).print(style)
        }
        Put::Edge(PutEdge { edge, changes }) => {
            let graph = open_to_write(&edge.store)?;
            let schema = graph.schema();
            let edge = edge.edge(&graph, &schema)?;
            let changes = changes.of_edge(&schema, edge.label, graph.config().weighted)?;
            let before = graph.snapshot()?.vertex_count();
            let written = write(&graph, |txn| {
                let old = txn.edge_properties(edge.key())?;
                let Some((outcome, new)) = merged(old, &changes) else { return Ok(UNCHANGED) };
                txn.put_edge_with(edge.key(), new)?;
                Ok(outcome)
            })?;
            let new_vertices = written.vertices.saturating_sub(before);
            written.added_to(edge.report(&schema)).field("new_vertices", new_vertices).print(style)
        }
    }
}

const UNCHANGED: &str = "unchanged";

/// The outcome of the transaction, and the number of vertices after it.
struct Written {
    outcome: &'static str,
    timestamp: u64,
    vertices: u64,
}

impl Written {
    fn added_to(&self, report: Report) -> Report {
        report.field("result", self.outcome).field("timestamp", self.timestamp)
    }
}

/// Runs the transaction and closes the store. No other transaction runs, so there is no conflict.
fn write(
    graph: &Graph,
    f: impl FnMut(&mut hedgerow::WriteTxn) -> hedgerow::Result<&'static str>,
) -> Result<Written, CliError> {
    let (outcome, timestamp) = graph.transact(0, f)?;
    let vertices = graph.snapshot()?.vertex_count();
    graph.close()?;
    Ok(Written { outcome, timestamp: timestamp.0, vertices })
}

/// The changes of properties by name; `Null` removes a value.
type Changed = BTreeMap<Arc<str>, Value>;

/// Returns all properties after the changes; `None` if the element exists and nothing changes.
fn merged(old: Option<Properties>, changes: &Changed) -> Option<(&'static str, Changed)> {
    let outcome = if old.is_some() { "changed" } else { "created" };
    let old: Changed = old.iter().flatten().cloned().collect();
    let mut new = old.clone();
    new.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
    new.retain(|_, value| *value != Value::Null);
    (outcome == "created" || new != old).then_some((outcome, new))
}

impl Changes {
    fn of_vertex(&self, schema: &Schema, kind: KindId) -> Result<Changed, CliError> {
        let known = schema.vertex_properties_of(kind).map(named).collect();
        let of = match schema.kind_name(kind) {
            "" => "vertices".to_owned(),
            name => format!("vertices of kind {name}"),
        };
        self.typed(&known, &of)
    }

    fn of_edge(&self, schema: &Schema, label: &str, weighted: bool) -> Result<Changed, CliError> {
        let label = schema.find_label(label)?;
        let mut known: Known<'_> = label.properties().iter().map(named).collect();
        if weighted && label.id() == LabelId::DEFAULT {
            known.insert(WEIGHT, PropertyType::F64);
            if self.unset.iter().any(|name| name == WEIGHT) {
                let why =
                    "--unset weight: each edge of the default label has a weight; --set weight=1 resets it";
                return Err(CliError::Usage(why.to_owned()));
            }
        }
        self.typed(&known, &format!("edges of label {:?}", &**label.name()))
    }

    /// Returns the changes in the types of the properties. `of` names the elements that have these.
    fn typed(&self, known: &Known<'_>, of: &str) -> Result<Changed, CliError> {
        let mut changes = Changed::new();
        let set = self.set.iter().map(|text| match text.split_once('=') {
            Some((name, value)) => Ok(("--set", name, Some(value))),
            None => Err(CliError::Usage(format!("--set {text:?}: PROPERTY=VALUE is needed, as in name=Ann"))),
        });
        let unset = self.unset.iter().map(|name| Ok(("--unset", name.as_str(), None)));
        for change in set.chain(unset) {
            let (option, name, value) = change?;
            let Some(of_type) = known.get(name) else {
                let names: Vec<&str> = known.keys().copied().collect();
                let instead = instead(name, &names, "properties");
                let why = format!("{option}: {of} have no property {name:?}{instead}");
                return Err(CliError::Usage(why));
            };
            let value = value.map(|text| parse_exact(name, *of_type, text)).transpose();
            let value = value.map_err(|why| CliError::Usage(format!("{option}: {why}")))?;
            if changes.insert(name.into(), value.unwrap_or(Value::Null)).is_some() {
                return Err(CliError::Usage(format!("{option}: property {name:?} is given twice")));
            }
        }
        Ok(changes)
    }
}

fn named(property: &Property) -> (&str, PropertyType) {
    (property.name(), property.property_type())
}

/// The property by which the weight of an edge of the default label is set.
const WEIGHT: &str = "weight";

/// The properties that the schema has, with their types.
type Known<'a> = BTreeMap<&'a str, PropertyType>;
