//! The edges of the work, and how they get into engines of any kind.

use hedgerow_core::{DynamicGraph, Update, VertexId};
use hedgerow_lab::GraphForm;

use super::super::load;
use super::super::work::Work;
use crate::failure::Result;

/// An edge with its weight, 1 where the work has none.
pub(super) type Edge = (VertexId, VertexId, f64);

pub(super) fn form(work: &Work<'_>) -> GraphForm {
    GraphForm { directed: work.graph.directed, weighted: work.graph.weights.is_some() }
}

/// The edges in the order of ingestion.
pub(super) fn edges(work: &Work<'_>) -> Vec<Edge> {
    let weighted = work.graph.weights.is_some();
    let weight = |edge: &(u32, u32)| if weighted { load::weight(work.graph.directed, edge) } else { 1.0 };
    work.distinct_edges().iter().map(|edge| (VertexId(edge.0), VertexId(edge.1), weight(edge))).collect()
}

/// Inserts the vertices alone.
pub(super) fn insert_vertices<G: DynamicGraph>(work: &Work<'_>, engine: &G) -> Result<()> {
    let vertices: Vec<Update> =
        (0..work.graph.vertices as u32).map(|v| Update::InsertVertex(VertexId(v))).collect();
    vertices.chunks(1 << 16).try_for_each(|batch| engine.write(batch).map(drop))?;
    Ok(())
}

/// Inserts the vertices, and then edge by edge.
pub(super) fn fill<G: DynamicGraph>(work: &Work<'_>, edges: &[Edge], engine: &G) -> Result<()> {
    insert_vertices(work, engine)?;
    for &(src, dst, weight) in edges {
        engine.insert_edge(src, dst, weight)?;
    }
    Ok(())
}
