//! The edges of the work, and the engines for them.

use hedgerow_core::VertexId;
use hedgerow_lab::GraphForm;
use hedgerow_subjects::{Edge, Engine, Subject, open};

use super::super::load;
use super::super::work::Work;
use hedgerow_report::failure::Result;

/// Returns the form of an engine for the work.
pub(crate) fn form(work: &Work<'_>) -> GraphForm {
    GraphForm { directed: work.graph.directed, weighted: work.graph.weights.is_some() }
}

/// Returns the edges in the order of ingestion.
pub(crate) fn edges(work: &Work<'_>) -> Vec<Edge> {
    let weighted = work.graph.weights.is_some();
    let weight = |edge: &(u32, u32)| if weighted { load::weight(work.graph.directed, edge) } else { 1.0 };
    work.distinct_edges().iter().map(|edge| (VertexId(edge.0), VertexId(edge.1), weight(edge))).collect()
}

/// Makes an engine that has the vertices of the work, and no edges.
pub(crate) fn empty(work: &Work<'_>, engine: Engine) -> Result<Box<dyn Subject>> {
    let subject = open(engine, form(work))?;
    subject.insert_vertices(work.graph.vertices)?;
    Ok(subject)
}
