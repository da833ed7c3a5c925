//! Sweeps over all vertices that write scores over the old ones.
//!
//! A vertex gets its new score from the present scores of its in-neighbours (Gauss and Seidel's method), most
//! of them new already. So a sweep brings scores nearer to the fixed point than an iteration of the formula
//! does. The vertices are in chunks, and the chunks in eight *stages* (fewer if chunks are few), one after
//! another: chunk `c` is of stage `c mod 8`. A chunk sees the new scores of all stages before and, if
//! neighbours are near each other, its own. It sees the old scores of the other chunks of its stage. So
//! threads share a stage, and no score depends on which thread takes which chunk. Chunks of one stage are
//! apart, since adjacent ones have many edges in common.
//!
//! **Vertices without out-edges.** Their score and the score of jumps give every vertex the same amount,
//! `base`, which is computed after each sweep. Meanwhile the scores need not sum to 1: the formula stays true
//! if all scores are multiplied by one number. At the end they are divided by their sum.
//!
//! **They converge.** Let `P` be the stochastic matrix of the formula, `N` the part of it that a sweep takes
//! from new scores, and `O` the rest. A sweep solves `x' = N x' + O x`. It turns `z = (1 - N) x` into `T z`,
//! where `T = O (1 - N)^-1`. The columns of `T` sum to 1, since `1 (1 - N) = 1 O`, and no entry is below
//! `(1 - d)/n`, which `base` gives. So a sweep brings `z` to at most `d` of its distance from the fixed
//! point, like an iteration of the formula does with scores; in practice to far less.
//!
//! **The residual.** After a sweep, an iteration of the formula would change a vertex by the changes of its
//! in-neighbours since it saw them. So the total change would be at most `d` times the steps of the sweep,
//! and `n` times the change of `base`. The same holds between two stages for the last step of each vertex,
//! whichever sweep made it. A vertex has seen all steps of a neighbor but the last one, and that one too if
//! its own last turn came later. So a sweep ends at the first stage after which the residual is small enough.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology};
use rayon::prelude::*;

use super::extrapolate::still_to_come;
use super::gather::{Gathering, Near, Settled};
use super::{Ranking, Score};
use crate::KernelError;
use crate::cancel::Meter;
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES, ones, subgraphs_of};

/// The most stages: with more, hardly fewer sweeps are needed, and threads wait for each other more often.
const MOST_STAGES: usize = 8;
/// The fewest chunks of a stage that give work to all threads.
const CHUNKS_OF_STAGE: usize = 4;
/// The least share of neighbours in the same chunk at which vertices read the new scores of their own chunk.
const NEAR: f64 = 1.0 / 16.0;
/// The distance of the vertices in the first subgraph of each chunk that are sampled for that share.
const SAMPLED: usize = 8;
/// The use of the steps of a sweep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Steps {
    /// Steps are not kept.
    Left,
    /// Steps are kept.
    Noted,
    /// Steps are compared with the steps that the sweep before kept, and the rest of their series is kept.
    Extrapolated,
}

/// The effect of a sweep.
pub(super) struct Swept {
    /// The total change of the scores, their sum being 1.
    pub(super) change: f64,
    /// The most by which an iteration of the formula would change the scores.
    pub(super) residual: f64,
}

/// Sums over the vertices of a chunk.
#[derive(Clone, Copy, Default)]
struct Sums {
    scores: f64,
    dangling: f64,
    change: f64,
}

/// Scores that sweeps write over.
pub(super) struct Sweeps<'g, S: Score, G: Topology> {
    ranking: Ranking<'g, S, G>,
    /// The share that each vertex gives: in the first half as chunks of the same stage see it, in the second
    /// as it is now. Between stages both are the same. Accesses are relaxed: no thread reads a cell that
    /// another one may be writing.
    cells: Vec<S::Cell>,
    /// The steps that were kept, as parts of shares; empty before the first step is kept.
    kept: Vec<S>,
    sums: Vec<Sums>,
    stages: usize,
    sees_own: bool,
    /// True if vertices without edges are left out.
    leaves_out: bool,
    /// The number of vertices that take part.
    count: f64,
    /// The sum of their scores.
    total: f64,
    /// The score that every vertex gets whatever its edges are, and its value in the sweep before.
    base: f64,
    base_before: f64,
    /// True if the last step of every vertex is known: a whole sweep was done, and only sweeps wrote scores
    /// after it.
    knows_steps: bool,
}

