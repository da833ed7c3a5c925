//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{verify, weighted_betweenness_from};
use crate::betweenness::Chosen;
use crate::betweenness::entry::read;
use crate::betweenness::parameters::{SAMPLES, SOURCES};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of betweenness by weights.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wbetweenness",
    function: "weighted_betweenness",
    metric: "wbc",
    summary: "How many paths with the least sum of weights lead through each vertex, of all sources or of a sample",
    input: "any graph; weights that a path from a source reaches are 0 or more, and no cycle of edges makes a path no longer; lengths \
            are equal where sums of weights differ by no more than 2^-40 of the larger, repeated edges of one weight are paths of their own, an undirected \
            pair counts once",
    needs_resident: false,
    reads_weights: true,
    parameters: &[SAMPLES, Parameter::SEED, SOURCES],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "sources",
    cost: "a run of `sssp` and O(vertices + edges) per source",
    // A run of `sssp`; three numbers, the edges not met yet, and the levels.
    memory: Memory {
        per_id: 100,
        per_edge: 0,
        per_thread: 64 << 10,
        fixed: 64 << 10,
        provided: "vertices wait once at a time in `sssp`",
    },
    cited: "U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001; U. \
            Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos \
            17(7), 2007; A. B. Kahn, *Topological sorting of large networks*, Communications of the ACM 5(11), 1962",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let chosen = read(arguments).map_err(KernelError::of_any)?.choose(g, cancel)?;
    let scores = weighted_betweenness_from(g, &chosen, cancel)?;
    Ok(Outcome::scores(scores, chosen.estimate))
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let Chosen { sources, scale, estimate } = read(arguments)?.choose(g, &Cancel::new())?;
    let scores = verify::weighted_betweenness(g, &sources, scale)?;
    Ok(Outcome::scores(scores, estimate))
}
