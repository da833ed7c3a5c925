//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{leiden_until, verify};
use crate::communities::{RESOLUTION, read};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of communities by Leiden's method.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "leiden",
    function: "leiden",
    metric: "leiden",
    summary: "Communities by their modularity that hang together (Leiden)",
    input: "any graph; directions are ignored, weights are finite and 0 or more",
    needs_resident: false,
    reads_weights: true,
    parameters: &[RESOLUTION, Parameter::SEED],
    result: ResultColumn { name: "community", kind: ResultKind::Communities },
    steps: "passes",
    cost: "O(edges) for each of a few rounds",
    // A copy of the graph, 12 bytes for each end of an edge; joined ones, in lists that grow; some numbers for each node.
    memory: Memory { per_id: 128, per_edge: 80, per_thread: 0, fixed: 64 << 10, provided: "" },
    cited: "V. Traag, L. Waltman, N. J. van Eck, *From Louvain to Leiden: guaranteeing well-connected communities*, Scientific \
            Reports 9, 5233, 2019",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    leiden_until(g, &read(arguments).map_err(KernelError::of_any)?, cancel).map(Outcome::Communities)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Communities(verify::leiden(g, read(arguments)?.resolution)))
}
