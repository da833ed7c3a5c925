//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::config::{P, Q, SOURCES, STEPS, WALKS};
use super::{WalkConfig, random_walks_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of random walks.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "walks",
    function: "random_walks",
    metric: "walks",
    summary: "Random walks, uniform or as node2vec has them",
    input: "any graph; weights are not looked at, repeated edges count as often as they are there",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SOURCES, WALKS, STEPS, P, Q, Parameter::SEED, Parameter::DIRECTION],
    result: ResultColumn { name: "walks", kind: ResultKind::Paths },
    steps: "walks",
    cost: "O(1) per step as a rule",
    // The sources; eleven vertices and two numbers for each walk, and its length while the result is made.
    memory: Memory {
        per_id: 72,
        per_edge: 0,
        per_thread: 256 << 10,
        fixed: 64 << 10,
        provided: "one walk of ten steps from each vertex, else 4 for each step and 28 for each walk",
    },
    cited: "A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016; K. Yang et al., \
            *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019",
};

pub(crate) fn read(arguments: &Arguments) -> Result<(Option<Vec<VertexId>>, WalkConfig), KernelError> {
    let config = WalkConfig {
        walks: arguments.count(&WALKS)?,
        steps: arguments.count(&STEPS)?,
        p: arguments.number(&P)?,
        q: arguments.number(&Q)?,
        seed: u64::from(arguments.count(&Parameter::SEED)?),
        direction: arguments.direction(&Parameter::DIRECTION)?,
    };
    Ok((arguments.optional_vertices(&SOURCES), config))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (sources, config) = read(arguments).map_err(KernelError::of_any)?;
    random_walks_until(g, sources.as_deref(), &config, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (sources, config) = read(arguments)?;
    Ok(Outcome::Paths(verify::random_walks(g, sources.as_deref(), &config)))
}
