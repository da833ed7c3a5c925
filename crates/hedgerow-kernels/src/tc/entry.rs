//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{triangle_count_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of triangle counting.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "tc",
    function: "triangle_count",
    metric: "tc",
    summary: "The number of triangles, directions ignored",
    input: "any graph; directions, loops and repeated edges are ignored",
    needs_resident: true,
    reads_weights: false,
    parameters: &[],
    result: ResultColumn { name: "triangles", kind: ResultKind::Count },
    steps: "work items",
    cost: "O(edges^1.5) at worst",
    // Per id: the order, the places and the lengths of lists. Per edge: a rank in a list that grows, and in
    // one that does not. Fixed: the bits of all hubs.
    memory: Memory { per_id: 20, per_edge: 12, per_thread: 64 << 10, fixed: 9 << 20, provided: "" },
    cited: "T. Schank, D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005; M. Koohi \
            Esfahani, P. Kilpatrick, H. Vandierendonck, *LOTUS: Locality Optimizing Triangle Counting*, PPoPP 2022",
};

pub(crate) fn run<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError> {
    triangle_count_until(g, cancel).map(Outcome::Count)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Count(verify::triangle_count(g)))
}
