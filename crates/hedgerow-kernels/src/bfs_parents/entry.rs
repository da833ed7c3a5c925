//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{bfs_parents_until, verify};
use crate::bfs::entry::read;
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of the parents of a breadth-first search.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "bfs_parents",
    function: "bfs_parents",
    metric: "bfs_parents",
    summary: "The next vertex on a shortest path from each vertex back to a source",
    input: "any graph",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION],
    result: ResultColumn { name: "parent", kind: ResultKind::Vertices },
    steps: "vertices",
    cost: "O(vertices + edges), usually far fewer edges",
    // The memory of the search; the parents are allocated when its lists are freed.
    memory: Memory { per_id: 25, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012; S. Beamer, K. Asanović, D. \
            Patterson, *The GAP Benchmark Suite*, 2015",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, config) = read(arguments).map_err(KernelError::of_any)?;
    bfs_parents_until(g, source, &config, cancel).map(Outcome::Vertices)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, config) = read(arguments)?;
    Ok(Outcome::Vertices(verify::bfs_parents(g, source, config.direction)))
}
