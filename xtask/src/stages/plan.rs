//! The plan of a stage: its builds, which may run during the tests of other stages, and then its runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::outcome::{Failure, Outcome, Taken};
use super::shell::{Ended, Output, Step, TestProgram};

/// The number of test programs of a stage that run at once. A single program leaves processors idle while a
/// test waits, and during its last test. The tests of one program use all processors, so more than two
/// programs would compete.
const PROGRAMS_AT_ONCE: usize = 2;

/// A part of a stage.
pub(super) enum Task {
    /// A command.
    Step(Step),
    /// Each test program that the stage has built, with the arguments and variables of the step.
    TestPrograms(Step),
    /// A function of this program.
    Call(Box<dyn FnOnce() -> Result<(), Failure> + Send>),
}

/// The plan of a stage.
#[derive(Default)]
pub(super) struct Plan {
    builds: Vec<Task>,
    runs: Vec<Task>,
    judge: Option<fn(&mut Outcome)>,
    /// The outcome so far. It may already have the reason why the stage is skipped or cannot begin.
    outcome: Outcome,
    programs: Vec<TestProgram>,
    /// The processor time of the steps since the begin of the current part of the stage.
    processor: Duration,
}

impl Plan {
    pub(super) fn absent(reason: String) -> Plan {
        Plan { outcome: Outcome { absent: Some(reason), ..Outcome::default() }, ..Plan::default() }
    }

    pub(super) fn failed(reason: String) -> Plan {
        Plan {
            outcome: Outcome { failures: vec![Failure::of_stage(reason)], ..Outcome::default() },
            ..Plan::default()
        }
    }

    /// Adds a command that builds.
    pub(super) fn build(mut self, step: Step) -> Plan {
        self.builds.push(Task::Step(step));
        self
    }

    /// Adds a function of this program that belongs to the build.
    pub(super) fn prepare(mut self, work: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Plan {
        self.builds.push(Task::Call(Box::new(work)));
        self
    }

    pub(super) fn run(mut self, step: Step) -> Plan {
        self.runs.push(Task::Step(step));
        self
    }

    pub(super) fn call(mut self, work: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Plan {
        self.runs.push(Task::Call(Box::new(work)));
        self
    }

    /// Adds `cargo test`, whose command is `step`. Its test programs are built, and then [some of them run at
    /// once](PROGRAMS_AT_ONCE). This avoids `cargo test` for the run: it would wait for every other cargo
    /// that builds in the same folder.
    pub(super) fn test(mut self, step: Step) -> Plan {
        let (build, run) = step.built_and_run();
        self.builds.push(Task::Step(build));
        self.runs.push(Task::TestPrograms(run));
        self
    }

    /// Sets a function that judges the counts, in addition to their floors.
    pub(super) fn judged_by(mut self, judge: fn(&mut Outcome)) -> Plan {
        self.judge = Some(judge);
        self
    }

    /// Runs the builds until one fails, because a later build needs the earlier ones.
    pub(super) fn built(mut self, output: Output<'_>) -> Plan {
        let started = Instant::now();
        for task in std::mem::take(&mut self.builds) {
            if !self.has_failed() {
                self.perform(task, output);
            }
        }
        self.outcome.build = self.taken_since(started);
        self
    }

    /// True if a build failed.
    pub(super) fn has_failed(&self) -> bool {
        !self.outcome.failures.is_empty()
    }

    /// Runs all parts that were [built](Self::built), even after failures, and judges the outcome.
    pub(super) fn outcome(mut self, output: Output<'_>) -> Outcome {
        let started = Instant::now();
        if !self.has_failed() {
            for task in std::mem::take(&mut self.runs) {
                self.perform(task, output);
            }
        }
        self.outcome.run = self.taken_since(started);
        if let Some(judge) = self.judge.filter(|_| !self.has_failed() && self.outcome.absent.is_none()) {
            judge(&mut self.outcome);
        }
        self.outcome.check_floors();
        self.outcome
    }

    /// Returns the time of the part of the stage from `started` until now.
    fn taken_since(&mut self, started: Instant) -> Taken {
        Taken { wall: started.elapsed(), processor: std::mem::take(&mut self.processor) }
    }

    fn perform(&mut self, task: Task, output: Output<'_>) {
        match task {
            Task::Call(work) => self.outcome.failures.extend(work().err()),
            Task::Step(step) => self.count(step.execute(output)),
            Task::TestPrograms(_) if self.programs.is_empty() => {
                self.outcome.failures.push(Failure::of_stage("there is no test program"));
            }
            Task::TestPrograms(step) => self.run_programs(&step, output),
        }
    }

    /// Runs the test programs with the settings of `step`. A single program writes its output directly to
    /// `output`. With several programs, the output of each is shown when it ends.
    fn run_programs(&mut self, step: &Step, output: Output<'_>) {
        // The largest program has the most tests. It runs first, so that it does not end last.
        self.programs.sort_by_key(|program| std::cmp::Reverse(program.size()));
        let steps: Vec<Step> = self.programs.iter().map(|program| step.of(program)).collect();
        match steps.as_slice() {
            [step] => self.count(step.execute(output)),
            steps => some_at_once(steps, output).into_iter().for_each(|ended| self.count(ended)),
        }
    }

    fn count(&mut self, ended: Ended) {
        self.outcome.counts.add(ended.counts);
        self.programs.extend(ended.programs);
        self.processor += ended.processor;
        self.outcome.failures.extend(ended.failure);
    }
}

/// Runs all `steps`, [some at once](PROGRAMS_AT_ONCE). After `output` requests a stop, no further step
/// begins.
fn some_at_once(steps: &[Step], output: Output<'_>) -> Vec<Ended> {
    let never = AtomicBool::new(false);
    let stop = match output {
        Output::AsItComes => &never,
        Output::Together(stop) => stop,
    };
    let waiting = Mutex::new(steps.iter());
    let run_those_that_wait = || {
        let mut all = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(step) = next else { break };
            all.push(step.execute(Output::Together(stop)));
        }
        all
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PROGRAMS_AT_ONCE).map(|_| scope.spawn(run_those_that_wait)).collect();
        let ended = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            let panicked = || Failure::of_stage("a thread that runs test programs panicked");
            worker.join().unwrap_or_else(|_| vec![Ended { failure: Some(panicked()), ..Ended::default() }])
        };
        workers.into_iter().flat_map(ended).collect()
    })
}

/// Returns the folder of cargo's builds.
pub(super) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
