//! PageRank: how often a random surfer visits each vertex.
//!
//! **Result.** A score for every id of the domain; live vertices' scores sum to 1 (up to rounding), holes have 0.
//! The formula is that of LDBC Graphalytics: scores start at 1/n over the n live vertices; in each iteration
//! `score(v) = (1 - d)/n + d · (Σ score(u)/outdegree(u) over in-neighbours u + D/n)`, where D is the score held by
//! vertices without out-edges, spread evenly. All scores of an iteration use those of the one before.
//!
//! **Input.** Any graph; an undirected edge counts as two directed ones. A directed graph must answer in-neighbours.
//!
//! **Trick.** Pulling over in-neighbours needs no atomics and writes each score once. What a vertex gives each
//! out-neighbour is computed once per vertex, together with its score, into the second of two arrays; so an
//! iteration is a single pass, whose cost is one random read per edge. (Several partial sums per list, to shorten the
//! chain of additions, were measured to be a fifth slower: most lists are short, and each further loop end is one more
//! branch that the processor mispredicts.)
//!
//! **Determinism.** The order of additions depends only on the graph: within a list by position, across vertices by
//! partial sums per range of vertices that are added in range order. Hence the same bits for any number of threads.
//! (A list split into main and corrections can differ from its merged form in the last bits.)
//!
//! **Cited.** L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank Citation Ranking*, 1999; formula as in
//! A. Iosup et al., *LDBC Graphalytics*, VLDB 2016.
//!
//! **Cost.** O(vertices + edges) per iteration; four scores per id of the domain.

use std::ops::{ControlFlow, Range};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::{Cancel, Meter};
use crate::error::{Failure, checked_bound};
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES};

mod config;
pub(crate) mod entry;
mod score;
#[cfg(test)]
mod tests;
pub mod verify;

pub use config::PageRankConfig;
pub use score::Score;

/// The PageRank of every vertex, indexed by vertex id; 0 for holes.
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

/// [`pagerank`] with scores of type `S`: `f32` halves the memory read per edge and keeps about six digits.
///
/// # Errors
/// As [`pagerank`].
pub fn pagerank_with<S: Score, G: Topology>(
    g: &G,
    config: &PageRankConfig,
) -> Result<Vec<S>, KernelError<G::Error>> {
    pagerank_until(g, config, &Cancel::new())
}

/// [`pagerank_with`], until `cancel` ends it.
///
/// # Errors
/// As [`pagerank`], and [`KernelError::Cancelled`].
pub fn pagerank_until<S: Score, G: Topology>(
    g: &G,
    config: &PageRankConfig,
    cancel: &Cancel,
) -> Result<Vec<S>, KernelError<G::Error>> {
    config.check()?;
    let vertex_bound = checked_bound(g.vertex_bound())?;
    if g.vertex_count() == 0 {
        return Ok(vec![S::ZERO; vertex_bound]);
    }
    hedgerow_par::run(|| {
        let mut ranking = Ranking::new(g, vertex_bound, cancel)?;
        for iteration in 1..=config.iterations {
            // Between iterations only what is given matters; scores and their change are not looked at, unless the
            // caller asked when to stop.
            match config.tolerance {
                None if iteration < config.iterations => ranking.iterate::<false>(config.damping),
                _ => ranking.iterate::<true>(config.damping),
            }
            ranking.failure.check()?;
            cancel.check()?;
            if config.tolerance.is_some_and(|tolerance| ranking.change < tolerance) {
                break;
            }
        }
        Ok(ranking.scores)
    })
}

/// Marks a hole in [`Ranking::share`].
const HOLE: f64 = -1.0;

struct Ranking<'g, S, G: Topology> {
    g: &'g G,
    count: f64,
    scores: Vec<S>,
    /// 1 / out-degree; 0 for vertices without out-edges, [`HOLE`] for holes.
    share: Vec<S>,
    /// What each vertex gives every out-neighbour in this iteration, and in the next.
    given: Vec<S>,
    next_given: Vec<S>,
    /// One for each work item, added in order.
    partial: Vec<Partial>,
    /// Score held by vertices without out-edges.
    dangling: f64,
    /// By how much the scores changed in the last iteration that noted them.
    change: f64,
    cancel: &'g Cancel,
    failure: Failure<G::Error>,
}

#[derive(Clone, Copy, Default)]
struct Partial {
    dangling: f64,
    change: f64,
}

impl<'g, S: Score, G: Topology> Ranking<'g, S, G> {
    fn new(g: &'g G, vertex_bound: usize, cancel: &'g Cancel) -> Result<Self, KernelError<G::Error>> {
        let count = g.vertex_count() as f64;
        let mut failure = Failure::new();
        let share = shares(g, vertex_bound, cancel, &failure);
        failure.check()?;
        cancel.check()?;
        let start = S::from_f64(1.0 / count);
        let hole = S::from_f64(HOLE);
        let scores: Vec<S> = share.iter().map(|&s| if s == hole { S::ZERO } else { start }).collect();
        let given: Vec<S> = share.iter().map(|&s| if s == hole { S::ZERO } else { start * s }).collect();
        let dangling = share.iter().filter(|&&s| s == S::ZERO).count() as f64 / count;
        let partial = vec![Partial::default(); vertex_bound.div_ceil(CHUNK_VERTICES)];
        let next_given = vec![S::ZERO; vertex_bound];
        let change = f64::INFINITY;
        Ok(Ranking { g, count, scores, share, given, next_given, partial, dangling, change, cancel, failure })
    }

