//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::parameters::SOURCES;
use super::{personalized_pagerank_until, verify};
use crate::pagerank::PageRankConfig;
use crate::pagerank::config::{DAMPING, ITERATIONS, TOLERANCE};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of personalised PageRank.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "ppr",
    function: "personalized_pagerank",
    metric: "ppr",
    summary: "PageRank scores of a surfer who jumps back to some vertices",
    input: "any graph; an undirected edge counts as two directed ones",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SOURCES, ITERATIONS, DAMPING, TOLERANCE],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // Three arrays of scores, a bit, and a sum for each 1,024 vertices; the sources.
    memory: Memory { per_id: 29, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002; L. Page, S. Brin, R. Motwani, T. Winograd, *The \
            PageRank Citation Ranking*, 1999",
};

fn read(arguments: &Arguments) -> Result<(Vec<VertexId>, PageRankConfig), KernelError> {
    let config = PageRankConfig {
        damping: arguments.number(&DAMPING)?,
        iterations: arguments.count(&ITERATIONS)?,
        tolerance: arguments.optional_number(&TOLERANCE),
    };
    let sources = arguments.optional_vertices(&SOURCES);
    Ok((sources.ok_or(KernelError::MissingArgument { parameter: SOURCES.name })?, config))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (sources, config) = read(arguments).map_err(KernelError::of_any)?;
    personalized_pagerank_until(g, &sources, &config, cancel).map(Outcome::Scores)
}

/// Checks scores. With a tolerance the kernel stops when the change is small enough; the verifier goes on to
/// the end.
pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (sources, config) = read(arguments)?;
    let scores = verify::personalized_pagerank(g, &sources, config.damping, config.iterations);
    Ok(Outcome::Scores(scores))
}
