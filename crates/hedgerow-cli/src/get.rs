//! `hedgerow get`.

use hedgerow::{EdgePattern, Schema, Snapshot};

use crate::element::{Edge, EdgeArgs, VertexArgs, with_properties};
use crate::error::CliError;
use crate::keys::spelled;
use crate::output::Style;
use crate::store::open_read_only;

/// The element to print.
#[derive(clap::Subcommand)]
pub(crate) enum Get {
    /// Print a vertex with its properties; exit status 4 if it does not exist
    Vertex(VertexArgs),
    /// Print an edge with its properties and its weight; exit status 4 if it does not exist
    Edge(EdgeArgs),
}

/// Prints one vertex or one edge.
pub(crate) fn get(what: &Get, style: Style) -> Result<(), CliError> {
    match what {
        Get::Vertex(args) => {
            let graph = open_read_only(&args.store)?;
            let (snapshot, schema) = (graph.snapshot()?, graph.schema());
            let key = args.key(&graph, &schema)?;
            let found = snapshot.vertex_properties(&key)?;
            let properties = found.ok_or_else(|| args.absent(&schema, &key))?;
            with_properties(VertexArgs::report(&schema, &key), &properties).print(style)
        }
        Get::Edge(args) => {
            let graph = open_read_only(&args.store)?;
            let (snapshot, schema) = (graph.snapshot()?, graph.schema());
            let edge = args.edge(&graph, &schema)?;
            match snapshot.edge_properties(edge.key())? {
                Some(properties) => with_properties(edge.report(&schema), &properties).print(style),
                None => Err(absent(&snapshot, &schema, &edge, args)?),
            }
        }
    }
}

/// Returns the error for an edge that does not exist. It says if others join the same vertices.
fn absent(
    snapshot: &Snapshot,
    schema: &Schema,
    edge: &Edge<'_>,
    args: &EdgeArgs,
) -> Result<CliError, CliError> {
    let [src, dst] = [&edge.src, &edge.dst].map(|key| spelled(schema, key.as_ref()));
    let rank = edge.rank.map_or_else(String::new, |rank| format!(" and rank {rank}"));
    let others = match snapshot.contains_edge(EdgePattern::between(&edge.src, &edge.dst))? {
        true => "; other edges join these vertices, see --label and --rank",
        false => "",
    };
    let (label, store) = (edge.label, args.store.display());
    Ok(CliError::Absent(format!("no edge from {src} to {dst} of label {label:?}{rank} in {store}{others}")))
}
