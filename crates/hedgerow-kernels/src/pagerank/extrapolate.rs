//! What steps of a vertex would still add (Aitken's rule).

use super::Score;

/// A step counts as at most this of the one before: what a sweep leaves of a difference of two vertices that have only each other, for
/// a damping of 0.85.
const MOST_RATIO: f64 = 0.72;

/// What steps would still add that shrink as these two did.
#[inline]
pub(super) fn still_to_come<S: Score>(now: f64, before: f64) -> S {
    let ratio = if before == 0.0 { 0.0 } else { (now / before).clamp(0.0, MOST_RATIO) };
    S::from_f64(now * ratio / (1.0 - ratio))
}
