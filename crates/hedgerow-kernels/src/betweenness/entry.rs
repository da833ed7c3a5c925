//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::parameters::{SAMPLES, SOURCES};
use super::{Chosen, Sources, betweenness_from, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of betweenness.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "betweenness",
    function: "betweenness",
    metric: "bc",
    summary: "How many shortest paths lead through each vertex, of all sources or of a sample",
    input: "any graph; an edge is one hop, repeated edges are paths of their own, an undirected pair counts once",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SAMPLES, Parameter::SEED, SOURCES],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "sources",
    cost: "O(vertices + edges) per source",
    // A search; its levels, which are as many as vertices in a ring and are copied when their list grows;
    // four numbers.
    memory: Memory { per_id: 66, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001; U. \
            Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos \
            17(7), 2007",
};

pub(crate) fn read(arguments: &Arguments) -> Result<Sources, KernelError> {
    if let Some(given) = arguments.optional_vertices(&SOURCES) {
        return Ok(Sources::Given(given));
    }
    let seed = u64::from(arguments.count(&Parameter::SEED)?);
    Ok(match arguments.optional_count(&SAMPLES) {
        Some(count) => Sources::Sampled { count, seed },
        None => Sources::Affordable { seed },
    })
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let chosen = read(arguments).map_err(KernelError::of_any)?.choose(g, cancel)?;
    let scores = betweenness_from(g, &chosen, cancel)?;
    Ok(Outcome::scores(scores, chosen.estimate))
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let Chosen { sources, scale, estimate } = read(arguments)?.choose(g, &Cancel::new())?;
    Ok(Outcome::scores(verify::betweenness(g, &sources, scale), estimate))
}
