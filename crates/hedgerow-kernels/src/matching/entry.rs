//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::parameters::MAXIMUM;
use super::{MatchingSize, matching_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, ResultColumn, ResultKind};
use crate::{Cancel, KernelError};

/// The kernel of matching.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "matching",
    function: "matching",
    metric: "matching",
    summary: "Pairs of vertices that edges join, no vertex in two: as many as can be, or until none can be added",
    input: "a bipartite graph for as many pairs as can be, else any graph; directions are ignored",
    needs_resident: false,
    reads_weights: false,
    parameters: &[MAXIMUM],
    result: ResultColumn { name: "mate", kind: ResultKind::Mates },
    steps: "passes",
    cost: "O(edges · √vertices) at worst, usually a few passes; one pass until none can be added",
    // The places of rows, twice, mates, levels, two lists of a search that grow; the rows. A maximal matching
    // takes the mates alone.
    memory: Memory { per_id: 48, per_edge: 4, per_thread: 0, fixed: 64 << 10, provided: "" },
    cited: "J. Hopcroft, R. Karp, *An n^5/2 Algorithm for Maximum Matchings in Bipartite Graphs*, SIAM Journal on Computing 2(4), 1973",
};

fn read(arguments: &Arguments) -> Result<MatchingSize, KernelError> {
    let is_maximum = arguments.count(&MAXIMUM)? == 1;
    Ok(if is_maximum { MatchingSize::Maximum } else { MatchingSize::Maximal })
}

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    matching_until(g, read(arguments).map_err(KernelError::of_any)?, cancel).map(Outcome::Mates)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let found = match read(arguments)? {
        MatchingSize::Maximum => {
            verify::maximum(g).map_err(|(from, to)| KernelError::NotBipartite { from, to })?
        }
        MatchingSize::Maximal => verify::maximal(g),
    };
    Ok(Outcome::Mates(found))
}
