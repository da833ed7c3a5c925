//! The result of one stage of `make test`.

use std::time::Duration;

use super::count::Counts;

/// The time that a part of a stage took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) wall: Duration,
    /// The processor time of the child processes.
    pub(super) processor: Duration,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, other: Taken) {
        self.wall += other.wall;
        self.processor += other.processor;
    }
}

/// A failure, and the command that repeats it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) what: String,
    /// The shell command that repeats the failure, from the root of the repository. It is empty if only a run
    /// of the whole stage repeats the failure.
    pub(super) repeat: String,
}

impl Failure {
    /// Returns a failure that only a run of the whole stage repeats.
    pub(super) fn of_stage(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), repeat: String::new() }
    }

    /// Returns the command that repeats a failure of the stage `stage`.
    pub(super) fn command(&self, stage: &str) -> String {
        if self.repeat.is_empty() { format!("make test STAGE={stage}") } else { self.repeat.clone() }
    }
}

/// The result of one stage.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) build: Taken,
    pub(super) run: Taken,
    pub(super) counts: Counts,
    /// The failures. There are none if the stage passed.
    pub(super) failures: Vec<Failure>,
    /// The reason why the machine cannot run the stage.
    pub(super) absent: Option<String>,
}

impl Outcome {
    /// Returns the verdict that the summary shows for the stage.
    pub(super) fn verdict(&self) -> String {
        match (&self.absent, self.failures.len()) {
            (Some(reason), 0) => format!("SKIPPED ({reason})"),
            (None, 0) if self.counts.skipped.is_empty() => "passed".to_owned(),
            (None, 0) => format!("passed, {} SKIPPED", self.counts.skipped.len()),
            (_, 1) => format!("FAILED: {}", self.failures[0].what),
            (_, count) => format!("FAILED {count} times, first: {}", self.failures[0].what),
        }
    }

    /// Adds a failure for each count below its floor.
    pub(super) fn check_floors(&mut self) {
        for explored in self.counts.explored.iter().filter(|e| e.count < e.floor) {
            self.failures.push(Failure::of_stage(format!("{explored}: below the floor")));
        }
    }

    /// Adds a failure if the stage explored nothing, so that a stage cannot pass without work.
    pub(super) fn require_explored(&mut self) {
        if self.failures.is_empty() && self.counts.explored.is_empty() {
            self.failures.push(Failure::of_stage("the stage printed no `explored:` line"));
        }
    }
}
