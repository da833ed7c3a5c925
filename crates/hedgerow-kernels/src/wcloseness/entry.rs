//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{closeness_and_estimate, verify};
use crate::closeness::Targets;
use crate::closeness::entry::read;
use crate::closeness::parameters::{SAMPLES, SOURCES};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of closeness by weights.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wcloseness",
    function: "weighted_closeness",
    metric: "wcloseness",
    summary: "How near each vertex is to all that it reaches by the least sums of weights, exactly or by a sample",
    input: "any graph; weights that a search meets are 0 or more",
    needs_resident: false,
    reads_weights: true,
    parameters: &[SAMPLES, Parameter::SEED, SOURCES, Parameter::DIRECTION],
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "searches",
    cost: "a run of `sssp` for each sample or source",
    // A run of `sssp`, a count and a sum; the vertices at which searches begin.
    memory: Memory {
        per_id: 80,
        per_edge: 0,
        per_thread: 64 << 10,
        fixed: 64 << 10,
        provided: "vertices wait once at a time in `sssp`",
    },
    cited: "D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and Applications 8(1), 2004; S. \
            Wasserman, K. Faust, *Social Network Analysis*, 1994",
};

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
        Targets::Given(given) => verify::weighted_closeness(g, given, direction),
        Targets::Drawn(drawn) => verify::weighted_closeness_to(g, &drawn.vertices, drawn.scale(), direction),
    };
    Ok(Outcome::scores(scores, targets.estimate()))
}
