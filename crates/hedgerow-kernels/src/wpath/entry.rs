//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{shortest_weighted_path_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of a shortest path by weights.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "wpath",
    function: "shortest_weighted_path",
    metric: "wpath",
    summary: "A path with the least sum of weights from one vertex to another",
    input: "any graph; weights that the search meets are 0 or more",
    needs_resident: false,
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::TARGET, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "vertices",
    cost: "O((vertices + edges) · log vertices) at worst, usually far less",
    // Two distances and vertices before; two heaps that grow, the old one beside the new; the path and the
    // places of its vertices.
    memory: Memory { per_id: 160, per_edge: 0, per_thread: 0, fixed: 192 << 10, provided: "" },
    cited: "T. A. J. Nicholson, *Finding the shortest route between two points in a network*, The Computer Journal 9(3), \
            1966; E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1, 1959",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, target, direction) = arguments.ends().map_err(KernelError::of_any)?;
    shortest_weighted_path_until(g, source, target, direction, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, target, direction) = arguments.ends()?;
    Ok(Outcome::Paths(verify::shortest_weighted_path(g, source, target, direction)))
}
