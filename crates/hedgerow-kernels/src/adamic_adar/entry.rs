//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{adamic_adar_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::similarity::{K, SOURCES, TARGETS, read};
use crate::{Cancel, KernelError};

/// The kernel of Adamic's and Adar's score.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "adamic_adar",
    function: "adamic_adar",
    metric: "adamic_adar",
    summary: "How many neighbors vertices share, rare ones counting more: of pairs, or the most similar of each source",
    input: "any graph; repeated edges count once",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SOURCES, TARGETS, K, Parameter::DIRECTION],
    result: ResultColumn { name: "score", kind: ResultKind::Pairs },
    steps: "sources",
    cost: "the lists of each pair and of the vertices that it shares; for the most similar those of the source's neighbors",
    // Per id: for each of two sources at a time neighbours, sums and a growing list of candidates; for all,
    // weights of vertices and one long list. Per thread: short lists.
    memory: Memory {
        per_id: 92,
        per_edge: 0,
        per_thread: 384 << 10,
        fixed: 64 << 10,
        provided: "and 40 for each pair that is given",
    },
    cited: "L. Adamic, E. Adar, *Friends and neighbors on the Web*, Social Networks 25(3), 2003; D. Liben-Nowell, J. Kleinberg, *The \
            Link-Prediction Problem for Social Networks*, Journal of the American Society for Information Science and Technology 58(7), \
            2007",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (compared, direction) = read(arguments).map_err(KernelError::of_any)?;
    adamic_adar_until(g, &compared, direction, cancel).map(Outcome::Pairs)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (compared, direction) = read(arguments)?;
    Ok(Outcome::Pairs(verify::adamic_adar(g, &compared, direction)))
}
