//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{local_clustering_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of local clustering.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "lcc",
    function: "local_clustering",
    metric: "lcc",
    summary: "The share of the edges that there could be between the neighbors of each vertex (local clustering)",
    input: "any graph; neighbors are those of both directions, loops and repeated edges are ignored",
    needs_resident: true,
    reads_weights: false,
    parameters: &[],
    result: ResultColumn { name: "coefficient", kind: ResultKind::Scores },
    steps: "work items",
    cost: "O(edges^1.5) at worst",
    // Per id: the order, the places and lengths of lists, the numbers of neighbours. Per edge: a rank in a
    // list that grows and in one that does not, and a mark for both ways. Fixed: the bits of all hubs.
    memory: Memory { per_id: 32, per_edge: 15, per_thread: 192 << 10, fixed: 17 << 20, provided: "" },
    cited: "A. Iosup et al., *The LDBC Graphalytics Benchmark*, version 1.0.3, 2020; D. Watts, S. Strogatz, *Collective \
            dynamics of small-world networks*, Nature 393, 1998; T. Schank, D. Wagner, *Finding, Counting and Listing All \
            Triangles in Large Graphs*, WEA 2005",
};

pub(crate) fn run<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError> {
    local_clustering_until(g, cancel).map(Outcome::Scores)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    _arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    Ok(Outcome::Scores(verify::local_clustering(g)))
}
