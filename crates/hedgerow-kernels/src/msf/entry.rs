//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{minimum_spanning_forest_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of the minimum spanning forest.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "msf",
    function: "minimum_spanning_forest",
    metric: "msf",
    summary: "The edges of least total weight that join what edges can join",
    input: "any graph; directions are ignored, weights are finite",
    needs_resident: false,
    reads_weights: true,
    parameters: &[],
    result: ResultColumn { name: "weight", kind: ResultKind::Edges },
    steps: "vertices",
    cost: "O(edges · log vertices) at worst",
    // Four edges of 16 bytes for each vertex in two batches, 65,536 edges in each if those are fewer; the result beside them.
    memory: Memory { per_id: 84, per_edge: 0, per_thread: 64 << 10, fixed: 2304 << 10, provided: "" },
    cited: "V. Osipov, P. Sanders, J. Singler, *The Filter-Kruskal Minimum Spanning Tree Algorithm*, ALENEX 2009; J. Feigenbaum et al., \
            *On graph problems in a semi-streaming model*, Theoretical Computer Science 348, 2005",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    _: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    minimum_spanning_forest_until(g, cancel).map(Outcome::Edges)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(g: &G, _: &Arguments) -> Result<Outcome, KernelError> {
    Ok(Outcome::Edges(verify::minimum_spanning_forest(g)))
}
