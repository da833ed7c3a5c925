//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::parameters::DELTA;
use super::{SsspConfig, sssp_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of shortest paths.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "sssp",
    function: "sssp",
    metric: "sssp",
    summary: "Least sums of weights along paths from a source vertex to every other vertex",
    input: "any graph; weights that a path from the source reaches are 0 or more",
    needs_resident: false,
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION, DELTA],
    result: ResultColumn { name: "distance", kind: ResultKind::Distances },
    steps: "vertices",
    cost: "O(vertices + edges) times a small factor",
    // A distance per vertex; one place in a bucket, and one for sorting when the window moves, in lists that
    // grow.
    memory: Memory {
        per_id: 64,
        per_edge: 0,
        per_thread: 64 << 10,
        fixed: 64 << 10,
        provided: "vertices wait once at a time; one whose distance improves while it waits, waits once more",
    },
    cited: "U. Meyer, P. Sanders, *Δ-stepping: a parallelizable shortest path algorithm*, Journal of Algorithms 49(1), \
            2003; Y. Zhang et al., *Optimizing Ordered Graph Algorithms with GraphIt*, CGO 2020",
};

fn read(arguments: &Arguments) -> Result<(VertexId, SsspConfig), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    let config = SsspConfig { direction, delta: arguments.optional_number(&DELTA) };
    Ok((arguments.vertex(&Parameter::SOURCE)?, config))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, config) = read(arguments).map_err(KernelError::of_any)?;
    sssp_until(g, source, &config, cancel).map(Outcome::Distances)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, config) = read(arguments)?;
    Ok(Outcome::Distances(verify::sssp(g, source, config.direction)))
}
