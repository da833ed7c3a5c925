//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::config::{DAMPING, ITERATIONS, PageRankConfig, TOLERANCE};
use super::{pagerank_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of PageRank.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "pagerank",
    function: "pagerank",
    metric: "pr",
    summary: "PageRank scores, which sum to 1",
    input: "any graph; an undirected edge counts as two directed ones",
    needs_resident: false,
    reads_weights: false,
    parameters: &[ITERATIONS, DAMPING, TOLERANCE],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // With a tolerance: four arrays of scores, at the end a fifth, a bit, and three sums for each 1,024
    // vertices.
    memory: Memory { per_id: 41, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; formula as in A. Iosup et \
            al., *LDBC Graphalytics*, VLDB 2016",
};

fn read(arguments: &Arguments) -> Result<PageRankConfig, KernelError> {
    Ok(PageRankConfig {
        damping: arguments.number(&DAMPING)?,
        iterations: arguments.count(&ITERATIONS)?,
        tolerance: arguments.optional_number(&TOLERANCE),
    })
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    pagerank_until(g, &read(arguments).map_err(KernelError::of_any)?, cancel).map(Outcome::Scores)
}

/// Checks scores. With a tolerance the kernel stops when the change is small enough; the verifier goes on to
/// the end.
pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let config = read(arguments)?;
    Ok(Outcome::Scores(verify::pagerank(g, config.damping, config.iterations)))
}