    /// One iteration; with `KEEP` also notes the scores and by how much they changed in total.
    fn iterate<const KEEP: bool>(&mut self, damping: f64) {
        let base = S::from_f64((1.0 - damping) / self.count + damping * self.dangling / self.count);
        let (g, damping, given) = (self.g, S::from_f64(damping), self.given.as_slice());
        let (cancel, failure) = (self.cancel, &self.failure);
        let outputs =
            self.scores.par_chunks_mut(CHUNK_VERTICES).zip(self.next_given.par_chunks_mut(CHUNK_VERTICES));
        let inputs = self.share.par_chunks(CHUNK_VERTICES).zip(self.partial.par_iter_mut());
        let chunks = outputs.zip(inputs).enumerate();
        hedgerow_par::for_each(chunks, |(chunk, ((scores, next_given), (share, partial)))| {
            let Some(mut meter) = cancel.meter_of_subgraphs().filter(|_| !failure.is_noted()) else { return };
            let mut sums = Partial::default();
            let subgraphs = subgraphs_of(chunk, scores.len());
            let mut rows = scores.iter_mut().zip(next_given).zip(share);
            let scanned = g.scan(subgraphs, Direction::In, |_, block| {
                if !meter.next_subgraph() {
                    return ControlFlow::Break(());
                }
                // What is added to a block is taken first, in one loop: vertex by vertex, whether there is any would be
                // a guess that the processor often gets wrong.
                let mut added = [S::ZERO; SUBGRAPH_VERTICES];
                let additive = block.is_additive();
                if additive {
                    block.for_each_added(|v, u| added[v.index()] = added[v.index()] + given[u.index()]);
                }
                for (local, ((score, next_given), &share)) in
                    (0..SUBGRAPH_VERTICES as u8).map(LocalVertex).zip(rows.by_ref())
                {
                    if share < S::ZERO {
                        continue;
                    }
                    let gathered = match block.main(local) {
                        Some(list) if additive => gather_list(list, given, added[local.index()], &mut meter),
                        _ => gather(block, local, given, &mut meter),
                    };
                    let new = base + damping * gathered;
                    if share == S::ZERO {
                        sums.dangling += new.to_f64();
                    }
                    *next_given = new * share;
                    if KEEP {
                        sums.change += (new - *score).abs();
                        *score = new;
                    }
                }
                ControlFlow::Continue(())
            });
            failure.note(scanned);
            *partial = sums;
        });
        std::mem::swap(&mut self.given, &mut self.next_given);
        self.dangling = self.partial.iter().map(|p| p.dangling).sum();
        self.change = self.partial.iter().map(|p| p.change).sum();
    }
}

/// The subgraphs of a work item that has so many vertices.
fn subgraphs_of(chunk: usize, vertices: usize) -> Range<SubgraphId> {
    let first = chunk * CHUNK_SUBGRAPHS;
    SubgraphId(first as u32)..SubgraphId((first + vertices.div_ceil(SUBGRAPH_VERTICES)) as u32)
}

/// 1 / out-degree of each vertex; 0 for vertices without out-edges, [`HOLE`] for holes.
fn shares<S: Score, G: Topology>(
    g: &G,
    vertex_bound: usize,
    cancel: &Cancel,
    failure: &Failure<G::Error>,
) -> Vec<S> {
    let mut shares = vec![S::ZERO; vertex_bound];
    hedgerow_par::for_each(shares.par_chunks_mut(CHUNK_VERTICES).enumerate(), |(chunk, shares)| {
        if failure.is_noted() {
            return;
        }
        let subgraphs = subgraphs_of(chunk, shares.len());
        let mut rows = shares.chunks_mut(SUBGRAPH_VERTICES);
        let scanned = g.scan(subgraphs, Direction::Out, |subgraph, block| {
            let Some(row) = rows.next().filter(|_| !cancel.poll()) else { return ControlFlow::Break(()) };
            for (local, share) in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex).zip(row) {
                *share = match (g.contains(subgraph.vertex(local)), block.degree(local)) {
                    (false, _) => S::from_f64(HOLE),
                    (true, 0) => S::ZERO,
                    (true, degree) => S::from_f64(1.0 / degree as f64),
                };
            }
            ControlFlow::Continue(())
        });
        failure.note(scanned);
    });
    shares
}

/// The sum of `given` over the neighbours of a vertex.
///
/// Subtracting the removed ones from a sum over the main list would spare the merge, but a large removed share could cancel
/// all digits of a small remainder.
#[inline]
fn gather<S: Score, B: Block>(block: B, local: LocalVertex, given: &[S], meter: &mut Meter<'_>) -> S {
    let (mut sum, mut unmetered) = (S::ZERO, Cancel::SHORT_LIST);
    let _goes_on = block.for_each_run(local, |run| {
        sum = if run.len() <= unmetered {
            unmetered -= run.len();
            gather_part(run, given, sum)
        } else {
            gather_polling(run, given, sum, meter)
        };
        ControlFlow::Continue(())
    });
    sum
}

#[inline]
fn gather_list<S: Score>(list: &[VertexId], given: &[S], start: S, meter: &mut Meter<'_>) -> S {
    if list.len() <= Cancel::SHORT_LIST {
        return gather_part(list, given, start);
    }
    gather_polling(list, given, start, meter)
}

/// As [`gather_list`], in the same order and hence with the same bits.
#[cold]
fn gather_polling<S: Score>(list: &[VertexId], given: &[S], start: S, meter: &mut Meter<'_>) -> S {
    let mut sum = start;
    meter.parts(list, |part| sum = gather_part(part, given, sum));
    sum
}

#[inline]
fn gather_part<S: Score>(list: &[VertexId], given: &[S], start: S) -> S {
    list.iter().fold(start, |sum, u| sum + given[u.index()])
}
