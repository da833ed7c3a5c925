//! The rest of a series of steps of a vertex (Aitken's rule).

use super::Score;

/// The greatest ratio of a step to the one before that counts: for a damping of 0.85, the share that a sweep
/// leaves of a difference of two vertices that have only each other.
const MOST_RATIO: f64 = 0.72;

/// Returns the sum of the steps to come, if they shrink like these two did.
#[inline]
pub(super) fn still_to_come<S: Score>(now: f64, before: f64) -> S {
    let ratio = if before == 0.0 { 0.0 } else { (now / before).clamp(0.0, MOST_RATIO) };
    S::from_f64(now * ratio / (1.0 - ratio))
}