impl<'g, S: Score, G: Topology> Sweeps<'g, S, G> {
    /// Makes sweeps that start from `earlier` scores, by vertex, if there are any.
    pub(super) fn new(
        mut ranking: Ranking<'g, S, G>,
        earlier: &[f64],
    ) -> Result<Self, KernelError<G::Error>> {
        let chunks = ranking.partial.len();
        (ranking.given, ranking.next_given) = (Vec::new(), Vec::new());
        let mut sweeps = Sweeps {
            cells: Vec::new(),
            kept: Vec::new(),
            sums: vec![Sums::default(); chunks],
            stages: (chunks / CHUNKS_OF_STAGE).clamp(1, MOST_STAGES),
            sees_own: false,
            leaves_out: !ranking.g.is_directed(),
            count: ranking.g.vertex_count() as f64,
            ranking,
            total: 1.0,
            base: 0.0,
            base_before: 0.0,
            knows_steps: false,
        };
        sweeps.sees_own = sweeps.near_share() >= NEAR;
        sweeps.ranking.watch.check()?;
        sweeps.begin(earlier);
        Ok(sweeps)
    }

    /// Estimates the share of neighbours that are in the same chunk as the vertex itself.
    fn near_share(&self) -> f64 {
        let (g, watch) = (self.ranking.g, &self.ranking.watch);
        let bound = self.ranking.share.len();
        let chunks = (0..self.sums.len()).into_par_iter();
        let counts = hedgerow_par::map(chunks, |chunk| {
            let range = chunk * CHUNK_VERTICES..((chunk + 1) * CHUNK_VERTICES).min(bound);
            let subgraph = SubgraphId((chunk * CHUNK_SUBGRAPHS) as u32);
            let (mut near, mut all) = (0, 0);
            let scanned = g.scan(subgraph..SubgraphId(subgraph.0 + 1), Direction::In, |_, block| {
                for local in (0..SUBGRAPH_VERTICES).step_by(SAMPLED) {
                    let list = block.main(LocalVertex(local as u8)).unwrap_or(&[]);
                    let before = |end: usize| list.partition_point(|u| u.index() < end);
                    near += before(range.end) - before(range.start);
                    all += list.len();
                }
                ControlFlow::Continue(())
            });
            watch.note(scanned);
            (near, all)
        });
        let (near, all) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        near as f64 / all.max(1) as f64
    }

    /// Sets the scores that sweeps begin with.
    fn begin(&mut self, earlier: &[f64]) {
        let (g, damping) = (self.ranking.g, self.ranking.damping);
        if self.leaves_out {
            self.leave_out();
        }
        let jump = S::from_f64((1.0 - damping) / self.count);
        let per_degree = S::from_f64(damping / (2 * g.edge_count()).max(1) as f64);
        let (start, by_degree, share) = (self.ranking.start, self.leaves_out, &self.ranking.share);
        let vertices = (0..2 * share.len()).into_par_iter().with_min_len(CHUNK_VERTICES);
        self.cells = hedgerow_par::fine::map(vertices, |at| {
            let v = if at < share.len() { at } else { at - share.len() };
            let share = share[v];
            let given = match by_degree {
                _ if share == S::ZERO => S::ZERO,
                _ if earlier.get(v).is_some_and(|&score| score > 0.0) => S::from_f64(earlier[v]) * share,
                true => jump * share + per_degree,
                false => start * share,
            };
            given.into_cell()
        });
        self.sum_up();
        self.take_sums();
    }

    /// Turns vertices without edges into holes.
    fn leave_out(&mut self) {
        let Ranking { share, sinks, .. } = &mut self.ranking;
        let rows = share.par_chunks_mut(SUBGRAPH_VERTICES).zip(&*sinks).with_min_len(CHUNK_SUBGRAPHS);
        hedgerow_par::fine::for_each(rows, |(share, &sinks)| {
            ones(sinks).for_each(|at| share[at as usize] = S::ZERO);
        });
        self.count -= sinks.iter().map(|word| f64::from(word.count_ones())).sum::<f64>();
    }

