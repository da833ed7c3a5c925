//! Jaccard's coefficient: the share of their neighbours that two vertices have in common.
//!
//! **Result.** For vertices `u` and `v` the number of neighbours that they share, over the number that they
//! have together; 0 if neither has any. Like in NetworkX, `u` and `v` themselves are never shared, but count
//! among the neighbours: if an edge joins two vertices, their score is below 1. The result has the given
//! pairs in their order, or for each source the most similar vertices: see [`similarity`](crate::similarity).
//!
//! **Input.** Any graph; repeated edges count once. In a directed graph neighbours are those along the edges,
//! or against them.
//!
//! **Cited.** P. Jaccard, *Étude comparative de la distribution florale dans une portion des Alpes et des
//! Jura*, Bulletin de la Société Vaudoise des Sciences Naturelles 37, 1901; D. Liben-Nowell, J. Kleinberg,
//! *The Link-Prediction Problem for Social Networks*, Journal of the American Society for Information Science
//! and Technology 58(7), 2007, section 3.
//!
//! **Cost.** Reads the lists of each pair; for the most similar vertices, the lists of the source's
//! neighbours and of the most promising of their neighbours.

use hedgerow_core::{Direction, Topology};

use super::measure::{Compared, Measure};
use super::parameters::{PARAMETERS, read};
use super::{compare, verify};
use crate::pairs::Pairs;
use crate::registry::prelude::*;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Which part of their neighbors vertices share: of pairs, or the most similar of each source",
    input: "any graph; repeated edges count once",
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Pairs },
    steps: "sources",
    cost: "the lists of each pair; for the most similar those of the source's neighbors, and of some of theirs",
    // Per id: for each of two sources at a time neighbours, sums and a growing list of candidates; and one
    // long list. Per thread: short lists.
    memory: Memory {
        per_thread: 384 << 10,
        provided: "and 40 for each pair that is given",
        ..Memory::per_id(80)
    },
    cited: "P. Jaccard, *Étude comparative de la distribution florale dans une portion des Alpes et des Jura*, 1901; D. Liben-Nowell, J. \
            Kleinberg, *The Link-Prediction Problem for Social Networks*, Journal of the American Society for Information Science and \
            Technology 58(7), 2007",
    ..Kernel::named("jaccard", "jaccard")
};

functions!(
    Outcome::Pairs,
    read,
    |g, (compared, direction), cancel| jaccard_until(g, &compared, direction, cancel),
    verify::jaccard(g, &compared, direction)
);

kernel! {
    /// Computes Jaccard's coefficient of pairs, or of each source with the vertices most similar to it.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] and [`KernelError::TargetNotLive`]; [`KernelError::OutOfRange`] for a
    /// `k` of 0; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn jaccard, jaccard_until<G: Topology>(
        g, compared: &Compared, direction: Direction; cancel
    ) -> Pairs {
        compare(g, compared, Measure::Jaccard, direction, cancel)
    }
}
