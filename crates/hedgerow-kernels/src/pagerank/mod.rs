//! PageRank: how often a random surfer visits each vertex.
//!
//! **Result.** A score for every id of the domain; live vertices' scores sum to 1 (up to rounding), holes
//! have 0. The formula is the one of LDBC Graphalytics: scores start at 1/n over the n live vertices; in each
//! iteration `score(v) = (1 - d)/n + d · (Σ score(u)/outdegree(u) over in-neighbours u + D/n)`, where D is
//! the score held by vertices without out-edges, spread evenly. All scores of an iteration use the scores of
//! the iteration before.
//!
//! **Input.** Any graph; an undirected edge counts as two directed ones. The lists of in-neighbours of a
//! directed graph must be stored.
//!
//! **Trick.** Pulling over in-neighbours needs no atomics and writes each score once. The share that a vertex
//! gives each out-neighbour is computed once per vertex, instead of its score, into the second of two arrays.
//! So an iteration is a single pass, whose cost is one random read per edge. Long lists are added in four
//! sums, since each addition waits for the one before. In short lists this would cost branches that the
//! processor mispredicts. Vertices without out-edges are found once; their scores are added subgraph by
//! subgraph, so that the loop over vertices does not test for them.
//!
//! **With a tolerance** scores only have to come near the fixed point, the scores that the formula does not
//! change. New scores are written over the old ones (`sweep`). They start by degree if edges have no
//! direction, and are extrapolated if they settle slowly (`converge`). In total the result is at most
//! `tolerance / (1 - d)` from the fixed point. It sums to 1, but is not the result of any number of
//! iterations of the formula.
//!
//! **Determinism.** The order of additions depends only on the graph: a list is added by position, and sums
//! over vertices are made by ranges of vertices, which are added in their order. With a tolerance, ids alone
//! decide which scores a vertex sees new. Hence scores have the same bits for any number of threads. (Sums
//! over a list with corrections can differ in the last bits from sums over the merged list.)
//!
//! **Cited.** L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; formula as in
//! A. Iosup et al., *LDBC Graphalytics*, VLDB 2016.
//!
//! **Cost.** O(vertices + edges) per iteration; three scores per id of the domain, four or five with a
//! tolerance.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, Topology};
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES, ones, subgraphs_of};
use crate::registry::prelude::*;
use crate::watch::Watch;

mod config;
mod converge;
mod extrapolate;
mod gather;
pub mod personal;
mod score;
mod sweep;
pub mod verify;
pub mod weighted;

pub use config::PageRankConfig;
pub use score::Score;

use config::{JUMPS_ANYWHERE, read};
use gather::Gathering;

pub(crate) static KERNEL: Kernel = Kernel {
    metric: "pr",
    summary: "PageRank scores, which sum to 1",
    input: "any graph; an undirected edge counts as two directed ones",
    parameters: JUMPS_ANYWHERE,
    result: ResultColumn { name: "score", kind: ResultKind::Scores },
    steps: "iterations",
    cost: "O(vertices + edges) per iteration",
    // With a tolerance: four arrays of scores, at the end a fifth, a bit, and three sums for each 1,024
    // vertices.
    memory: Memory::per_id(41),
    cited: "L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; formula as in A. Iosup et \
            al., *LDBC Graphalytics*, VLDB 2016",
    ..Kernel::named("pagerank", "pagerank")
};

// With a tolerance the kernel stops when the change is small enough; the verifier runs all iterations.
functions!(
    Outcome::Scores,
    read,
    |g, config, cancel| pagerank_until(g, &config, cancel),
    verify::pagerank(g, config.damping, config.iterations)
);

/// Returns the PageRank of every vertex, indexed by vertex id; 0 for holes.
///
/// # Errors
/// [`KernelError::OutOfRange`] for a damping or a tolerance out of range or not a number;
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices + edges) per iteration; blocks the caller until all tasks are done.
pub fn pagerank<G: Topology>(g: &G, config: &PageRankConfig) -> Result<Vec<f64>, KernelError<G::Error>> {
    pagerank_with::<f64, G>(g, config)
}

/// Runs [`pagerank`] with scores of type `S`: `f32` halves the memory read per edge and keeps about six
/// digits.
///
/// # Errors
/// The errors of [`pagerank`].
pub fn pagerank_with<S: Score, G: Topology>(
    g: &G,
    config: &PageRankConfig,
) -> Result<Vec<S>, KernelError<G::Error>> {
    pagerank_until(g, config, &Cancel::new())
}