    /// Sweeps over all vertices, or only over the first stages after which the residual is below `enough`.
    pub(super) fn sweep(&mut self, steps: Steps, enough: f64) -> Result<Swept, KernelError<G::Error>> {
        if steps != Steps::Left && self.kept.is_empty() {
            self.kept = vec![S::ZERO; self.ranking.share.len()];
        }
        let base = self.base;
        let mut swept = Swept { change: f64::INFINITY, residual: f64::INFINITY };
        for stage in 0..self.stages {
            if self.sees_own {
                self.stage::<true>(stage, steps);
            } else {
                self.stage::<false>(stage, steps);
            }
            self.settle(stage);
            self.ranking.watch.check()?;
            let is_last = stage + 1 == self.stages;
            self.knows_steps |= is_last;
            if self.knows_steps {
                swept = self.swept(base, if is_last { base } else { self.base_before });
            }
            if swept.residual < enough {
                break;
            }
        }
        self.take_sums();
        self.base_before = base;
        Ok(swept)
    }

    /// Returns the effect of the last step of each vertex, which was made with `base` or with `other_base`.
    fn swept(&self, base: f64, other_base: f64) -> Swept {
        let (total, now) = self.sums();
        let change: f64 = self.sums.iter().map(|sums| sums.change).sum();
        let of_base = (now - base).abs().max((now - other_base).abs());
        let residual = self.count * of_base + self.ranking.damping * change;
        Swept { change: change / total, residual: residual / total }
    }

    /// Adds the kept steps to all shares.
    pub(super) fn extrapolate(&mut self) -> Result<(), KernelError<G::Error>> {
        let (settled, fresh) = self.cells.split_at(self.ranking.share.len());
        let cells = settled.par_iter().zip(fresh).zip(&self.kept).with_min_len(CHUNK_VERTICES);
        hedgerow_par::fine::for_each(cells, |((settled, fresh), &step)| {
            let sum = S::load(fresh) + step;
            let given = if sum > S::ZERO { sum } else { S::ZERO };
            given.store(settled);
            given.store(fresh);
        });
        self.sum_up();
        self.take_sums();
        self.knows_steps = false;
        self.ranking.watch.check()
    }

    /// Returns the scores, whose sum is 1.
    pub(super) fn scores(self) -> Vec<S> {
        let Ranking { g, share, sinks, .. } = self.ranking;
        let left_out = if self.leaves_out { g.vertex_count() as f64 - self.count } else { 0.0 };
        let total = self.total + left_out * self.base;
        let of_left_out = S::from_f64(self.base / total);
        let vertices =
            self.cells[share.len()..].par_iter().zip(&share).enumerate().with_min_len(CHUNK_VERTICES);
        hedgerow_par::fine::map(vertices, |(v, (cell, &share))| {
            let is_sink = sinks[v / SUBGRAPH_VERTICES] >> (v % SUBGRAPH_VERTICES) & 1 != 0;
            match self.leaves_out && is_sink {
                true => of_left_out,
                false => S::from_f64(score_of(S::load(cell), share) / total),
            }
        })
    }

    fn stage<const OWN: bool>(&mut self, stage: usize, steps: Steps) {
        let (stages, ranking) = (self.stages, &self.ranking);
        let watch = &ranking.watch;
        let sweep = Stage {
            g: ranking.g,
            cells: &self.cells,
            share: &ranking.share,
            sinks: &ranking.sinks,
            base: S::from_f64(self.base),
            damping: S::from_f64(ranking.damping),
            steps,
        };
        let kept = self.kept.chunks_mut(CHUNK_VERTICES).chain(std::iter::repeat_with(Default::default));
        let chunks = self.sums.iter_mut().zip(kept).enumerate().skip(stage).step_by(stages);
        let chunks: Vec<_> = chunks.collect();
        hedgerow_par::for_each(chunks.into_par_iter().with_max_len(1), |(chunk, (sums, kept))| {
            let Some(meter) = watch.meter_of_subgraphs() else { return };
            *sums = Sums::default();
            watch.note(sweep.chunk::<OWN>(chunk, kept, sums, meter));
        });
    }

    /// Copies the new shares of the chunks of a stage to the half that all chunks see.
    fn settle(&self, stage: usize) {
        let (settled, fresh) = self.cells.split_at(self.ranking.share.len());
        let chunks = settled.par_chunks(CHUNK_VERTICES).zip(fresh.par_chunks(CHUNK_VERTICES));
        hedgerow_par::for_each(chunks.skip(stage).step_by(self.stages), |(settled, fresh)| {
            settled.iter().zip(fresh).for_each(|(settled, fresh)| S::load(fresh).store(settled));
        });
    }

