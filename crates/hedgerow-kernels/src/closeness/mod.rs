//! Closeness: how near a vertex is to all that it reaches.
//!
//! **Result.** Let a vertex `v` reach `r` of `n` live vertices, itself included, at distances that sum to
//! `S`. Its closeness is `(r - 1)/S · (r - 1)/(n - 1)`, and 0 if it reaches no other. The first factor is one
//! over the mean distance. The second one, the share of the graph that is reached, makes vertices of
//! different components comparable (S. Wasserman and K. Faust; `wf_improved` in NetworkX). An edge is one
//! hop, whatever its weight. Distances are from `v` along the edges, or against them with [`Direction::In`],
//! like NetworkX measures them in directed graphs. Holes have 0.
//!
//! **A sample.** The result is exact for given vertices, and for all vertices if the sample has all of them.
//! The exact result of all vertices takes a search from each of the `m` vertices to which edges lead. A
//! sample of `k` of these vertices, drawn without replacement, gives an estimate in `k` searches. It
//! estimates `r - 1` as `m/k` times the number of sampled vertices other than `v` that `v` reaches, and `S`
//! as `m/k` times the sum of its distances to them. Both estimates are without bias. With probability at
//! least `1 - δ` the mean `S/m` of one vertex is off by at most `ε · D`, and the share `(r - 1)/m` by at most
//! `ε`. Here `D` is the largest distance between any two vertices that reach each other and `ε = √(ln(2/δ) /
//! 2k)` (Hoeffding's inequality, which also covers draws without replacement). With `δ = 0.05`, `ε` is 0.17
//! for 64 samples and 0.043 for 1,000. For all vertices at once put `δ/n` for `δ`: `k` grows with the
//! logarithm of `n`, as Eppstein and Wang state it. Without parameters the result is exact if `m` times the
//! edges is at most [10⁹](crate::estimate::AFFORDABLE), else it is estimated from 64 samples.
//!
//! **Input.** Any graph. The estimate searches against the direction, so a directed graph is best stored in
//! both directions.
//!
//! **Trick.** Searches from many vertices meet the same edges again and again. So 64 of them run together: a
//! vertex has a word, with a bit for each search that has found it, and an edge carries all new bits at once.
//! While the vertices of a level have few edges, the next level is found from them. Else each vertex that
//! some search has not found yet looks at its neighbours, until all searches have found it. Each level adds
//! its number, times the number of new bits, to the sum of the vertex or of each search. These are whole
//! numbers, so the result does not depend on the order of threads.
//!
//! **Cited.** D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and
//! Applications 8(1), 2004, section 4; M. Then et al., *The More the Merrier: Efficient Multi-Source Graph
//! Traversal*, VLDB 2014, sections 3 and 4; S. Wasserman, K. Faust, *Social Network Analysis*, 1994.
//!
//! **Cost.** At worst O(vertices + edges) for each level of 64 searches. Usually 64 searches cost as much as
//! a few. 60 bytes per id of the domain.

use hedgerow_core::{Direction, Topology};

use crate::error::checked_bound;
use crate::estimate::Estimated;
use crate::lengths::Hops;
use crate::par::reverse;
use crate::registry::prelude::*;
use crate::sources::{Chosen, samples, sources};

mod search;
mod tally;
pub mod verify;
pub mod weighted;

pub use crate::sources::Sources as ClosenessOf;

use search::Searches;
use tally::{PerSource, PerVertex, TOGETHER};

/// The parameters of closeness.
const PARAMETERS: &[Parameter] = &[
    samples(
        "How many vertices are drawn at random, among those with edges, to measure distances to; with as many as there are the result is \
         exact",
    ),
    Parameter::SEED,
    sources(
        "The vertices whose exact closeness is wanted, in place of estimates for all; others get 0",
        "all, exactly or by a sample",
    ),
    Parameter::DIRECTION,
];

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "How near each vertex is to all that it reaches, exactly or by a sample",
    input: "any graph; an edge is one hop",
    parameters: PARAMETERS,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "searches",
    cost: "O(vertices + edges) per level of 64 searches at worst, a search for each sample",
    // Three words and two sums. No vertex is in two levels; the later level exists twice, in lists that grow.
    memory: Memory::per_id(60),
    cited: "D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and Applications 8(1), 2004; M. Then et \
            al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014; S. Wasserman, K. Faust, *Social Network \
            Analysis*, 1994",
    ..Kernel::named("closeness", "closeness")
};

