//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{shortest_path_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of a shortest path by hops.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "path",
    function: "shortest_path",
    metric: "path",
    summary: "A path with the fewest edges from one vertex to another",
    input: "any graph; weights are not looked at",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::SOURCE, Parameter::TARGET, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "vertices",
    cost: "O(vertices + edges) at worst, usually far less",
    // The vertices before, from both ends; two frontiers in lists that grow, of which each may exist twice;
    // the path.
    memory: Memory { per_id: 32, per_edge: 0, per_thread: 0, fixed: 64 << 10, provided: "" },
    cited: "I. Pohl, *Bi-directional Search*, Machine Intelligence 6, 1971",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, target, direction) = arguments.ends().map_err(KernelError::of_any)?;
    shortest_path_until(g, source, target, direction, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, target, direction) = arguments.ends()?;
    Ok(Outcome::Paths(verify::shortest_path(g, source, target, direction)))
}
