//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{verify, wcc_until};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of weakly connected components.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wcc",
    function: "wcc",
    metric: "wcc",
    summary: "Weakly connected components",
    input: "any graph; directions are ignored",
    needs_resident: false,
    reads_weights: false,
    parameters: &[],
    result: ResultColumn { name: "component", kind: ResultKind::Components },
    steps: "passes",
    cost: "O(vertices + edges), usually few edges",
    // A parent per vertex; the roots of a sample.
    memory: Memory { per_id: 4, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "M. Sutton, T. Ben-Nun, A. Barak, *Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling*, \
            IPDPS 2018; Y. Shiloach, U. Vishkin, *An O(log n) parallel connectivity algorithm*, 1982",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    _arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    wcc_until(g, cancel).map(Outcome::Components)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Components(verify::wcc(g)))
}
