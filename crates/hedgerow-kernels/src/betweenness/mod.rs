//! Betweenness: how many shortest paths lead through each vertex.
//!
//! **Result.** For every vertex `v` the sum over pairs of other vertices `s`, `t` of the share of the
//! shortest paths from `s` to `t` that lead through `v`; 0 for holes. An undirected pair counts once. The
//! result is not normalised: for shares of all pairs divide by `(n - 1)(n - 2)`, in an undirected graph by
//! half of that. A sample of `k` of the `n` sources with edges gives the sum over the sampled `s`, times `n /
//! k`: an estimate without bias. With a probability of 95 % the estimate of one vertex is off by no more than
//! `√(ln 40 / 2k)` of the largest number that a vertex can have (Hoeffding; 0.17 for 64 sources). Given
//! sources give the sum over them.
//!
//! **Exact or not.** Without parameters a search starts from every source if the number of sources times the
//! number of edges is at most [10⁹](crate::estimate::AFFORDABLE); else searches start from a sample of 64.
//!
//! **Input.** Any graph; an edge counts one hop, whatever its weight. Repeated edges are paths of their own.
//! A directed graph is best stored in both directions.
//!
//! **Trick.** One search and two passes over its levels give the contribution of a source to all vertices
//! (Brandes). In the forward pass, the number of shortest paths to a vertex is the sum of the numbers of its
//! in-neighbours one level nearer. In the backward pass, the contribution to a vertex `u` is `paths(u) · Σ
//! share(v)` over the out-neighbours `v` one level farther, where `share(v) = (1 + contribution(v)) /
//! paths(v)`. Usual programs test for each edge if the neighbour is one level nearer or farther, or keep a
//! bitmap of edges. Here no test is needed: the arrays `paths` and `share` hold 0 for all vertices of levels
//! that a pass has not reached. An in-neighbour two levels nearer cannot exist, else the vertex would be
//! nearer itself. So each pass is a plain sum over whole lists, with one random read per edge and no branch,
//! like in PageRank. The sums of a level are written once all of them are complete. The search itself
//! switches between directions ([`bfs()`](crate::bfs())), so it reads few edges.
//!
//! **Determinism.** Every vertex sums up its own list in the order of the list, and sources are processed one
//! after another. So scores have the same bits for any number of threads.
//!
//! **Cited.** U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology
//! 25(2), 2001; U. Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of
//! Bifurcation and Chaos 17(7), 2007, for the sample.
//!
//! **Cost.** O(vertices + edges) at most for each source: a search reads only the part of the graph that it
//! reaches. 56 bytes per id of the domain at most.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::bfs::{BfsConfig, Levels, Search};
use crate::error::checked_bound;
use crate::estimate::Estimated;
use crate::lengths::Hops;
use crate::registry::prelude::*;
use crate::sources::{samples, sources};

mod numbers;
mod passes;
mod shares;
pub mod verify;
pub mod weighted;

pub use crate::sources::Sources;

use numbers::Numbers;
use passes::Passes;

/// The parameters of betweenness.
const PARAMETERS: &[Parameter] = &[
    samples(
        "How many sources are drawn at random among vertices with edges; with as many as there are the result is exact",
    ),
    Parameter::SEED,
    sources("The sources, in place of a sample; the result is the sum over these", "all, or a sample"),
];

pub(crate) static KERNEL: Kernel = Kernel {
    metric: "bc",
    summary: "How many shortest paths lead through each vertex, of all sources or of a sample",
    input: "any graph; an edge is one hop, repeated edges are paths of their own, an undirected pair counts once",
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "sources",
    cost: "O(vertices + edges) per source",
    // A search; a list of levels that is copied when it grows (a ring has many levels); four numbers.
    memory: Memory::per_id(66),
    cited: "U. Brandes, *A faster algorithm for betweenness centrality*, Journal of Mathematical Sociology 25(2), 2001; U. \
            Brandes, C. Pich, *Centrality estimation in large networks*, International Journal of Bifurcation and Chaos \
            17(7), 2007",
    ..Kernel::named("betweenness", "betweenness")
};

functions!(
    Outcome::estimated,
    Sources::read,
    |g, sources, cancel| estimated(g, &sources, cancel, |sources| contributions(g, sources, cancel)),
    verify::estimated(g, &sources, Hops)?
);

kernel! {
    /// Returns the betweenness of every vertex, indexed by vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] for a source that is given; [`KernelError::OutOfRange`] for a sample of
    /// 0; [`KernelError::TooManyPaths`] if more than 1.8e308 shortest paths lead to a vertex;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges) for each source; blocks the caller until all tasks are done.
    pub fn betweenness, betweenness_until<G: Topology>(g, sources: &Sources; cancel) -> Vec<f64> {
        estimated(g, sources, cancel, |sources| contributions(g, sources, cancel)).map(|(scores, _)| scores)
    }
}

/// Chooses the sources, and computes the scores from the contributions of all of them.
fn estimated<G: Topology>(
    g: &G,
    sources: &Sources,
    cancel: &Cancel,
    contributions: impl FnOnce(&[VertexId]) -> Result<Numbers, KernelError<G::Error>> + Send,
) -> Result<Estimated, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    let chosen = sources.choose(g, Direction::Out, cancel)?;
    cancel.check()?;
    let scores = hedgerow_par::run(|| contributions(&chosen.vertices))?;
    let each = if g.is_directed() { 1.0 } else { 0.5 };
    Ok((scores.into_plain(each * chosen.scale()), chosen.estimate()))
}

/// Returns the sum of the contributions of the sources to each vertex.
fn contributions<G: Topology>(
    g: &G,
    sources: &[VertexId],
    cancel: &Cancel,
) -> Result<Numbers, KernelError<G::Error>> {
    let mut search = Search::new(g, g.vertex_bound(), &BfsConfig::default(), cancel);
    let mut levels = Levels::new(g.vertex_count());
    let mut passes = Passes::new(g, cancel);
    cancel.begin(sources.len() as u64);
    for &source in sources {
        search.run(source, Some(&mut levels));
        search.check()?;
        passes.add(source, &levels)?;
        search.restart(levels.all());
        levels.clear();
        cancel.step(1);
    }
    Ok(passes.into_scores())
}
