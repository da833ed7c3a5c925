//! Closeness: how near a vertex is to all that it reaches.
//!
//! **Result.** Let a vertex `v` reach `r` of `n` live vertices, itself included, at distances that sum to
//! `S`. Its closeness is `(r - 1)/S · (r - 1)/(n - 1)`, and 0 if it reaches no other. The first factor is one
//! over the mean distance. The second one, the share of the graph that is reached, makes vertices of
//! different components comparable (S. Wasserman and K. Faust; `wf_improved` in NetworkX). An edge is one
//! hop, whatever its weight. Distances are from `v` along the edges, or against them with [`Direction::In`],
//! like NetworkX measures them in directed graphs. Holes have 0.
//!
//! **A sample.** The result is exact for given vertices, and for all vertices with as many samples as there
//! are. The exact result of all vertices takes a search from each of the `m` vertices to which edges lead. A
//! sample of `k` of these, drawn without replacement, gives an estimate in `k` searches. It estimates `r - 1`
//! as `m/k` times the sampled vertices other than `v` that `v` reaches, and `S` as `m/k` times the sum of its
//! distances to them. Both estimates are without bias. With probability at least `1 - δ` the mean `S/m` of
//! one vertex is off by at most `ε · D`, and the share `(r - 1)/m` by at most `ε`. Here `D` is the largest
//! distance between any two vertices that reach each other and `ε = √(ln(2/δ) / 2k)` (Hoeffding's inequality,
//! which holds for draws without replacement too). With `δ = 0.05`, `ε` is 0.17 for 64 samples and 0.043 for
//! 1,000. For all vertices at once put `δ/n` for `δ`: `k` grows with the logarithm of `n`, as Eppstein and
//! Wang state it. Without parameters the result is exact if `m` times the edges is at most
//! [10⁹](crate::estimate::AFFORDABLE), else it is estimated from 64 samples.
//!
//! **Input.** Any graph. The estimate searches against the direction, so a directed graph is best stored in
//! both.
//!
//! **Trick.** Searches from many vertices meet the same edges again and again. So 64 of them run together: a
//! vertex has a word, with a bit for each search that has found it, and an edge carries all new bits at once.
//! A level is found from the vertices of the last one while these have few edges. Else each vertex that some
//! search has not found yet looks at its neighbours, until all searches have found it. A level adds the
//! number of new bits, times the level, to the vertex or to each search. These are whole numbers, so the
//! result does not depend on the order of threads.
//!
//! **Cited.** D. Eppstein, J. Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and Applications 8(1), 2004, section 4; M. Then et al., *The More the
//! Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014, sections 3 and 4; S. Wasserman, K. Faust, *Social Network Analysis*, 1994.
//!
//! **Cost.** O(vertices + edges) for each level of 64 searches at worst, usually that of a few searches; 60
//! bytes per id of the domain.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::{check_source, checked_bound};
use crate::estimate::{Drawn, Estimate, Estimated, Extent};
use crate::par::reverse;

pub(crate) mod entry;
pub(crate) mod parameters;
mod search;
mod tally;
pub mod verify;

use parameters::SAMPLES;
use search::Searches;
use tally::{PerSource, PerVertex, TOGETHER};

/// The vertices whose closeness a call computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClosenessOf {
    /// Every vertex, exactly.
    All,
    /// Every vertex, estimated by its distances to vertices drawn at random among those to which edges lead;
    /// exactly if there are no more.
    Sampled {
        /// The number of vertices drawn, 1 or more.
        count: u32,
        /// The seed of the draw.
        seed: u64,
    },
    /// Every vertex. It is exact if the vertices to which edges lead, times the edges, are at most
    /// [`AFFORDABLE`](crate::estimate::AFFORDABLE). Else it is estimated by
    /// [`SAMPLES`](crate::estimate::SAMPLES) of these vertices, drawn at random.
    Affordable {
        /// The seed of the draw.
        seed: u64,
    },
    /// The given vertices, exactly; all others get 0.
    Given(Vec<VertexId>),
}

/// Returns the closeness of every vertex, indexed by vertex id; 0 for holes. Distances are from it along the
/// edges, or against them.
///
/// # Errors
/// [`KernelError::SourceNotLive`] for a vertex that is given; [`KernelError::OutOfRange`] for a sample of 0;
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// See the [module](self); blocks the caller until all tasks are done.
pub fn closeness<G: Topology>(
    g: &G,
    of: &ClosenessOf,
    direction: Direction,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    closeness_until(g, of, direction, &Cancel::new())
}

