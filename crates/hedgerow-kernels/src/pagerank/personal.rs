//! The same iteration for a surfer who always jumps back to some vertices.

use hedgerow_core::{SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use super::{Ranking, Score};
use crate::KernelError;
use crate::par::CHUNK_VERTICES;

impl<S: Score, G: Topology> Ranking<'_, S, G> {
    /// Runs `iterations`, or as many as a tolerance needs, for a surfer who starts at one of `sources` and
    /// jumps there. There is at least one, all are live, and none is repeated.
    pub(crate) fn run_from(
        mut self,
        sources: &[VertexId],
        iterations: u32,
        tolerance: Option<f64>,
    ) -> Result<Vec<S>, KernelError<G::Error>> {
        self.is_personal = true;
        let each = 1.0 / sources.len() as f64;
        self.given.fill(S::ZERO);
        for v in sources {
            self.given[v.index()] = if iterations == 0 { S::from_f64(each) } else { self.give(*v, each) };
        }
        self.dangling = sources.iter().filter(|&&v| self.is_sink(v)).count() as f64 * each;
        for iteration in 1..=iterations {
            let jump = ((1.0 - self.damping) + self.damping * self.dangling) * each;
            if tolerance.is_none() && iteration == iterations {
                self.iterate::<true>();
                sources.iter().for_each(|v| self.add(*v, S::from_f64(jump)));
            } else {
                self.iterate::<false>();
                sources.iter().for_each(|v| self.add(*v, self.give(*v, jump)));
                self.dangling += sources.iter().filter(|&&v| self.is_sink(v)).count() as f64 * jump;
            }
            self.check()?;
            if let Some(tolerance) = tolerance
                && (iteration == iterations || self.change() < tolerance)
            {
                self.scores_of_given();
                break;
            }
        }
        Ok(self.given)
    }

    fn is_sink(&self, v: VertexId) -> bool {
        self.sinks[v.index() / SUBGRAPH_VERTICES] >> (v.index() % SUBGRAPH_VERTICES) & 1 != 0
    }

    /// Returns the share that a vertex with this score gives.
    fn give(&self, v: VertexId, score: f64) -> S {
        S::from_f64(score) * self.share[v.index()]
    }

    fn add(&mut self, v: VertexId, more: S) {
        let slot = &mut self.given[v.index()];
        *slot = *slot + more;
    }

    /// Returns the total change of the scores by the last iteration: summed chunk by chunk, so that it
    /// depends on no thread.
    fn change(&mut self) -> f64 {
        let rows = self.given.par_chunks(CHUNK_VERTICES).zip(self.next_given.par_chunks(CHUNK_VERTICES));
        let rows = rows.zip(self.share.par_chunks(CHUNK_VERTICES)).zip(self.partial.par_iter_mut());
        hedgerow_par::for_each(rows, |(((new, old), share), partial)| {
            let rows = new.iter().zip(old).zip(share).filter(|(_, share)| **share != S::ZERO);
            *partial = rows.map(|((&new, &old), &share)| (new - old).abs() / share.to_f64()).sum();
        });
        self.partial.iter().sum()
    }

    /// Replaces shares by scores.
    fn scores_of_given(&mut self) {
        let rows = self.given.par_chunks_mut(CHUNK_VERTICES).zip(self.share.par_chunks(CHUNK_VERTICES));
        hedgerow_par::for_each(rows, |(given, share)| {
            for (given, &share) in given.iter_mut().zip(share).filter(|(_, share)| **share != S::ZERO) {
                *given = S::from_f64(given.to_f64() / share.to_f64());
            }
        });
    }
}
