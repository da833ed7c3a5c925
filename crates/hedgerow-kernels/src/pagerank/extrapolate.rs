//! The rest of a series of steps of a vertex (Aitken's rule).

use super::Score;

/// The greatest ratio of a step to the step before; larger ratios count as this one. It suits two vertices
/// with no other neighbours: at a damping of 0.85, a sweep leaves this share of their difference.
const MOST_RATIO: f64 = 0.72;

/// Returns the sum of the steps to come, if they shrink like these two did.
#[inline]
pub(super) fn still_to_come<S: Score>(now: f64, before: f64) -> S {
    let ratio = if before == 0.0 { 0.0 } else { (now / before).clamp(0.0, MOST_RATIO) };
    S::from_f64(now * ratio / (1.0 - ratio))
}