/// Runs [`closeness`] until `cancel` ends it.
///
/// # Errors
/// Those of [`closeness`], and [`KernelError::Cancelled`].
pub fn closeness_until<G: Topology>(
    g: &G,
    of: &ClosenessOf,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    closeness_and_estimate(g, of, direction, cancel).map(|(scores, _)| scores)
}

/// Like [`closeness_until`], but also returns the extent of the sample, if the scores are estimated.
pub(crate) fn closeness_and_estimate<G: Topology>(
    g: &G,
    of: &ClosenessOf,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Estimated, KernelError<G::Error>> {
    checked_bound::<G::Error>(g.vertex_bound())?;
    let targets = of.targets(g, direction, cancel)?;
    cancel.check()?;
    let scores = hedgerow_par::run(|| match &targets {
        Targets::Given(given) => of_given(g, given, direction, cancel),
        Targets::Drawn(drawn) => of_all(g, drawn, direction, cancel),
    })?;
    Ok((scores, targets.estimate()))
}

/// The vertices at which searches begin.
pub(crate) enum Targets {
    /// The vertices whose closeness the caller asked for.
    Given(Vec<VertexId>),
    /// The vertices to which the distances of all are measured.
    Drawn(Drawn),
}

impl Targets {
    /// Returns the extent of the sample, if the result is estimated.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        match self {
            Targets::Given(_) => None,
            Targets::Drawn(drawn) => drawn.estimate(),
        }
    }
}

impl ClosenessOf {
    /// Returns the vertices that distances are measured to, or the given ones, checked. O(vertices), and a
    /// scan of the lists unless vertices are given.
    pub(crate) fn targets<G: Topology>(
        &self,
        g: &G,
        direction: Direction,
        cancel: &Cancel,
    ) -> Result<Targets, KernelError<G::Error>> {
        let extent = match *self {
            ClosenessOf::All => Extent::All,
            ClosenessOf::Sampled { count, seed } => {
                SAMPLES.check_count(count)?;
                Extent::Sampled { count, seed }
            }
            ClosenessOf::Affordable { seed } => Extent::Affordable { seed },
            ClosenessOf::Given(ref given) => {
                given.iter().try_for_each(|&source| check_source(g, source))?;
                return Ok(Targets::Given(given.clone()));
            }
        };
        // Searches go against the direction.
        Drawn::new(g, reverse(direction), extent, cancel).map(Targets::Drawn)
    }

    /// Returns the vertices that distances are measured to; none if vertices are given.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`]: a sample of no vertices. [`KernelError::SourceNotLive`]: a given vertex
    /// that is not live.
    pub fn sampled<G: Topology>(
        &self,
        g: &G,
        direction: Direction,
    ) -> Result<Vec<VertexId>, KernelError<G::Error>> {
        Ok(match self.targets(g, direction, &Cancel::new())? {
            Targets::Given(_) => Vec::new(),
            Targets::Drawn(drawn) => drawn.vertices,
        })
    }
}

/// Computes closeness by searches from the given vertices.
fn of_given<G: Topology>(
    g: &G,
    given: &[VertexId],
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let mut scores = vec![0.0; g.vertex_bound()];
    let mut searches = Searches::new(g, direction, cancel);
    cancel.begin(given.len() as u64);
    for batch in given.chunks(TOGETHER) {
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

/// Computes closeness by searches from the sampled vertices, against the direction, which find how far each
/// vertex is from them.
fn of_all<G: Topology>(
    g: &G,
    drawn: &Drawn,
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
        // A search that begins at the vertex has found it.
        let others = reached - u32::from(own.next_if(|drawn| drawn.index() == v).is_some());
        score(f64::from(others) * scale, sum as f64 * scale, g.vertex_count())
    };
    Ok(tally.into_all().enumerate().map(of_vertex).collect())
}

/// Returns the closeness of a vertex that reaches `others` vertices, whose distances add up to `sum`, in a
/// graph of `live` vertices.
pub(crate) fn score(others: f64, sum: f64, live: usize) -> f64 {
    if sum > 0.0 { others / sum * (others / (live as f64 - 1.0)) } else { 0.0 }
}