/// Runs [`pagerank_with`] until `cancel` ends it.
///
/// # Errors
/// The errors of [`pagerank`], and [`KernelError::Cancelled`].
pub fn pagerank_until<S: Score, G: Topology>(
    g: &G,
    config: &PageRankConfig,
    cancel: &Cancel,
) -> Result<Vec<S>, KernelError<G::Error>> {
    rank(g, config, &[], cancel)
}

/// Runs [`pagerank_until`] from the scores of an earlier state of the graph, by vertex: with a tolerance it
/// needs fewer iterations from there. Without a tolerance it starts like [`pagerank_until`].
///
/// # Errors
/// The errors of [`pagerank_until`].
pub fn pagerank_from<G: Topology>(
    g: &G,
    config: &PageRankConfig,
    earlier: &[f64],
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    rank(g, config, earlier, cancel)
}

fn rank<S: Score, G: Topology>(
    g: &G,
    config: &PageRankConfig,
    earlier: &[f64],
    cancel: &Cancel,
) -> Result<Vec<S>, KernelError<G::Error>> {
    config.check()?;
    let vertex_bound = checked_bound(g.vertex_bound())?;
    if g.vertex_count() == 0 {
        return Ok(vec![S::ZERO; vertex_bound]);
    }
    hedgerow_par::run(|| {
        let ranking = Ranking::new(g, vertex_bound, config.damping, cancel)?;
        cancel.begin(config.iterations.into());
        match config.tolerance {
            None => ranking.run(config.iterations),
            Some(tolerance) => ranking.run_until(config.iterations, tolerance, earlier),
        }
    })
}

struct Ranking<'g, S, G: Topology> {
    g: &'g G,
    damping: f64,
    /// The score of every vertex at the start.
    start: S,
    /// True if the surfer jumps only to some vertices: then the caller adds their scores.
    is_personal: bool,
    /// 1 / out-degree; 1 for vertices without out-edges, 0 for holes.
    share: Vec<S>,
    /// The vertices without out-edges, a word for each subgraph.
    sinks: Vec<u64>,
    /// The share that each vertex gives every out-neighbour in this iteration, and in the next. A vertex
    /// without out-edges has its score here, which it gives to no single vertex.
    given: Vec<S>,
    next_given: Vec<S>,
    /// The sums, one for each work item, of the scores held by vertices without out-edges. They are added in
    /// order.
    partial: Vec<f64>,
    /// Score held by vertices without out-edges.
    dangling: f64,
    watch: Watch<'g, G::Error>,
}

impl<'g, S: Score, G: Topology> Ranking<'g, S, G> {
    fn new(
        g: &'g G,
        vertex_bound: usize,
        damping: f64,
        cancel: &'g Cancel,
    ) -> Result<Self, KernelError<G::Error>> {
        let count = g.vertex_count() as f64;
        let zeros = || vec![S::ZERO; vertex_bound];
        let mut ranking = Ranking {
            g,
            damping,
            start: S::from_f64(1.0 / count),
            is_personal: false,
            share: zeros(),
            sinks: vec![0; vertex_bound.div_ceil(SUBGRAPH_VERTICES)],
            given: zeros(),
            next_given: zeros(),
            partial: vec![0.0; vertex_bound.div_ceil(CHUNK_VERTICES)],
            dangling: 0.0,
            watch: Watch::new(cancel),
        };
        ranking.begin();
        ranking.watch.check()?;
        let sinks: u64 = ranking.sinks.iter().map(|word| u64::from(word.count_ones())).sum();
        ranking.dangling = sinks as f64 / count;
        Ok(ranking)
    }

