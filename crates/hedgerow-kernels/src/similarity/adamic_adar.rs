//! The score of Adamic and Adar: how many neighbours two vertices share, where a neighbour of low degree
//! counts more.
//!
//! **Result.** For vertices `u` and `v` the sum of `1/ln(degree(w))` over the neighbours `w` that they share;
//! 0 if they share none. The result has the given pairs in their order, or for each source the most similar
//! vertices: see [`similarity`](crate::similarity). A vertex that two others share has a degree of 2 or more.
//! Only in the score of a vertex with itself, a neighbour can have degree 1. The logarithm of 1 is 0, so such
//! a neighbour adds 0. (NetworkX fails in this case.)
//!
//! **Degree.** The number of neighbours of `w`: repeated edges count once, an undirected loop twice, like in
//! NetworkX. In a directed graph with edges from `u` and `v` to `w` it is the number of vertices with edges
//! to `w`; against the edges, the number of vertices with edges from `w`.
//!
//! **Input.** Any graph.
//!
//! **Cited.** L. Adamic, E. Adar, *Friends and neighbors on the Web*, Social Networks 25(3), 2003, section 3;
//! D. Liben-Nowell, J. Kleinberg, *The Link-Prediction Problem for Social Networks*, Journal of the American
//! Society for Information Science and Technology 58(7), 2007, section 3.
//!
//! **Cost.** Reads the lists of both vertices of each pair, and of the vertices that they share. For the most
//! similar vertices, it reads the lists of the source's neighbours.

use hedgerow_core::{Direction, Topology};

use super::measure::{Compared, Measure};
use super::parameters::{PARAMETERS, read};
use super::{compare, verify};
use crate::pairs::Pairs;
use crate::registry::prelude::*;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "How many neighbors vertices share, rare ones counting more: of pairs, or the most similar of each source",
    input: "any graph; repeated edges count once",
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Pairs },
    steps: "sources",
    cost: "the lists of each pair and of the vertices that it shares; for the most similar those of the source's neighbors",
    // Per id: for each of two sources at a time neighbours, sums and a growing list of candidates; for all,
    // weights of vertices and one long list. Per thread: short lists.
    memory: Memory {
        per_thread: 384 << 10,
        provided: "and 40 for each pair that is given",
        ..Memory::per_id(92)
    },
    cited: "L. Adamic, E. Adar, *Friends and neighbors on the Web*, Social Networks 25(3), 2003; D. Liben-Nowell, J. Kleinberg, *The \
            Link-Prediction Problem for Social Networks*, Journal of the American Society for Information Science and Technology 58(7), \
            2007",
    ..Kernel::named("adamic_adar", "adamic_adar")
};

functions!(
    Outcome::Pairs,
    read,
    |g, (compared, direction), cancel| adamic_adar_until(g, &compared, direction, cancel),
    verify::adamic_adar(g, &compared, direction)
);

kernel! {
    /// Returns the scores of Adamic and Adar of pairs, or of each source with the vertices most similar to
    /// it.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] and [`KernelError::TargetNotLive`]; [`KernelError::OutOfRange`] for a
    /// `k` of 0; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn adamic_adar, adamic_adar_until<G: Topology>(
        g, compared: &Compared, direction: Direction; cancel
    ) -> Pairs {
        compare(g, compared, Measure::AdamicAdar, direction, cancel)
    }
}
