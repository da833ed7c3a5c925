//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::parameters::SOURCES;
use super::{verify, weighted_pagerank_until};
use crate::pagerank::PageRankConfig;
use crate::pagerank::config::{DAMPING, ITERATIONS, TOLERANCE};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of PageRank by weights.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wpagerank",
    function: "weighted_pagerank",
    metric: "wpr",
    summary: "PageRank scores of a surfer who follows edges by their weights, and jumps anywhere or back to some vertices",
    input: "any graph; weights are finite and 0 or more, a vertex whose weights sum to 0 counts as one without edges, an undirected edge \
            counts as two directed ones",
    needs_resident: false,
    reads_weights: true,
    parameters: &[SOURCES, ITERATIONS, DAMPING, TOLERANCE],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // Sums of weights, scores, shares; the shares that were handed out if incoming edges cannot be read; the
    // sources twice; sums of ranges.
    memory: Memory { per_id: 41, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; W. Xing, A. Ghorbani, *Weighted \
            PageRank Algorithm*, CNSR 2004; T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002",
};

fn read(arguments: &Arguments) -> Result<(Option<Vec<VertexId>>, PageRankConfig), KernelError> {
    let config = PageRankConfig {
        damping: arguments.number(&DAMPING)?,
        iterations: arguments.count(&ITERATIONS)?,
        tolerance: arguments.optional_number(&TOLERANCE),
    };
    Ok((arguments.optional_vertices(&SOURCES), config))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (sources, config) = read(arguments).map_err(KernelError::of_any)?;
    weighted_pagerank_until(g, sources.as_deref(), &config, cancel).map(Outcome::Scores)
}

/// Checks scores. With a tolerance the kernel stops when the change is small enough; the verifier goes on to
/// the end.
pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (sources, config) = read(arguments)?;
    let scores = verify::weighted_pagerank(g, sources.as_deref(), config.damping, config.iterations);
    Ok(Outcome::Scores(scores))
}
