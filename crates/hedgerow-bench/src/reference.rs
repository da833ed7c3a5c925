//! The CSR that engines are compared with.

use hedgerow_lab::{Csr, CsrOptions};
use hedgerow_workload::LoadedGraph;

use crate::failure::Result;

/// The graph as a CSR, repeated edges merged, with weights where the graph has them.
pub(crate) fn csr_of(graph: &LoadedGraph) -> Result<Csr> {
    let options = CsrOptions { directed: graph.directed, ..CsrOptions::default() };
    Ok(match &graph.weights {
        None => Csr::from_edges(graph.vertices, &graph.edges, &options)?,
        Some(weights) => Csr::from_weighted_edges(graph.vertices, &graph.edges, weights, &options)?,
    })
}
