//! Iterating until the scores hardly change.
//!
//! Below a damping of 1 the formula leaves one set of scores as it is: the *fixed point*. An iteration brings any scores that sum to 1 to
//! `damping` of their distance from it, or less. So scores that an iteration would change by `r` in total are at most `r / (1 - damping)`
//! from it, however they were found.
//!
//! Iterations of the formula take long on graphs of large diameter. Along undirected edges an iteration is a symmetric matrix (weighed by
//! degrees) with eigenvalues between -`damping` and `damping`. There no sum of its powers is faster than Chebyshev's iteration, which brings the
//! distance to `damping / (1 + sqrt(1 - damping^2))` of it, 0.56 for a damping of 0.85. It goes beyond the new scores, away from those
//! before the present ones: `next = w * formula(now) + (1 - w) * before`, where `w` begins as `1 / (1 - damping^2 / 2)` and
//! then is `1 / (1 - damping^2 * w / 4)`. In graphs of small diameter scores settle sooner than that by themselves, so it begins once an
//! iteration has left more of the change. Eigenvalues of directed graphs are complex, and would let it diverge.
//!
//! **Cited.** G. Golub, R. Varga, *Chebyshev semi-iterative methods, successive overrelaxation iterative methods, and second order
//! Richardson iterative methods*, Numerische Mathematik 3, 1961.

use std::ops::ControlFlow;

use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, Topology};
use rayon::prelude::*;

use super::gather::Gathering;
use super::{Partial, Ranking, Score, subgraphs_of, sum_of};
use crate::KernelError;
use crate::par::CHUNK_VERTICES;

/// Of a graph that says that it is undirected and is not, the change may grow. At so many times what it was, plain iterations go on.
const MOST_GROWTH: f64 = 4.0;

/// How far to go beyond the new scores.
struct Acceleration {
    damping: f64,
    is_possible: bool,
    /// How much of the change each iteration of it leaves.
    rate: f64,
    /// 1 until it begins.
    weight: f64,
    /// The change when it began.
    begun_at: f64,
}

impl Acceleration {
    fn new(damping: f64, is_possible: bool) -> Self {
        let rate = damping / (1.0 + (1.0 - damping * damping).sqrt());
        Acceleration { damping, is_possible, rate, weight: 1.0, begun_at: 0.0 }
    }

    fn has_begun(&self) -> bool {
        self.weight > 1.0
    }

    /// Goes on to the next iteration, after two that changed the scores by so much.
    fn advance(&mut self, before: f64, now: f64) {
        let squared = self.damping * self.damping;
        if self.has_begun() && now <= MOST_GROWTH * self.begun_at {
            self.weight = 1.0 / (1.0 - squared * self.weight / 4.0);
        } else if self.has_begun() {
            (self.weight, self.is_possible) = (1.0, false);
        } else if self.is_possible && self.rate < 1.0 && now > self.rate * before {
            (self.weight, self.begun_at) = (1.0 / (1.0 - squared / 2.0), now);
        }
    }
}

impl<S: Score, G: Topology> Ranking<'_, S, G> {
    /// Iterates until an iteration of the formula changes the scores by less than `tolerance` in total, at most so many times.
    pub(super) fn run_until(
        mut self,
        iterations: u32,
        tolerance: f64,
    ) -> Result<Vec<S>, KernelError<G::Error>> {
        let (mut now, mut next) = (self.starts(), self.starts());
        let mut acceleration = Acceleration::new(self.damping, !self.g.is_directed());
        let mut change_before = f64::INFINITY;
        for _ in 0..iterations {
            // In `next` are the scores of the iteration before.
            let change = self.iterate_beyond(acceleration.weight, &now, &mut next);
            self.check()?;
            if change < tolerance && acceleration.has_begun() {
                // What the change is of.
                return Ok(now);
            }
            std::mem::swap(&mut now, &mut next);
            if change < tolerance {
                break;
            }
            acceleration.advance(change_before, change);
            change_before = change;
        }
        Ok(now)
    }

    /// One iteration, which makes `weight` times its scores, less so many of those in `next` that the sum stays the same. Returns by how much
    /// it changes those of `now` in total without the weight.
    fn iterate_beyond(&mut self, weight: f64, now: &[S], next: &mut [S]) -> f64 {
        let (g, given, sinks) = (self.g, self.given.as_slice(), self.sinks.as_slice());
        let (base, damping) = (self.base(), S::from_f64(self.damping));
        let (weight, rest) = (S::from_f64(weight), S::from_f64(1.0 - weight));
        let (cancel, failure) = (self.cancel, &self.failure);
        let outputs = self.next_given.par_chunks_mut(CHUNK_VERTICES).zip(next.par_chunks_mut(CHUNK_VERTICES));
        let outputs = outputs.zip(self.partial.par_iter_mut());
        let inputs = self.share.par_chunks(CHUNK_VERTICES).zip(now.par_chunks(CHUNK_VERTICES));
        hedgerow_par::for_each(outputs.zip(inputs).enumerate(), |(chunk, (outputs, (share, now)))| {
            let Some(mut meter) = cancel.meter_of_subgraphs().filter(|_| !failure.is_noted()) else { return };
            let ((next_given, next), partial) = outputs;
            let mut sums = Partial::default();
            let outputs = next_given.chunks_mut(SUBGRAPH_VERTICES).zip(next.chunks_mut(SUBGRAPH_VERTICES));
            let mut rows = outputs.zip(share.chunks(SUBGRAPH_VERTICES)).zip(now.chunks(SUBGRAPH_VERTICES));
            let subgraphs = subgraphs_of(chunk, share.len());
            let scanned = g.scan(subgraphs, Direction::In, |subgraph, block| {
                let Some((((next_given, next), share), now)) = rows.next().filter(|_| meter.next_subgraph())
                else {
                    return ControlFlow::Break(());
                };
                let gathering = Gathering::new(block, given);
                let outputs = next_given.iter_mut().zip(next);
                for (i, ((outputs, &share), &now)) in outputs.zip(share).zip(now).enumerate() {
                    let (next_given, next) = outputs;
                    if share == S::ZERO {
                        continue;
                    }
                    let new = base + damping * gathering.gather(LocalVertex(i as u8), &mut meter);
                    sums.change += (new - now).abs();
                    *next = weight * new + rest * *next;
                    *next_given = *next * share;
                }
                sums.dangling += sum_of(next_given, sinks[subgraph.index()]);
                ControlFlow::Continue(())
            });
            failure.note(scanned);
            *partial = sums;
        });
        self.turn();
        self.partial.iter().map(|p| p.change).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Acceleration;

    #[test]
    fn acceleration_begins_where_changes_shrink_slowly_and_ends_where_they_grow() {
        let mut one = Acceleration::new(0.85, true);
        one.advance(f64::INFINITY, 1.0);
        one.advance(1.0, 0.5);
        assert!(!one.has_begun(), "0.5 of the change left is less than 0.557");
        one.advance(0.5, 0.3);
        assert!(one.has_begun());
        let limit = 2.0 / (1.0 + (1.0 - 0.85f64 * 0.85).sqrt());
        for _ in 0..40 {
            one.advance(0.3, 0.3);
        }
        assert!((one.weight - limit).abs() < 1e-12, "{} {limit}", one.weight);
        one.advance(0.3, 1.3);
        one.advance(1.0, 1.0);
        assert!(!one.has_begun(), "for good");
        for (damping, is_possible) in [(0.85, false), (1.0, true), (0.0, true)] {
            let mut none = Acceleration::new(damping, is_possible);
            none.advance(1.0, 1.0);
            assert!(!none.has_begun(), "{damping}");
        }
    }
}
