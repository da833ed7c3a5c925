//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{scc_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of strongly connected components.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "scc",
    function: "scc",
    metric: "scc",
    summary: "Strongly connected components: paths lead both ways",
    input: "any graph; in an undirected one the same as `wcc`",
    needs_resident: false,
    reads_weights: false,
    parameters: &[],
    result: ResultColumn { name: "component", kind: ResultKind::Components },
    steps: "passes",
    cost: "O(vertices + edges)",
    // A component and two degrees, and a frontier in parts; or a component, the places of edges, two numbers
    // and a path. Copies of the edges that the steps before leave, in lists that grow.
    memory: Memory { per_id: 36, per_edge: 12, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "G. Slota, S. Rajamanickam, K. Madduri, *BFS and Coloring-based Parallel Algorithms for Strongly Connected Components and \
            Related Problems*, IPDPS 2014; R. Tarjan, *Depth-first search and linear graph algorithms*, SIAM Journal on \
            Computing 1(2), 1972; D. Pearce, *A space-efficient algorithm for finding strongly connected components*, \
            Information Processing Letters 116(1), 2016",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    _arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    scc_until(g, cancel).map(Outcome::Components)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Components(verify::scc(g)))
}
