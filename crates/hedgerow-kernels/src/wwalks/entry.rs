//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{verify, weighted_random_walks_until};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::walks::config::{P, Q, SOURCES, STEPS, WALKS};
use crate::walks::entry::read;
use crate::{Cancel, KernelError};

/// The kernel of random walks by weights.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wwalks",
    function: "weighted_random_walks",
    metric: "wwalks",
    summary: "Random walks that go to neighbors by the weights of the edges, each step alone or as node2vec has it",
    input: "any graph; weights of edges at vertices that walks leave are finite and 0 or more, where they sum to 0 a walk ends",
    needs_resident: false,
    reads_weights: true,
    parameters: &[SOURCES, WALKS, STEPS, P, Q, Parameter::SEED, Parameter::DIRECTION],
    result: ResultColumn { name: "walks", kind: ResultKind::Paths },
    steps: "walks",
    cost: "the lists of the vertices that walks of an item are at, for each step",
    // The memory of `walks`, and that of the walks that are taken together; a list of each thread, and one of
    // any length.
    memory: Memory {
        per_id: 112,
        per_edge: 16,
        per_thread: 2 << 20,
        fixed: 64 << 10,
        provided: "one walk of ten steps from each vertex, else 4 for each step and 68 for each walk",
    },
    cited: "A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016; K. Yang et al., \
            *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (sources, config) = read(arguments).map_err(KernelError::of_any)?;
    weighted_random_walks_until(g, sources.as_deref(), &config, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (sources, config) = read(arguments)?;
    Ok(Outcome::Paths(verify::weighted_random_walks(g, sources.as_deref(), &config)))
}
