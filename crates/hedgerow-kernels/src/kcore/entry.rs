//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{core_numbers_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of core numbers.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "kcore",
    function: "core_numbers",
    metric: "kcore",
    summary: "The core number of each vertex: the largest k for which it is in the k-core",
    input: "any graph; directions are ignored, edges that lead both ways count twice, repeated ones as often as they are there, loops do not count",
    needs_resident: false,
    reads_weights: false,
    parameters: &[],
    result: ResultColumn { name: "core", kind: ResultKind::Numbers },
    steps: "vertices",
    cost: "O(vertices + edges)",
    // A degree, a core number, the vertices that are left, the vertices of a round and, in parts, those of
    // the next.
    memory: Memory { per_id: 24, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "S. Seidman, *Network structure and minimum degree*, Social Networks 5(3), 1983; N. Dasari, D. Ranjan, M. Zubair, \
            *ParK: An efficient algorithm for k-core decomposition on multicore processors*, IEEE Big Data 2014; L. Dhulipala, \
            G. Blelloch, J. Shun, *Julienne: A Framework for Parallel Graph Algorithms using Work-efficient Bucketing*, SPAA 2017",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    _arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    core_numbers_until(g, cancel).map(Outcome::Numbers)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Numbers(verify::core_numbers(g)))
}
