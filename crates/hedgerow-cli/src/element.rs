//! One vertex or one edge, named on the command line by `get`, `put` and `del`.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::{EdgeKey, Graph, Properties, PropertyType, Schema, Value as Stored, VertexKey};

use crate::error::CliError;
use crate::keys::{self, parse_argument, parse_end, parse_key, spelled};
use crate::output::Report;
use crate::property::to_json;

/// The name of one vertex.
#[derive(clap::Args)]
pub(crate) struct VertexArgs {
    /// The directory of the store
    pub(crate) store: PathBuf,
    /// The key of the vertex; in a store with kinds KIND:KEY
    key: String,
    /// The kind of the vertex; KEY is then its key alone; "" is the default kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// The name of one edge.
#[derive(clap::Args)]
pub(crate) struct EdgeArgs {
    /// The directory of the store
    pub(crate) store: PathBuf,
    /// The key of the source; in a store with kinds KIND:KEY, or the key alone if the label states the kinds
    /// of its ends
    src: String,
    /// The key of the destination
    dst: String,
    /// The label of the edge; "" is the default label
    #[arg(long, value_name = "NAME", default_value = "")]
    label: String,
    /// The rank of the edge, needed if the label is multi
    #[arg(long, value_name = "N")]
    rank: Option<u64>,
}

impl VertexArgs {
    /// Returns the key of the vertex. The store has `schema`.
    pub(crate) fn key(&self, graph: &Graph, schema: &Schema) -> Result<VertexKey, CliError> {
        let keys = graph.config().keys;
        match &self.kind {
            Some(name) => parse_key(schema, keys, "KEY", &self.key, schema.find_kind(name)?),
            None => parse_argument(schema, keys, "KEY", &self.key),
        }
    }

    /// Returns a report that begins with the name of the vertex.
    pub(crate) fn report(schema: &Schema, key: &VertexKey) -> Report {
        named(Report::default(), schema, ["kind", "key"], key)
    }

    /// Returns the error for a vertex that does not exist.
    pub(crate) fn absent(&self, schema: &Schema, key: &VertexKey) -> CliError {
        let (shown, store) = (spelled(schema, key.as_ref()), self.store.display());
        CliError::Absent(format!("no vertex {shown} in {store}"))
    }
}

/// An edge that the arguments name.
pub(crate) struct Edge<'a> {
    pub(crate) label: &'a str,
    pub(crate) src: VertexKey,
    pub(crate) dst: VertexKey,
    /// The rank; `None` if the label has no ranks.
    pub(crate) rank: Option<u64>,
}

impl EdgeArgs {
    /// Returns the edge. The store has `schema`.
    pub(crate) fn edge(&self, graph: &Graph, schema: &Schema) -> Result<Edge<'_>, CliError> {
        let label = schema.find_label(self.label.as_str())?;
        let wrong = |why: &str| Err(CliError::Usage(format!("--rank: label {:?} {why}", self.label)));
        match self.rank {
            None if label.is_multi() => return wrong("is multi, so its edges differ in their rank: give it"),
            Some(rank) if rank > 0 && !label.is_multi() => {
                return wrong("is not multi: its edges have no rank");
            }
            _ => {}
        }
        let (ends, keys) = (label.ends(), graph.config().keys);
        let src = parse_end(schema, keys, "SRC", &self.src, ends.map(|[from, _]| from))?;
        let dst = parse_end(schema, keys, "DST", &self.dst, ends.map(|[_, to]| to))?;
        let rank = if label.is_multi() { self.rank } else { None };
        Ok(Edge { label: &self.label, src, dst, rank })
    }
}

impl Edge<'_> {
    /// Returns the name of the edge in the store.
    pub(crate) fn key(&self) -> EdgeKey<'_> {
        EdgeKey::new(self.label, &self.src, &self.dst).rank(self.rank.unwrap_or(0))
    }

    /// Returns a report that begins with the name of the edge.
    pub(crate) fn report(&self, schema: &Schema) -> Report {
        let report = named(Report::default(), schema, ["src_kind", "src"], &self.src);
        let report = named(report, schema, ["dst_kind", "dst"], &self.dst).field("label", self.label);
        match self.rank {
            Some(rank) => report.field("rank", rank),
            None => report,
        }
    }
}

/// Adds the kind of a vertex, if the store has several, and its key.
fn named(report: Report, schema: &Schema, [kind, key]: [&'static str; 2], of: &VertexKey) -> Report {
    let report = match schema.kinds() {
        [] => report,
        _ => report.field(kind, schema.kind_name(of.kind())),
    };
    report.field(key, keys::to_json(of))
}

/// Adds the properties: name, type and value of each.
pub(crate) fn with_properties(report: Report, properties: &Properties) -> Report {
    let row = |(name, value): &(Arc<str>, Stored)| {
        let of_type = value.property_type().map(PropertyType::name);
        vec![(&**name).into(), of_type.into(), to_json(value.as_ref())]
    };
    report.rows("properties", &["property", "type", "value"], properties.iter().map(row).collect())
}
