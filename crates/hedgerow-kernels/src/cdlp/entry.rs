//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::parameters::ITERATIONS;
use super::{label_propagation_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of label propagation.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "cdlp",
    function: "label_propagation",
    metric: "cdlp",
    summary: "Communities by labels that vertices take from most of their neighbors, all at once (CDLP)",
    input: "any graph; each edge from or to a vertex counts, of equally frequent labels the least is taken",
    needs_resident: false,
    reads_weights: false,
    parameters: &[ITERATIONS],
    result: ResultColumn { name: "label", kind: ResultKind::Labels },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration, times log degree at worst",
    // Two labels and three bits; those that changed; the labels around one vertex in each thread.
    memory: Memory { per_id: 17, per_edge: 8, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "U. Raghavan, R. Albert, S. Kumara, *Near linear time algorithm to detect community structures in large-scale \
            networks*, Physical Review E 76, 036106, 2007; A. Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, 2020; \
            R. Boyer, J. Moore, *MJRTY – A Fast Majority Vote Algorithm*, 1991",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let iterations = arguments.count(&ITERATIONS).map_err(KernelError::of_any)?;
    label_propagation_until(g, iterations, cancel).map(Outcome::Labels)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Labels(verify::label_propagation(g, arguments.count(&ITERATIONS)?)))
}