fn read(arguments: &Arguments) -> Result<(ClosenessOf, Direction), KernelError> {
    Ok((ClosenessOf::read(arguments)?, arguments.direction(&Parameter::DIRECTION)?))
}

functions!(
    Outcome::estimated,
    read,
    |g, (of, direction), cancel| estimated(g, &of, direction, cancel, (of_given, of_all)),
    verify::estimated(g, &of, direction, Hops)?
);

kernel! {
    /// Returns the closeness of every vertex, indexed by vertex id; 0 for holes. Distances are from it along
    /// the edges, or against them.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`] for a vertex that is given; [`KernelError::OutOfRange`] for a sample of
    /// 0; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn closeness, closeness_until<G: Topology>(
        g, of: &ClosenessOf, direction: Direction; cancel
    ) -> Vec<f64> {
        estimated(g, of, direction, cancel, (of_given, of_all)).map(|(scores, _)| scores)
    }
}

/// A function that computes scores from searches at the chosen vertices.
type Scores<G> = fn(&G, &Chosen, Direction, &Cancel) -> Result<Vec<f64>, KernelError<<G as Topology>::Error>>;

/// Chooses vertices and computes scores: for given vertices by `of_given`, or for all vertices by `of_all`
/// from distances to the chosen ones.
fn estimated<G: Topology>(
    g: &G,
    of: &ClosenessOf,
    direction: Direction,
    cancel: &Cancel,
    (of_given, of_all): (Scores<G>, Scores<G>),
) -> Result<Estimated, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    // Searches for the distances to a sample go against the direction.
    let targets = of.choose(g, reverse(direction), cancel)?;
    cancel.check()?;
    let scores = if targets.are_given() { of_given } else { of_all };
    let scores = hedgerow_par::run(|| scores(g, &targets, direction, cancel))?;
    Ok((scores, targets.estimate()))
}

/// Computes closeness by searches from the given vertices.
fn of_given<G: Topology>(
    g: &G,
    given: &Chosen,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let mut scores = vec![0.0; g.vertex_bound()];
    let mut searches = Searches::new(g, direction, cancel);
    cancel.begin(given.vertices.len() as u64);
    for batch in given.vertices.chunks(TOGETHER) {
        let tally = PerSource::default();
        searches.run(batch, &tally)?;
        cancel.step(batch.len() as u64);
        for (search, v) in batch.iter().enumerate() {
            let (reached, sum) = tally.of(search);
            scores[v.index()] = score(reached.saturating_sub(1) as f64, sum as f64, g.vertex_count());
        }
    }
    Ok(scores)
}

/// Computes closeness by searches from the sampled vertices, against the direction. They find the distance
/// from each vertex to the sampled ones.
fn of_all<G: Topology>(
    g: &G,
    drawn: &Chosen,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let mut searches = Searches::new(g, reverse(direction), cancel);
    let tally = PerVertex::new(g.vertex_bound());
    cancel.begin(drawn.vertices.len() as u64);
    for batch in drawn.vertices.chunks(TOGETHER) {
        searches.run(batch, &tally)?;
        cancel.step(batch.len() as u64);
    }
    drop(searches);
    let (scale, mut own) = (drawn.scale(), drawn.vertices.iter().peekable());
    let of_vertex = |(v, (reached, sum)): (usize, (u32, u64))| {
        // A search that began at the vertex has found it, too.
        let others = reached - u32::from(own.next_if(|drawn| drawn.index() == v).is_some());
        score(f64::from(others) * scale, sum as f64 * scale, g.vertex_count())
    };
    Ok(tally.into_all().enumerate().map(of_vertex).collect())
}

/// Returns the closeness of a vertex that reaches `others` vertices, whose distances add up to `sum`, in a
/// graph of `live` vertices.
fn score(others: f64, sum: f64, live: usize) -> f64 {
    if sum > 0.0 { others / sum * (others / (live as f64 - 1.0)) } else { 0.0 }
}
