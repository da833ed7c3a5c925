//! The kernel's entry in the registry.

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use super::{k_hop_neighborhood_until, verify};
use crate::registry::{
    Absent, Arguments, CountRange, Kernel, Memory, Outcome, Parameter, ParameterKind, ResultColumn,
    ResultKind, Value,
};
use crate::{Cancel, KernelError};

/// The number of hops.
const HOPS: Parameter = Parameter {
    name: "hops",
    summary: "The most hops from the source",
    kind: ParameterKind::Count(CountRange::ANY),
    absent: Absent::Is(Value::Count(2)),
    is_reported: true,
};

/// The kernel of the vertices within some hops.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "khop",
    function: "k_hop_neighborhood",
    metric: "khop",
    summary: "The vertices within some hops of a source, and how many hops",
    input: "any graph",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::SOURCE, HOPS, Parameter::DIRECTION],
    result: ResultColumn { name: "hops", kind: ResultKind::Hops },
    steps: "vertices",
    cost: "O(vertices + edges) at worst, usually what is reached",
    // Like `bfs`.
    memory: Memory { per_id: 25, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012",
};

fn read(arguments: &Arguments) -> Result<(VertexId, u32, Direction), KernelError> {
    let (source, hops) = (arguments.vertex(&Parameter::SOURCE)?, arguments.count(&HOPS)?);
    Ok((source, hops, arguments.direction(&Parameter::DIRECTION)?))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, hops, direction) = read(arguments).map_err(KernelError::of_any)?;
    k_hop_neighborhood_until(g, source, hops, direction, cancel).map(Outcome::Hops)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, hops, direction) = read(arguments)?;
    Ok(Outcome::Hops(verify::k_hop_neighborhood(g, source, hops, direction)))
}
