//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::{BfsConfig, bfs_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of breadth-first search.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "bfs",
    function: "bfs",
    metric: "bfs",
    summary: "Hops from a source vertex to every other vertex",
    input: "any graph",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION],
    result: ResultColumn { name: "hops", kind: ResultKind::Hops },
    steps: "vertices",
    cost: "O(vertices + edges), usually far fewer edges",
    // Depths and bitmaps: 4.4 bytes. Two frontiers share the vertices; the later one exists twice, in lists
    // that grow.
    memory: Memory { per_id: 25, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012",
};

/// Returns the source and the direction of a search.
pub(crate) fn read(arguments: &Arguments) -> Result<(VertexId, BfsConfig), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    Ok((arguments.vertex(&Parameter::SOURCE)?, BfsConfig { direction, ..BfsConfig::default() }))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, config) = read(arguments).map_err(KernelError::of_any)?;
    bfs_until(g, source, &config, cancel).map(Outcome::Hops)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, config) = read(arguments)?;
    Ok(Outcome::Hops(verify::bfs(g, source, config.direction)))
}
