//! The iterations.

use std::cell::Cell;
use std::ops::Range;

use hedgerow_core::{Direction, VertexId, WeightedTopology};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::Cancel;
use crate::par::CHUNK_VERTICES;
use crate::sssp::for_each_neighbor;
use crate::watch::Watch;

/// The scores, and the state from which an iteration makes new ones.
pub(super) struct Rounds<'g, G: WeightedTopology> {
    g: &'g G,
    damping: f64,
    /// The vertices to which the surfer jumps, ascending; all if none are given.
    sources: Option<Vec<VertexId>>,
    /// The sum of the weights of each vertex.
    sums: Vec<f64>,
    scores: Vec<f64>,
    /// The share that each vertex gives for each unit of weight.
    given: Vec<f64>,
    /// The sums of an iteration over the scores of each range of vertices.
    parts: Vec<Part>,
    watch: Watch<'g, G::Error>,
}

/// The sums over a range of vertices.
#[derive(Clone, Copy, Default)]
struct Part {
    /// The sum of the scores of the vertices whose edges have weights that sum to 0.
    dangling: f64,
    /// The sum of the changes, without their signs.
    change: f64,
}

impl<'g, G: WeightedTopology> Rounds<'g, G> {
    pub(super) fn new(
        g: &'g G,
        sums: Vec<f64>,
        sources: Option<Vec<VertexId>>,
        damping: f64,
        cancel: &'g Cancel,
    ) -> Self {
        let bound = sums.len();
        let parts = vec![Part::default(); bound.div_ceil(CHUNK_VERTICES)];
        let mut rounds = Rounds {
            g,
            damping,
            sources,
            sums,
            scores: vec![0.0; bound],
            given: vec![0.0; bound],
            parts,
            watch: Watch::new(cancel),
        };
        rounds.finish_round(Vec::new(), 1.0, 0.0);
        rounds
    }

    /// Runs `iterations`, or as many as a tolerance needs.
    pub(super) fn run(
        mut self,
        iterations: u32,
        tolerance: Option<f64>,
    ) -> Result<Vec<f64>, KernelError<G::Error>> {
        for _ in 0..iterations {
            let dangling: f64 = self.parts.iter().map(|part| part.dangling).sum();
            let jump = (1.0 - self.damping) + self.damping * dangling;
            // If edges against their direction can be read, each vertex sums up its own list.
            let handed_out = if self.g.is_stored(Direction::In) { Vec::new() } else { self.hand_out() };
            self.finish_round(handed_out, jump, self.damping);
            self.watch.check()?;
            self.watch.cancel.step(1);
            let change: f64 = self.parts.iter().map(|part| part.change).sum();
            if tolerance.is_some_and(|tolerance| change < tolerance) {
                break;
            }
        }
        Ok(self.scores)
    }

    /// Returns the sums of the shares that each vertex gets, read along the edges: in one thread, in the
    /// order of the visit.
    fn hand_out(&self) -> Vec<f64> {
        let mut next = vec![0.0; self.scores.len()];
        let Some(mut meter) = self.watch.cancel.meter() else { return next };
        let is_over = Cell::new(false);
        let all = (0..self.scores.len() as u32).map(VertexId).take_while(|_| !is_over.get());
        let visited = self.g.visit_weighted(all, Direction::Out, |u, run, weights| {
            let given = self.given[u.index()];
            for_each_neighbor(run, weights, &mut meter, |v, weight| next[v.index()] += given * weight);
            is_over.set(meter.is_over());
        });
        self.watch.note(visited);
        next
    }

    /// Makes new scores from the shares, or from the sums that were handed out, times `damping`, and from the
    /// total `jump`.
    fn finish_round(&mut self, handed_out: Vec<f64>, jump: f64, damping: f64) {
        let mut scores = std::mem::take(&mut self.scores);
        let mut parts = std::mem::take(&mut self.parts);
        let count = self.sources.as_ref().map_or(self.g.vertex_count(), Vec::len);
        let each = jump / count as f64;
        let chunks = scores.par_chunks_mut(CHUNK_VERTICES).zip(parts.par_iter_mut()).enumerate();
        hedgerow_par::for_each(chunks, |(chunk, (scores, part))| {
            let mut next = [0.0; CHUNK_VERTICES];
            let (first, next) = (chunk * CHUNK_VERTICES, &mut next[..scores.len()]);
            let ids = first as u32..(first + scores.len()) as u32;
            if let Some(handed_out) = handed_out.get(first..first + scores.len()) {
                next.copy_from_slice(handed_out);
            } else if damping > 0.0 {
                self.gather(ids.clone(), next);
            }
            next.iter_mut().for_each(|sum| *sum *= damping);
            self.jump(ids, each, next);
            *part = taken(next, scores, &self.sums[first..first + scores.len()]);
        });
        (self.scores, self.parts) = (scores, parts);
        let given = self.given.par_chunks_mut(CHUNK_VERTICES).zip(self.scores.par_chunks(CHUNK_VERTICES));
        hedgerow_par::for_each(given.zip(self.sums.par_chunks(CHUNK_VERTICES)), |((given, scores), sums)| {
            for ((given, score), &sum) in given.iter_mut().zip(scores).zip(sums) {
                *given = if sum > 0.0 { score / sum } else { 0.0 };
            }
        });
    }

    /// Sums up the shares that each vertex of a range gets.
    fn gather(&self, ids: Range<u32>, next: &mut [f64]) {
        let Some(mut meter) = self.watch.meter() else { return };
        let (first, is_over) = (ids.start as usize, Cell::new(false));
        let vertices = ids.map(VertexId).take_while(|_| !is_over.get());
        let visited = self.g.visit_weighted(vertices, Direction::In, |v, run, weights| {
            let sum = &mut next[v.index() - first];
            for_each_neighbor(run, weights, &mut meter, |u, weight| *sum += self.given[u.index()] * weight);
            is_over.set(meter.is_over());
        });
        self.watch.note(visited);
    }

    /// Adds `each` to the vertices of a range to which the surfer jumps.
    fn jump(&self, ids: Range<u32>, each: f64, next: &mut [f64]) {
        match &self.sources {
            None => {
                let live = ids.zip(next).filter(|(v, _)| self.g.contains(VertexId(*v)));
                live.for_each(|(_, sum)| *sum += each);
            }
            Some(all) => {
                let from = all.partition_point(|v| v.0 < ids.start);
                let own = all[from..].iter().take_while(|v| v.0 < ids.end);
                own.for_each(|v| next[(v.0 - ids.start) as usize] += each);
            }
        }
    }
}

/// Replaces the old scores by new ones; returns the sums over them.
fn taken(next: &[f64], scores: &mut [f64], sums: &[f64]) -> Part {
    let mut part = Part::default();
    for ((score, &next), &sum) in scores.iter_mut().zip(next).zip(sums) {
        part.change += (next - *score).abs();
        part.dangling += if sum == 0.0 { next } else { 0.0 };
        *score = next;
    }
    part
}
