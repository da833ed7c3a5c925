//! Matching: pairs of vertices that edges join, no vertex in two pairs.
//!
//! **Result.** For every vertex its mate, and [`NO_VERTEX`](crate::NO_VERTEX) for vertices without one and
//! for holes. [`MatchingSize::Maximum`] has as many pairs as possible, in a bipartite graph.
//! [`MatchingSize::Maximal`] has pairs to which no edge can be added, in any graph: at least half as many,
//! found in one pass. Both results are the same in each call, but other matchings may have the same size.
//!
//! **Input.** Directions are ignored, and so are repeated edges and weights. A maximum matching needs a
//! bipartite graph. If its vertices cannot be put on two sides such that every edge joins both, the error
//! names an edge that closes a cycle of odd length. A loop is such a cycle. A maximal matching needs no such
//! graph, and ignores loops.
//!
//! **Trick.** The sides come from one pass over the edges in any order. Each edge joins two sets of vertices
//! whose sides are known relative to each other; a bit per vertex shows if it is on the side of its set's
//! root. Then each vertex of the first side takes the first free neighbour, which usually makes most of the
//! pairs. The rest is found in phases (Hopcroft and Karp). A search from all free vertices of the first side
//! finds the shortest ways to a free vertex of the other side: each way takes an edge and a pair in turn.
//! Along a set of these ways that do not meet, pairs and edges change places. The ways get longer with each
//! phase, so phases are few.
//!
//! **Cited.** J. Hopcroft, R. Karp, *An n^5/2 Algorithm for Maximum Matchings in Bipartite Graphs*, SIAM
//! Journal on Computing 2(4), 1973, sections 2 and 3; B. Galler, M. Fisher, *An improved equivalence
//! algorithm*, Communications of the ACM 7(5), 1964, for joining sets.
//!
//! **Cost.** A maximum matching takes O(edges · √vertices) at worst, usually a few passes; the edges are
//! copied, 4 bytes each. A maximal matching takes one pass, with 4 bytes per id. Both run in the calling
//! thread, except for the levels of large searches, which threads share: levels do not depend on threads.

use hedgerow_core::Topology;

use crate::error::checked_bound;
use crate::registry::prelude::*;

mod augment;
mod greedy;
mod rows;
mod sides;
pub mod verify;

/// The size of a matching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchingSize {
    /// As many pairs as possible, in a bipartite graph.
    #[default]
    Maximum,
    /// Pairs to which no edge can be added.
    Maximal,
}

/// The choice of a maximum matching.
const MAXIMUM: Parameter = Parameter::count(
    "maximum",
    "1 for as many pairs as can be, of a bipartite graph; 0 for pairs to which no edge can be added, of any graph",
    CountRange { least: 0, most: 1, text: "0 or 1" },
    1,
);

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Pairs of vertices that edges join, no vertex in two: as many as can be, or until none can be added",
    input: "a bipartite graph for as many pairs as can be, else any graph; directions are ignored",
    parameters: &[MAXIMUM],
    result: ResultColumn { name: "mate", kind: ResultKind::Mates },
    steps: "passes",
    cost: "O(edges · √vertices) at worst, usually a few passes; one pass until none can be added",
    // The places of rows, twice, mates, levels, two lists of a search that grow; the rows. A maximal matching
    // needs only the mates.
    memory: Memory { per_edge: 4, per_thread: 0, ..Memory::per_id(48) },
    cited: "J. Hopcroft, R. Karp, *An n^5/2 Algorithm for Maximum Matchings in Bipartite Graphs*, SIAM Journal on Computing 2(4), 1973",
    ..Kernel::named("matching", "matching")
};

fn read(arguments: &Arguments) -> Result<MatchingSize, KernelError> {
    let is_maximum = arguments.count(&MAXIMUM)? == 1;
    Ok(if is_maximum { MatchingSize::Maximum } else { MatchingSize::Maximal })
}

functions!(
    Outcome::Mates,
    read,
    |g, size, cancel| matching_until(g, size, cancel),
    match size {
        MatchingSize::Maximum => {
            verify::maximum(g).map_err(|(from, to)| KernelError::NotBipartite { from, to })?
        }
        MatchingSize::Maximal => verify::maximal(g),
    }
);

kernel! {
    /// Returns the mate of every vertex, indexed by vertex id; [`NO_VERTEX`](crate::NO_VERTEX) for vertices
    /// without a mate.
    ///
    /// # Errors
    /// [`KernelError::NotBipartite`] for a maximum matching; [`KernelError::TooManyVertices`];
    /// [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self).
    pub fn matching, matching_until<G: Topology>(g, size: MatchingSize; cancel) -> Vec<u32> {
        mates(g, size, cancel)
    }
}

fn mates<G: Topology>(g: &G, size: MatchingSize, cancel: &Cancel) -> Result<Vec<u32>, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    cancel.check()?;
    if size == MatchingSize::Maximal {
        cancel.begin(1);
        let mates = greedy::maximal(g, cancel)?;
        cancel.step(1);
        return Ok(mates);
    }
    // The steps are the sides, the copy, the first pairs, and all phases together, whose number is not known
    // before.
    cancel.begin(4);
    let first_side = sides::first_side(g, cancel)?;
    cancel.step(1);
    let rows = rows::Rows::of(g, &first_side, cancel)?;
    cancel.step(1);
    drop(first_side);
    let mates = augment::maximum(&rows, cancel)?;
    cancel.step(1);
    Ok(mates)
}
