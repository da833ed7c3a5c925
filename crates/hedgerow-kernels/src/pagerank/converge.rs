//! Iterations until the scores hardly change.
//!
//! Below a damping of 1 the formula leaves one set of scores as it is: the *fixed point*. An iteration
//! multiplies the distance of any scores that sum to 1 from the fixed point by at most `damping`. So scores
//! that an iteration would change by `r` in total are at most `r / (1 - damping)` from the fixed point,
//! however they were found. They are found by [sweeps](super::sweep), which write scores over the old ones.
//! Three ways reduce the number of sweeps:
//!
//! *A start by degree.* In an undirected graph the score of a vertex is near `(1 - d)/n + d · degree /
//! degrees`, the score that it would have if its neighbours were drawn at random. Directed graphs start at
//! 1/n, like without a tolerance; in-degrees predict less there.
//!
//! *Vertices without edges apart.* In an undirected graph they give nothing to single vertices, and all of
//! them have the same score. So the other vertices are ranked alone, and the vertices without edges are added
//! at the end. Otherwise their scores would take long to settle.
//!
//! *Extrapolation.* If sweeps reduce the change slowly, the change is mostly the sum of a few slow modes,
//! each in some part of the graph. So each vertex is extrapolated alone. Its last two steps give a ratio, and
//! every fourth sweep adds the rest of a geometric series with that ratio (Aitken). A larger ratio than 0.72
//! counts as 0.72, since a large ratio may be chance and would move the score far off.
//!
//! Extrapolation is not certain to help. If four sweeps with extrapolation leave a larger change than four
//! iterations of the formula can, extrapolation is turned off for good. Sweeps without it always converge.
//!
//! **Cited.** S. Kamvar, T. Haveliwala, C. Manning, G. Golub, *Extrapolation methods for accelerating
//! PageRank computations*, WWW 2003, for Aitken's rule by vertex.

use hedgerow_core::Topology;

use super::sweep::{Steps, Sweeps};
use super::{Ranking, Score};
use crate::KernelError;

/// The least share of the change left by a sweep at which extrapolation helps.
const SLOW: f64 = 0.4;
/// Sweeps from one extrapolation to the next.
const PERIOD: u32 = 4;

/// The record of past sweeps that decides whether the next sweep extrapolates.
struct Pace {
    damping: f64,
    may_extrapolate: bool,
    /// The number of sweeps done.
    sweeps: u32,
    /// The change by the last sweep, and its ratio to the change by the sweep before.
    change: f64,
    rate: f64,
    /// True if the last sweep kept its steps.
    has_noted: bool,
    /// The change when steps were last extrapolated.
    extrapolated_at: f64,
}

impl Pace {
    fn new(damping: f64) -> Self {
        Pace {
            damping,
            may_extrapolate: true,
            sweeps: 0,
            change: f64::INFINITY,
            rate: 0.0,
            has_noted: false,
            extrapolated_at: f64::INFINITY,
        }
    }

    /// Returns the use of the steps of the next sweep.
    fn steps(&self) -> Steps {
        let is_slow = self.may_extrapolate && self.rate > SLOW;
        match (self.sweeps + 1) % PERIOD {
            3 if is_slow => Steps::Noted,
            0 if is_slow && self.has_noted => Steps::Extrapolated,
            _ => Steps::Left,
        }
    }

    /// Records a sweep that changed the scores by `change`.
    fn advance(&mut self, change: f64, steps: Steps) {
        self.has_noted = steps == Steps::Noted;
        self.rate = change / self.change;
        (self.change, self.sweeps) = (change, self.sweeps + 1);
        if steps == Steps::Extrapolated {
            self.may_extrapolate = change < self.damping.powi(PERIOD as i32) * self.extrapolated_at;
            self.extrapolated_at = change;
        }
    }
}

impl<S: Score, G: Topology> Ranking<'_, S, G> {
    /// Sweeps until an iteration of the formula would change the scores by less than `tolerance` in total, at
    /// most `iterations` times. Starts from `earlier` scores, by vertex, if there are any.
    pub(super) fn run_until(
        self,
        iterations: u32,
        tolerance: f64,
        earlier: &[f64],
    ) -> Result<Vec<S>, KernelError<G::Error>> {
        if iterations == 0 || self.g.edge_count() == 0 {
            return Ok(self.starts());
        }
        let (mut pace, cancel) = (Pace::new(self.damping), self.watch.cancel);
        let mut sweeps = Sweeps::new(self, earlier)?;
        for left in (0..iterations).rev() {
            let steps = pace.steps();
            let swept = sweeps.sweep(steps, tolerance)?;
            cancel.step(1);
            if swept.residual < tolerance {
                break;
            }
            // The scores that are returned always come from a sweep.
            if steps == Steps::Extrapolated && left > 0 {
                sweeps.extrapolate()?;
            }
            pace.advance(swept.change, steps);
        }
        Ok(sweeps.scores())
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, Steps};

    #[test]
    fn steps_are_extrapolated_where_changes_shrink_slowly_until_that_does_not_help() {
        let mut fast = Pace::new(0.85);
        let mut slow = Pace::new(0.85);
        let mut done = (Vec::new(), Vec::new());
        for sweep in 0..20 {
            let steps = fast.steps();
            done.0.push(steps);
            fast.advance(0.3f64.powi(sweep), steps);
            let steps = slow.steps();
            done.1.push(steps);
            // First a smaller change remains than after four iterations of the formula (0.52), then a larger
            // one.
            slow.advance(if sweep < 12 { 0.8f64.powi(sweep) } else { 0.1 }, steps);
        }
        assert!(done.0.iter().all(|&steps| steps == Steps::Left), "0.3 of the change left is little");
        let of =
            |steps| (1..).zip(&done.1).filter(|(_, s)| **s == steps).map(|(i, _)| i).collect::<Vec<u32>>();
        assert_eq!(of(Steps::Noted), [3, 7, 11, 15]);
        assert_eq!(of(Steps::Extrapolated), [4, 8, 12, 16], "for good");
    }
}
