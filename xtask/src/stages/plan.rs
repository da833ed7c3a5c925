//! What a stage does: first what it builds, which may go on beside the tests of other stages, then what it runs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::outcome::Outcome;
use super::shell::{Output, Step, TestProgram};

/// A part of a stage.
pub(super) enum Task {
    /// A command.
    Step(Step),
    /// Each test program that the stage has built, with the arguments and variables of the step.
    TestPrograms(Step),
    /// Work of this program.
    Call(Box<dyn FnOnce() -> Result<(), String> + Send>),
}

/// What a stage does.
#[derive(Default)]
pub(super) struct Plan {
    builds: Vec<Task>,
    runs: Vec<Task>,
    judge: Option<fn(&mut Outcome)>,
    /// What was found out so far: why there is nothing to do, or why the stage cannot begin.
    outcome: Outcome,
    programs: Vec<TestProgram>,
}

impl Plan {
    pub(super) fn absent(reason: String) -> Plan {
        Plan { outcome: Outcome { absent: Some(reason), ..Outcome::default() }, ..Plan::default() }
    }

    pub(super) fn failed(reason: String) -> Plan {
        Plan { outcome: Outcome { failures: vec![reason], ..Outcome::default() }, ..Plan::default() }
    }

    /// A command that builds.
    pub(super) fn build(mut self, step: Step) -> Plan {
        self.builds.push(Task::Step(step));
        self
    }

    /// Work of this program that belongs to building.
    pub(super) fn prepare(mut self, work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Plan {
        self.builds.push(Task::Call(Box::new(work)));
        self
    }

    pub(super) fn run(mut self, step: Step) -> Plan {
        self.runs.push(Task::Step(step));
        self
    }

    pub(super) fn call(mut self, work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Plan {
        self.runs.push(Task::Call(Box::new(work)));
        self
    }

    /// `cargo test`, of which this is the step: its programs are built, and then run one after another. Cargo itself would
    /// wait, before it runs anything, for all that another cargo builds in the same folder.
    pub(super) fn test(mut self, step: Step) -> Plan {
        let (build, run) = step.built_and_run();
        self.builds.push(Task::Step(build));
        self.runs.push(Task::TestPrograms(run));
        self
    }

    /// What the counts have to be, besides at their floors.
    pub(super) fn judged_by(mut self, judge: fn(&mut Outcome)) -> Plan {
        self.judge = Some(judge);
        self
    }

    /// Builds.
    pub(super) fn built(mut self, output: Output<'_>) -> Plan {
        let started = Instant::now();
        for task in std::mem::take(&mut self.builds) {
            self.perform(task, output);
        }
        self.outcome.build = started.elapsed();
        self
    }

    /// Whether building failed, or has nothing to do.
    pub(super) fn has_failed(&self) -> bool {
        !self.outcome.failures.is_empty()
    }

    /// Runs what was [built](Self::built), and judges it.
    pub(super) fn outcome(mut self) -> Outcome {
        let started = Instant::now();
        for task in std::mem::take(&mut self.runs) {
            self.perform(task, Output::AsItComes);
        }
        self.outcome.run = started.elapsed();
        if let Some(judge) = self.judge.filter(|_| !self.has_failed() && self.outcome.absent.is_none()) {
            judge(&mut self.outcome);
        }
        self.outcome.check_floors();
        self.outcome
    }

    /// Does a part of the stage, unless one before failed.
    fn perform(&mut self, task: Task, output: Output<'_>) {
        if self.has_failed() {
            return;
        }
        let done = match task {
            Task::Call(work) => work(),
            Task::Step(step) => self.execute(&step, output),
            Task::TestPrograms(_) if self.programs.is_empty() => Err("there is no test program".to_owned()),
            Task::TestPrograms(step) => {
                let steps: Vec<Step> = self.programs.iter().map(|program| step.of(program)).collect();
                steps.iter().try_for_each(|step| self.execute(step, output))
            }
        };
        self.outcome.failures.extend(done.err());
    }

    fn execute(&mut self, step: &Step, output: Output<'_>) -> Result<(), String> {
        let ended = step.execute(output)?;
        self.outcome.counts.add(ended.counts);
        self.programs.extend(ended.programs);
        Ok(())
    }
}

/// Where cargo puts what it builds.
pub(super) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
