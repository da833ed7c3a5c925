//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{verify, vertex_degrees_until};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of degrees.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "degrees",
    function: "vertex_degrees",
    metric: "degrees",
    summary: "The number of edges of each vertex in a direction, and how many vertices have each number",
    input: "any graph; repeated edges count as often as they are there",
    needs_resident: false,
    reads_weights: false,
    parameters: &[Parameter::DIRECTION],
    result: ResultColumn { name: "degree", kind: ResultKind::Numbers },
    steps: "vertices",
    cost: "O(vertices), by the page O(vertices + edges)",
    memory: Memory { per_id: 4, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" },
    cited: "M. Newman, *The structure and function of complex networks*, SIAM Review 45(2), 2003",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let direction = arguments.direction(&Parameter::DIRECTION).map_err(KernelError::of_any)?;
    vertex_degrees_until(g, direction, cancel).map(Outcome::Numbers)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Numbers(verify::vertex_degrees(g, arguments.direction(&Parameter::DIRECTION)?)))
}
