//! PageRank by weights: the frequency with which a random surfer who follows heavier edges more often visits
//! each vertex.
//!
//! **Result.** A score for every id of the domain; the scores of live vertices sum to 1 (up to rounding),
//! holes have 0. Let `d` be the damping, `w(u, v)` the weight of an edge and `W(u)` the sum of the weights of
//! the edges from `u`. Scores start at `p`, and in each iteration `score(v) = (1 - d + d · D) · p(v) + d · Σ
//! score(u) · w(u, v) / W(u)` over in-neighbours `u`. `D` is the score held by vertices whose weights sum to
//! 0, including those without out-edges. Without sources `p = 1/n` for each of `n` live vertices: that is
//! [`pagerank()`](crate::pagerank()) by weights. With `k` sources `p = 1/k` for these and 0 elsewhere: that
//! is [`personalized_pagerank()`](crate::personalized_pagerank()) by weights. Repeated edges count as one
//! edge with the sum of their weights. The result is the same as `pagerank(G, weight=, personalization=)` of
//! NetworkX, if its dangling vertices jump like the others.
//!
//! **Input.** Any graph whose weights are finite and 0 or more. The sum of the weights of each vertex is 0,
//! or 2.3e-308 to 1.8e308. All weights are read before the first iteration, so the edge or vertex that is
//! refused is always the same. Without weights every edge weighs 1, and the unweighted kernels give the same
//! result faster. An undirected edge counts as two directed ones. A directed graph is best stored in both
//! directions. A source that is given twice counts once.
//!
//! **Trick.** None: each vertex has a share per unit of weight, and adds up the shares of its in-neighbours
//! times the weights. If edges against their direction cannot be read, the calling thread adds the share of
//! each vertex to its out-neighbours, in one pass along the edges.
//!
//! **With a tolerance** iterations end once one changes the scores by less than the tolerance in total. The
//! scores are then at most `tolerance · d / (1 - d)` from the limit of further iterations.
//!
//! **Determinism.** A vertex adds in the order of its list, and totals are summed up by ranges of ids, in
//! their order. So scores have the same bits for any number of threads.
//!
//! **Cited.** L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; W. Xing, A.
//! Ghorbani, *Weighted PageRank Algorithm*, CNSR 2004, for weights; T. Haveliwala, *Topic-Sensitive
//! PageRank*, WWW 2002, for sources.
//!
//! **Cost.** O(vertices + edges) per iteration, and once before; three numbers per id of the domain, four if
//! edges against their direction cannot be read.

use hedgerow_core::{VertexId, WeightedTopology};

use super::config::{JUMPS, PageRankConfig, checked, read_any};
use super::verify;
use crate::error::checked_bound;
use crate::registry::prelude::*;

mod rounds;
mod sums;

use rounds::Rounds;

pub(crate) static KERNEL: Kernel = Kernel {
    metric: "wpr",
    summary: "PageRank scores of a surfer who follows edges by their weights, and jumps anywhere or back to some vertices",
    input: "any graph; weights are finite and 0 or more, a vertex whose weights sum to 0 counts as one without edges, an undirected edge \
            counts as two directed ones",
    reads_weights: true,
    parameters: JUMPS,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // Sums of weights, scores, shares; the shares that were handed out if incoming edges cannot be read; the
    // sources twice; sums of ranges.
    memory: Memory::per_id(41),
    cited: "L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; W. Xing, A. Ghorbani, *Weighted \
            PageRank Algorithm*, CNSR 2004; T. Haveliwala, *Topic-Sensitive PageRank*, WWW 2002",
    ..Kernel::named("wpagerank", "weighted_pagerank")
};

// With a tolerance the kernel stops when the change is small enough; the verifier runs all iterations.
functions!(
    Outcome::Scores,
    read_any,
    |g, (sources, config), cancel| weighted_pagerank_until(g, sources.as_deref(), &config, cancel),
    verify::weighted_pagerank(g, sources.as_deref(), config.damping, config.iterations)
);

kernel! {
    /// Returns the PageRank of every vertex by weights, indexed by vertex id; 0 for holes. The surfer starts
    /// at `sources` and jumps back to them; with `None` it starts and jumps anywhere.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] if `sources` are given and empty, or for a
    /// damping or a tolerance out of range; [`KernelError::Weight`] and [`KernelError::NotFinite`] for an
    /// edge whose weight is below 0, not a number or infinite; [`KernelError::WeightSum`] for a vertex whose
    /// weights sum to too much or too little; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if
    /// the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn weighted_pagerank, weighted_pagerank_until<G: WeightedTopology>(
        g, sources: Option<&[VertexId]>, config: &PageRankConfig; cancel
    ) -> Vec<f64> {
        config.check()?;
        checked_bound::<G::Error>(g.vertex_bound())?;
        let sources = sources.map(|sources| checked(g, sources)).transpose()?;
        cancel.check()?;
        hedgerow_par::run(|| {
            let sums = sums::of_weights(g, cancel)?;
            cancel.begin(config.iterations.into());
            Rounds::new(g, sums, sources, config.damping, cancel).run(config.iterations, config.tolerance)
        })
    }
}
