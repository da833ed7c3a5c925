//! Betweenness by weights: the number of paths with the least sum of weights that lead through each vertex.
//!
//! **Result.** Like [`betweenness()`](crate::betweenness()), but a shortest path is one with the least sum of
//! weights. The result is for every vertex `v` the sum over pairs of other vertices `s`, `t` of the share of
//! the shortest paths from `s` to `t` that lead through `v`; 0 for holes. An undirected pair counts once,
//! nothing is normalised, and a sample of sources is scaled up.
//!
//! **Equal lengths.** The length of a path is the sum of its weights from the source on, in 64 bits, like in
//! [`sssp()`](crate::sssp()). Two paths are equally long if these two numbers differ by no more than 2^-40 of
//! the larger. The tolerance is for decimal fractions: 0.1 + 0.2 is more than 0.3, and the sum of a path
//! depends on the end at which the addition begins. NetworkX compares all bits. So two vertices of an
//! undirected graph may have other shortest paths in one direction than in the other.
//!
//! **Input.** Any graph whose reachable edges have weights of 0 or more. An edge of infinite weight is never
//! crossed; a weight that is negative or not a number is refused. Without weights every edge weighs 1, and
//! [`betweenness()`](crate::betweenness()) gives the same result faster. Repeated edges of the same weight
//! are paths of their own; loops are on no shortest path. A directed graph is best stored in both directions.
//!
//! **Weights of 0** are allowed, unless a whole cycle makes a path no longer, as an undirected edge of weight
//! 0 does. Then the number of shortest paths is infinite, the graph is refused, and the error names an edge
//! of the cycle. (The number of paths without repeated vertices is finite, but counting them takes
//! exponential time.) A weight that is lost in the addition, as 1 is lost in 1e17 + 1, counts as 0 here.
//!
//! **Trick.** Brandes' two passes need the vertices in topological order of the edges on shortest paths. An
//! edge is on a shortest path if the distance of one end and its weight add up to the distance of the other.
//! These edges are a graph without cycles, which is processed level by level: a vertex belongs to the next
//! level once the last edge to it was processed. So there are as many levels as edges on the longest of all
//! shortest paths, however many different distances there are. All vertices of a level are processed at once,
//! by several threads, from memory or from pages. A vertex that gets no level is on a cycle or behind one.
//!
//! **Determinism.** Distances are the same for any number of threads, levels are sets, and every vertex sums
//! up its own list in the order of the list. So scores have the same bits for any number of threads.
//!
//! **Cited.** U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology
//! 25(2), 2001, section 4; A. B. Kahn, *Topological sorting of large networks*, Communications of the ACM
//! 5(11), 1962, for the levels.
//!
//! **Cost.** For each source a call of `sssp`, and four passes over the lists of the vertices that it
//! reaches. 100 bytes per id of the domain at most, if each vertex waits at most once at a time in that call.

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use super::numbers::Numbers;
use super::{PARAMETERS, Sources, estimated, verify};
use crate::lengths::Weights;
use crate::registry::prelude::*;
use crate::sssp::for_each_source;

mod distances;
mod endless;
mod passes;

use passes::Passes;

pub(crate) static KERNEL: Kernel = Kernel {
    metric: "wbc",
    summary: "How many paths with the least sum of weights lead through each vertex, of all sources or of a sample",
    input: "any graph; weights that a path from a source reaches are 0 or more, and no cycle of edges makes a path no longer; lengths \
            are equal where sums of weights differ by no more than 2^-40 of the larger, repeated edges of one weight are paths of their own, an undirected \
            pair counts once",
    reads_weights: true,
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "sources",
    cost: "a run of `sssp` and O(vertices + edges) per source",
    // A call of `sssp`; three numbers, the number of edges not processed yet, and the levels.
    memory: Memory { provided: "vertices wait once at a time in `sssp`", ..Memory::per_id(100) },
    cited: "U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001; U. \
            Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos \
            17(7), 2007; A. B. Kahn, *Topological sorting of large networks*, Communications of the ACM 5(11), 1962",
    ..Kernel::named("wbetweenness", "weighted_betweenness")
};

functions!(
    Outcome::estimated,
    Sources::read,
    |g, sources, cancel| estimated(g, &sources, cancel, |sources| contributions(g, sources, cancel)),
    verify::estimated(g, &sources, Weights)?
);

kernel! {
    /// Returns the betweenness of every vertex by weights, indexed by vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] for a source that is given; [`KernelError::OutOfRange`] for a sample of
    /// 0; [`KernelError::Weight`] if a path from a source reaches an edge whose weight is below 0 or not a
    /// number; [`KernelError::Endless`] if edges that make a path no longer are a cycle;
    /// [`KernelError::TooManyPaths`] if more than 1.8e308 shortest paths lead to a vertex;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn weighted_betweenness, weighted_betweenness_until<G: WeightedTopology>(
        g, sources: &Sources; cancel
    ) -> Vec<f64> {
        estimated(g, sources, cancel, |sources| contributions(g, sources, cancel)).map(|(scores, _)| scores)
    }
}

/// Returns the sum of the contributions of the sources to each vertex.
fn contributions<G: WeightedTopology>(
    g: &G,
    sources: &[VertexId],
    cancel: &Cancel,
) -> Result<Numbers, KernelError<G::Error>> {
    let mut passes = Passes::new(g, cancel);
    for_each_source(g, sources, Direction::Out, cancel, |source, distance| passes.add(source, distance))?;
    Ok(passes.into_scores())
}
