//! The effort of an exploring test: a fixed number of rounds, or rounds for a given time with new seeds.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The rounds of an exploring test, given out by seed; several threads may take them.
///
/// `HEDGEROW_SEED` sets the first seed (default 1). With `HEDGEROW_DEEP_SECONDS` the rounds go on for that
/// time. `HEDGEROW_ROUND` replays the one round whose seed a failure named; floors are not reached then.
/// `HEDGEROW_SHARE` divides the number of rounds and the floors: for programs that run once more in another
/// way, in which each round takes longer.
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

    /// Returns the seed of the next round. While `wanted` is true, rounds go on after the last one: for
    /// floors that one round may miss.
    pub fn next_seed_while(&self, wanted: bool) -> Option<u64> {
        let n = self.taken.fetch_add(1, Ordering::Relaxed);
        if self.replay.is_some() {
            return self.replay.filter(|_| n == 0);
        }
        let more = n < self.rounds || wanted || self.until.is_some_and(|until| Instant::now() < until);
        // Far apart, so that runs with adjacent first seeds share no round.
        more.then(|| self.first.wrapping_mul(1_000_003).wrapping_add(n))
    }
}

/// Returns the divisor of the number of rounds, from `HEDGEROW_SHARE`, or 1. [`Effort`] and [`explored`]
/// apply it. Other callers divide work that is not done in rounds.
pub fn share() -> u64 {
    variable("HEDGEROW_SHARE").unwrap_or(1).max(1)
}

/// True in a deep run. If the cases of a test differ in little else than their kind, `make test` runs some of
/// them, and deep runs all.
pub fn is_deep() -> bool {
    variable("HEDGEROW_DEEP_SECONDS").is_some()
}

/// True if the switch of the tests is on that evicts clean data after commits. Stores without files keep
/// everything, so their tests are not repeated with it.
pub fn evicts() -> bool {
    variable("HEDGEROW_EVICT").is_some_and(|every| every > 0)
}

/// Prints an `explored:` line past the capture of the test harness.
///
/// # Panics
/// If `count` is below `floor`: a test that silently explores nothing must fail.
pub fn explored(what: &str, count: u64, floor: u64) {
    let floor = floor / share();
    // A closed standard output is no failure.
    let _ = writeln!(std::io::stdout(), "explored: {what} {count} (floor {floor})");
    assert!(is_enough(count, floor), "{what}: {count} explored, below the floor of {floor}");
}

/// Prints a `skipped:` line past the capture of the test harness: this machine cannot test `what`. `make
/// test` counts these lines, and fails for each in the continuous integration.
pub fn skipped(what: &str, reason: impl std::fmt::Display) {
    // A closed standard output is no failure.
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
