//! `hedgerow del`.

use crate::element::{EdgeArgs, VertexArgs};
use crate::error::CliError;
use crate::output::Style;
use crate::store::open_to_write;

/// The element to remove.
#[derive(clap::Subcommand)]
pub(crate) enum Del {
    /// Remove a vertex with all its edges
    Vertex(VertexArgs),
    /// Remove an edge; its vertices stay
    Edge(EdgeArgs),
}

/// Removes one vertex or one edge, in one transaction. An element that does not exist is no error.
pub(crate) fn del(what: &Del, style: Style) -> Result<(), CliError> {
    match what {
        Del::Vertex(args) => {
            let graph = open_to_write(&args.store)?;
            let schema = graph.schema();
            let key = args.key(&graph, &schema)?;
            let before = graph.snapshot()?.edge_count()?;
            let (removed, timestamp) = graph.transact(0, |txn| txn.remove_vertex(&key))?;
            let edges = before.saturating_sub(graph.snapshot()?.edge_count()?);
            graph.close()?;
            let report = VertexArgs::report(&schema, &key).field("removed", removed);
            report.field("edges_removed", edges).field("timestamp", timestamp.0).print(style)
        }
        Del::Edge(args) => {
            let graph = open_to_write(&args.store)?;
            let schema = graph.schema();
            let edge = args.edge(&graph, &schema)?;
            let (removed, timestamp) = graph.transact(0, |txn| txn.remove_edge(edge.key()))?;
            graph.close()?;
            let report = edge.report(&schema).field("removed", removed);
            report.field("timestamp", timestamp.0).print(style)
        }
    }
}