    /// Reads all out-degrees, and sets the shares at the start.
    fn begin(&mut self) {
        let (g, start, watch) = (self.g, self.start, &self.watch);
        let shares = self.share.par_chunks_mut(CHUNK_VERTICES).zip(self.given.par_chunks_mut(CHUNK_VERTICES));
        let chunks = shares.zip(self.sinks.par_chunks_mut(CHUNK_SUBGRAPHS)).enumerate();
        hedgerow_par::for_each(chunks, |(chunk, ((share, given), sinks))| {
            if watch.has_failed() {
                return;
            }
            let subgraphs = subgraphs_of(chunk, share.len());
            let rows = share.chunks_mut(SUBGRAPH_VERTICES).zip(given.chunks_mut(SUBGRAPH_VERTICES));
            let mut rows = rows.zip(sinks);
            let scanned = g.scan(subgraphs, Direction::Out, |subgraph, block| {
                let Some(((share, given), sinks)) = rows.next().filter(|_| !watch.cancel.poll()) else {
                    return ControlFlow::Break(());
                };
                for ((local, share), given) in (0..).map(LocalVertex).zip(share).zip(given) {
                    if !g.contains(subgraph.vertex(local)) {
                        continue;
                    }
                    let degree = block.degree(local);
                    *sinks |= if degree == 0 { local.bit() } else { 0 };
                    *share = S::from_f64(1.0 / degree.max(1) as f64);
                    *given = start * *share;
                }
                ControlFlow::Continue(())
            });
            watch.note(scanned);
        });
    }

    /// Returns the scores at the start.
    fn starts(&self) -> Vec<S> {
        self.share.iter().map(|&share| if share == S::ZERO { S::ZERO } else { self.start }).collect()
    }

    /// Returns the part of the next score that every vertex gets whatever its edges are.
    fn base(&self) -> S {
        if self.is_personal {
            return S::ZERO;
        }
        let count = self.g.vertex_count() as f64;
        S::from_f64((1.0 - self.damping) / count + self.damping * self.dangling / count)
    }

    /// Runs `iterations` of the formula.
    fn run(mut self, iterations: u32) -> Result<Vec<S>, KernelError<G::Error>> {
        if iterations == 0 {
            return Ok(self.starts());
        }
        for iteration in 1..=iterations {
            // Between iterations only shares are needed, after the last one only scores.
            if iteration < iterations {
                self.iterate::<false>()
            } else {
                self.iterate::<true>()
            }
            self.watch.check()?;
        }
        Ok(self.given)
    }

    /// Runs one iteration. The `LAST` one leaves scores in place of shares.
    fn iterate<const LAST: bool>(&mut self) {
        let (g, given, sinks) = (self.g, self.given.as_slice(), self.sinks.as_slice());
        let (base, damping) = (self.base(), S::from_f64(self.damping));
        let watch = &self.watch;
        let outputs = self.next_given.par_chunks_mut(CHUNK_VERTICES).zip(self.partial.par_iter_mut());
        let chunks = outputs.zip(self.share.par_chunks(CHUNK_VERTICES)).enumerate();
        hedgerow_par::for_each(chunks, |(chunk, ((next_given, partial), share))| {
            let Some(mut meter) = watch.meter_of_subgraphs() else { return };
            let mut dangling = 0.0;
            let mut rows = next_given.chunks_mut(SUBGRAPH_VERTICES).zip(share.chunks(SUBGRAPH_VERTICES));
            let subgraphs = subgraphs_of(chunk, share.len());
            let scanned = g.scan(subgraphs, Direction::In, |subgraph, block| {
                let Some((next_given, share)) = rows.next().filter(|_| meter.next_subgraph()) else {
                    return ControlFlow::Break(());
                };
                let gathering = Gathering::new(block, given);
                let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
                for ((local, next_given), &share) in locals.zip(next_given.iter_mut()).zip(share) {
                    let new = base + damping * gathering.gather(local, given, &mut meter);
                    *next_given = match (LAST, share == S::ZERO) {
                        (false, _) => new * share,
                        (true, false) => new,
                        (true, true) => S::ZERO,
                    };
                }
                dangling += sum_of(next_given, sinks[subgraph.index()]);
                ControlFlow::Continue(())
            });
            watch.note(scanned);
            *partial = dangling;
        });
        self.turn();
    }

    /// Ends an iteration.
    fn turn(&mut self) {
        self.watch.cancel.step(1);
        std::mem::swap(&mut self.given, &mut self.next_given);
        self.dangling = self.partial.iter().sum();
    }
}

/// Returns the sum of the values of the vertices in a set.
#[inline]
fn sum_of<S: Score>(values: &[S], set: u64) -> f64 {
    ones(set).fold(0.0, |sum, at| sum + values.get(at as usize).map_or(0.0, |value| value.to_f64()))
}
