//! The effort of an exploring test: a fixed number of rounds, or rounds with new seeds for a given time.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The rounds of an exploring test. It provides a seed for each round; several threads may take rounds.
///
/// `HEDGEROW_SEED` sets the first seed (default 1). With `HEDGEROW_DEEP_SECONDS` the rounds continue for that
/// time. `HEDGEROW_ROUND` replays one round, whose seed a failure named; the test then misses its floors.
/// `HEDGEROW_SHARE` divides the number of rounds and the floors. It is for programs that run again in another
/// mode, in which each round takes longer.
#[derive(Debug)]
pub struct Effort {
    first: u64,
    rounds: u64,
    taken: AtomicU64,
    until: Option<Instant>,
    replay: Option<u64>,
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.trim().parse().ok()
}

impl Effort {
    /// Makes at least `rounds` rounds, or their [`share`].
    pub fn rounds(rounds: u64) -> Effort {
        let until = variable("HEDGEROW_DEEP_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
        let (first, replay) = (variable("HEDGEROW_SEED").unwrap_or(1), variable("HEDGEROW_ROUND"));
        let rounds = rounds.div_ceil(share());
        Effort { first, rounds, taken: AtomicU64::new(0), until, replay }
    }

    /// Returns the seed of the next round, or `None` at the end.
    pub fn next_seed(&self) -> Option<u64> {
        self.next_seed_while(false)
    }

    /// Returns the seed of the next round. While `wanted` is true, rounds continue after the last one, for
    /// floors that one round may miss.
    pub fn next_seed_while(&self, wanted: bool) -> Option<u64> {
        let n = self.taken.fetch_add(1, Ordering::Relaxed);
        if self.replay.is_some() {
            return self.replay.filter(|_| n == 0);
        }
        let more = n < self.rounds || wanted || self.until.is_some_and(|until| Instant::now() < until);
        // The factor keeps the seeds of adjacent first seeds apart, so that the runs share no round.
        more.then(|| self.first.wrapping_mul(1_000_003).wrapping_add(n))
    }
}

/// Returns the divisor of the number of rounds: the value of `HEDGEROW_SHARE`, or 1. [`Effort`] and
/// [`explored`] apply it. Other callers divide work that has no rounds.
pub fn share() -> u64 {
    variable("HEDGEROW_SHARE").unwrap_or(1).max(1)
}

/// True in a deep run. If the cases of a test differ little except in their kind, `make test` runs some of
/// them. Deep runs include all of them.
pub fn is_deep() -> bool {
    variable("HEDGEROW_DEEP_SECONDS").is_some()
}

/// True if the tests evict clean data after commits. Stores without files evict nothing, so their tests do
/// not run again with this switch.
pub fn evicts() -> bool {
    variable("HEDGEROW_EVICT").is_some_and(|every| every > 0)
}

/// Prints an `explored:` line directly to the standard output, which the test harness does not capture.
///
/// # Panics
/// If `count` is below `floor`. A test that explores nothing must not pass.
pub fn explored(what: &str, count: u64, floor: u64) {
    let floor = floor / share();
    // A closed standard output is not a failure.
    let _ = writeln!(std::io::stdout(), "explored: {what} {count} (floor {floor})");
    assert!(is_enough(count, floor), "{what}: {count} explored, below the floor of {floor}");
}

/// Prints a `skipped:` line in the same way: this machine cannot test `what`. `make test` counts these lines.
/// In continuous integration it fails for each line.
pub fn skipped(what: &str, reason: impl std::fmt::Display) {
    // A closed standard output is not a failure.
    let _ = writeln!(std::io::stdout(), "skipped: {what} ({reason})");
}

fn is_enough(count: u64, floor: u64) -> bool {
    count >= floor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_and_floors_are_inclusive() {
        let effort = Effort { first: 1, rounds: 3, taken: AtomicU64::new(0), until: None, replay: None };
        assert_eq!(std::iter::from_fn(|| effort.next_seed()).count(), 3);
        assert!(effort.next_seed_while(true).is_some() && effort.next_seed_while(false).is_none());
        assert!(is_enough(2, 2) && !is_enough(1, 2));
    }
}
