//! The kernel's entry in the registry.

use hedgerow_core::{Resident, WeightedTopology};

use super::{jaccard_until, verify};
use crate::registry::{Arguments, Kernel, Memory, Outcome, Parameter, ResultColumn, ResultKind};
use crate::similarity::{K, SOURCES, TARGETS, read};
use crate::{Cancel, KernelError};

/// The kernel of Jaccard's coefficient.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "jaccard",
    function: "jaccard",
    metric: "jaccard",
    summary: "Which part of their neighbors vertices share: of pairs, or the most similar of each source",
    input: "any graph; repeated edges count once",
    needs_resident: false,
    reads_weights: false,
    parameters: &[SOURCES, TARGETS, K, Parameter::DIRECTION],
    result: ResultColumn { name: "score", kind: ResultKind::Pairs },
    steps: "sources",
    cost: "the lists of each pair; for the most similar those of the source's neighbors, and of some of theirs",
    // Per id: for each of two sources at a time neighbours, sums and a growing list of candidates; and one
    // long list. Per thread: short lists.
    memory: Memory {
        per_id: 80,
        per_edge: 0,
        per_thread: 384 << 10,
        fixed: 64 << 10,
        provided: "and 40 for each pair that is given",
    },
    cited: "P. Jaccard, *Étude comparative de la distribution florale dans une portion des Alpes et des Jura*, 1901; D. Liben-Nowell, J. \
            Kleinberg, *The Link-Prediction Problem for Social Networks*, Journal of the American Society for Information Science and \
            Technology 58(7), 2007",
};

pub(crate) fn run<G: WeightedTopology>(
    g: &G,
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<G::Error>> {
    let (compared, direction) = read(arguments).map_err(KernelError::of_any)?;
    jaccard_until(g, &compared, direction, cancel).map(Outcome::Pairs)
}

pub(crate) fn verify<G: WeightedTopology + Resident>(
    g: &G,
    arguments: &Arguments,
) -> Result<Outcome, KernelError> {
    let (compared, direction) = read(arguments)?;
    Ok(Outcome::Pairs(verify::jaccard(g, &compared, direction)))
}
