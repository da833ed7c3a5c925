//! What one stage of `make test` took and found.

use std::time::Duration;

use super::count::Counts;

/// What a part of a stage took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) wall: Duration,
    /// Of all processors, by the child processes.
    pub(super) processor: Duration,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, other: Taken) {
        self.wall += other.wall;
        self.processor += other.processor;
    }
}

/// What one stage took and found.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) build: Taken,
    pub(super) run: Taken,
    pub(super) counts: Counts,
    /// Why the stage failed; empty if it passed.
    pub(super) failures: Vec<String>,
    /// Why there was nothing to do.
    pub(super) absent: Option<String>,
}

impl Outcome {
    pub(super) fn verdict(&self) -> String {
        match (&self.absent, self.failures.is_empty()) {
            (Some(reason), true) => format!("nothing to do ({reason})"),
            (None, true) => "passed".to_owned(),
            _ => format!("FAILED: {}", self.failures.join("; ")),
        }
    }

    /// Fails the stage if something was explored less than its floor asks.
    pub(super) fn check_floors(&mut self) {
        for explored in self.counts.explored.iter().filter(|e| e.count < e.floor) {
            self.failures.push(format!("{explored}: below the floor"));
        }
    }

    /// Fails the stage if it explored nothing: a stage that silently does nothing must be red.
    pub(super) fn require_explored(&mut self) {
        if self.failures.is_empty() && self.counts.explored.is_empty() {
            self.failures.push("the stage printed no `explored:` line".to_owned());
        }
    }
}
