//! The kernel's entry in the registry.

use hedgerow_core::{Resident, VertexId, WeightedTopology};

use super::parameters::{COUNT, LENGTH, LIMIT};
use super::{CycleConfig, cycles_through_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of cycles through a vertex.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "cycles",
    function: "cycles_through",
    metric: "cycles",
    summary: "The first cycles through a vertex that are no longer than a bound, and on request how many there are",
    input: "any graph; weights are not looked at, repeated edges count once",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::SOURCE, LENGTH, LIMIT, COUNT, Parameter::DIRECTION],
    result: ResultColumn { name: "cycles", kind: ResultKind::Paths },
    steps: "first edges",
    cost: "O(vertices + edges), and for each way that can become a cycle, until the limit is reached, the edges of its last vertex",
    // A search; lists of the vertices that can follow on a way, that of the source among them.
    memory: Memory {
        per_id: 25,
        per_edge: 0,
        per_thread: 64 << 10,
        fixed: 256 << 10,
        provided: "at most 100 cycles of 8 vertices are asked for",
    },
    cited: "D. B. Johnson, *Finding All the Elementary Circuits of a Directed Graph*, SIAM Journal on Computing 4(1), 1975; \
            A. Gupta, T. Suzumura, *Finding All Bounded-Length Simple Cycles in a Directed Graph*, 2021",
};

fn read(arguments: &Arguments) -> Result<(VertexId, CycleConfig), KernelError> {
    let config = CycleConfig {
        length: arguments.count(&LENGTH)?,
        limit: arguments.count(&LIMIT)? as usize,
        count: arguments.flag(&COUNT)?,
        direction: arguments.direction(&Parameter::DIRECTION)?,
    };
    Ok((arguments.vertex(&Parameter::SOURCE)?, config))
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (source, config) = read(arguments).map_err(KernelError::of_any)?;
    cycles_through_until(g, source, &config, cancel).map(Outcome::Paths)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (source, config) = read(arguments)?;
    let all = verify::cycles_through(g, source, config.length, config.limit, config.direction);
    Ok(Outcome::Paths(if config.count { all } else { all.stopped() }))
}
