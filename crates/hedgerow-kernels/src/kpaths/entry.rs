//! The kernel's entry in the registry.

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use super::parameters::K;
use super::{k_shortest_paths_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of several shortest paths.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "kpaths",
    function: "k_shortest_paths",
    metric: "kpaths",
    summary: "The simple paths with the least sums of weights from one vertex to another",
    input: "any graph; weights from which the target can be reached are 0 or more",
    needs_resident: false,
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::TARGET, K, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "paths",
    cost: "a run of `sssp` and a short search for each vertex of each path",
    // A run of sssp; then distances to the target and from the source, the vertex before each, the vertices
    // reached, a heap that grows.
    memory: Memory {
        per_id: 120,
        per_edge: 0,
        per_thread: 64 << 10,
        fixed: 128 << 10,
        provided: "the paths and what leaves them have no more vertices than the graph",
    },
    cited: "J. Y. Yen, *Finding the K Shortest Loopless Paths in a Network*, Management Science 17(11), 1971; E. L. \
            Lawler, *A procedure for computing the K best solutions to discrete optimization problems and its application \
            to the shortest path problem*, Management Science 18(7), 1972",
};

fn read(arguments: &Arguments) -> Result<(VertexId, VertexId, u32, Direction), KernelError> {
    let (source, target, direction) = arguments.ends()?;
    Ok((source, target, arguments.count(&K)?, direction))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, target, k, direction) = read(arguments).map_err(KernelError::of_any)?;
    k_shortest_paths_until(g, source, target, k, direction, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, target, k, direction) = read(arguments)?;
    Ok(Outcome::Paths(verify::k_shortest_paths(g, source, target, k as usize, direction)))
}
