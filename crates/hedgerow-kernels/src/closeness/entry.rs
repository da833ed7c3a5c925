//! The kernel's entry in the registry.

use hedgerow_core::{Direction, Resident, WeightedTopology};

use super::parameters::{SAMPLES, SOURCES};
use super::{ClosenessOf, Targets, closeness_and_estimate, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of closeness.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "closeness",
    function: "closeness",
    metric: "closeness",
    summary: "How near each vertex is to all that it reaches, exactly or by a sample",
    input: "any graph; an edge is one hop",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SAMPLES, Parameter::SEED, SOURCES, Parameter::DIRECTION],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "searches",
    cost: "O(vertices + edges) per level of 64 searches at worst, a search for each sample",
    // Three words and two sums. Two levels share the vertices; the later one exists twice, in lists that
    // grow.
    memory: Memory { per_id: 60, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and Applications 8(1), 2004; M. Then et \
            al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014; S. Wasserman, K. Faust, *Social Network \
            Analysis*, 1994",
};

pub(crate) fn read(arguments: &Arguments) -> Result<(ClosenessOf, Direction), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    if let Some(given) = arguments.optional_vertices(&SOURCES) {
        return Ok((ClosenessOf::Given(given), direction));
    }
    let seed = u64::from(arguments.count(&Parameter::SEED)?);
    let of = match arguments.optional_count(&SAMPLES) {
        Some(count) => ClosenessOf::Sampled { count, seed },
        None => ClosenessOf::Affordable { seed },
    };
    Ok((of, direction))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (of, direction) = read(arguments).map_err(KernelError::of_any)?;
    let (scores, estimate) = closeness_and_estimate(g, &of, direction, cancel)?;
    Ok(Outcome::scores(scores, estimate))
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (of, direction) = read(arguments)?;
    let targets = of.targets(g, direction, &Cancel::new())?;
    let scores = match &targets {
        Targets::Given(given) => verify::closeness(g, given, direction),
        Targets::Drawn(drawn) => verify::closeness_to(g, &drawn.vertices, drawn.scale(), direction),
    };
    Ok(Outcome::scores(scores, targets.estimate()))
}