    /// Sums up scores that no sweep wrote.
    fn sum_up(&mut self) {
        let ranking = &self.ranking;
        let chunks = self.cells.par_chunks(CHUNK_VERTICES).zip(ranking.share.par_chunks(CHUNK_VERTICES));
        let chunks = chunks.zip(ranking.sinks.par_chunks(CHUNK_SUBGRAPHS)).zip(&mut self.sums);
        hedgerow_par::for_each(chunks, |(((cells, share), sinks), sums)| {
            let rows = cells.chunks(SUBGRAPH_VERTICES).zip(sinks);
            let dangling = rows.map(|(cells, &sinks)| held_by::<S>(cells, sinks)).sum();
            let scores = cells.iter().zip(share).map(|(cell, &share)| score_of(S::load(cell), share)).sum();
            *sums = Sums { scores, dangling, change: 0.0 };
        });
    }

    /// Returns the sum of all scores, and the score that every vertex gets from this sum whatever its edges
    /// are.
    fn sums(&self) -> (f64, f64) {
        let damping = self.ranking.damping;
        let total: f64 = self.sums.iter().map(|sums| sums.scores).sum();
        let dangling: f64 = self.sums.iter().map(|sums| sums.dangling).sum();
        (total, ((1.0 - damping) * total + damping * dangling) / self.count)
    }

    /// Sets the total and the base from the sums of all chunks, in their order.
    fn take_sums(&mut self) {
        (self.total, self.base) = self.sums();
    }
}

/// The state that the chunks of a stage share.
struct Stage<'a, S: Score, G> {
    g: &'a G,
    cells: &'a [S::Cell],
    share: &'a [S],
    sinks: &'a [u64],
    base: S,
    damping: S,
    steps: Steps,
}

impl<S: Score, G: Topology> Stage<'_, S, G> {
    /// Sweeps over one chunk. `OWN`: its vertices see the new scores of earlier vertices of the chunk.
    fn chunk<const OWN: bool>(
        &self,
        chunk: usize,
        kept: &mut [S],
        sums: &mut Sums,
        mut meter: Meter<'_>,
    ) -> Result<(), G::Error> {
        let (first, further) = (chunk * CHUNK_VERTICES, self.share.len());
        let vertices = CHUNK_VERTICES.min(further - first);
        let settled = Settled::<S> { cells: self.cells };
        let near = Near::<S> { cells: self.cells, first: first as u32, further };
        self.g.scan(subgraphs_of(chunk, vertices), Direction::In, |subgraph, block| {
            if !meter.next_subgraph() {
                return ControlFlow::Break(());
            }
            let from = subgraph.vertex(LocalVertex(0)).index();
            let to = (from + SUBGRAPH_VERTICES).min(first + vertices);
            let fresh = &self.cells[further + from..further + to];
            let kept = kept.get_mut(from - first..to - first).unwrap_or_default();
            let gathering = if OWN { Gathering::new(block, near) } else { Gathering::new(block, settled) };
            let (mut scores, mut change) = (0.0, 0.0);
            for (i, (&share, cell)) in self.share[from..to].iter().zip(fresh).enumerate() {
                if share == S::ZERO {
                    continue;
                }
                let local = LocalVertex(i as u8);
                // The next vertex may wait for this one: so only two operations come after the sum.
                let (base, damping) = (self.base * share, self.damping * share);
                let sum = match OWN {
                    true => gathering.gather(local, near, &mut meter),
                    false => gathering.gather(local, settled, &mut meter),
                };
                let (old, new) = (S::load(cell), base + damping * sum);
                new.store(cell);
                let (step, degree) = (new - old, 1.0 / share.to_f64());
                scores += new.to_f64() * degree;
                change += step.abs() * degree;
                match self.steps {
                    Steps::Left => {}
                    Steps::Noted => kept[i] = step,
                    Steps::Extrapolated => kept[i] = still_to_come(step.to_f64(), kept[i].to_f64()),
                }
            }
            sums.scores += scores;
            sums.change += change;
            sums.dangling += held_by::<S>(fresh, self.sinks[subgraph.index()]);
            ControlFlow::Continue(())
        })
    }
}

/// Returns the score of a vertex with this share.
#[inline]
fn score_of<S: Score>(given: S, share: S) -> f64 {
    if share == S::ZERO { 0.0 } else { given.to_f64() / share.to_f64() }
}

/// Returns the score of the vertices of a set, which have no out-edges.
#[inline]
fn held_by<S: Score>(cells: &[S::Cell], set: u64) -> f64 {
    ones(set).fold(0.0, |held, at| held + cells.get(at as usize).map_or(0.0, |cell| S::load(cell).to_f64()))
}
