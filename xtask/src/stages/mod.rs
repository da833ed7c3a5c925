//! The stages of `make test`: quick ones first, each timed, with the counts that they print checked against floors.

mod count;
mod ledger;
mod outcome;
pub(crate) mod python;
mod shell;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::metadata::{self, Workspace};
use crate::tidy;
use count::Explored;
use outcome::Outcome;
use shell::Step;

/// A stage of `make test`.
struct Stage {
    name: &'static str,
    run: fn(&Path, &Workspace) -> Outcome,
}

const STAGES: &[Stage] = &[
    Stage { name: "fmt", run: fmt },
    Stage { name: "tidy", run: tidy_stage },
    Stage { name: "clippy", run: clippy },
    Stage { name: "unit", run: unit },
    Stage { name: "doc", run: doc },
    Stage { name: "loom", run: loom },
    Stage { name: "shuttle", run: shuttle },
    Stage { name: "asan", run: asan },
    Stage { name: "python", run: python::test },
    Stage { name: "kill9", run: |root, workspace| exploring(root, workspace, "kill9") },
    Stage { name: "crash", run: |root, workspace| exploring(root, workspace, "crash") },
    Stage { name: "isolation", run: |root, workspace| exploring(root, workspace, "isolation") },
    Stage { name: "history", run: |root, workspace| exploring(root, workspace, "history") },
    Stage { name: "hostile", run: |root, workspace| exploring(root, workspace, "hostile") },
    Stage { name: "faults", run: faults },
    Stage { name: "background", run: |root, workspace| exploring(root, workspace, "background") },
    Stage { name: "endings", run: |root, workspace| exploring(root, workspace, "endings") },
    Stage { name: "soak", run: |root, workspace| exploring(root, workspace, "soak") },
    Stage { name: "system", run: |root, workspace| exploring(root, workspace, "system") },
];

/// Stages that explore for as long as they are given.
const DEEP_STAGES: &[&str] = &[
    "crash",
    "kill9",
    "loom",
    "shuttle",
    "asan",
    "unit",
    "faults",
    "isolation",
    "history",
    "hostile",
    "background",
    "endings",
    "soak",
    "system",
];

/// Stages that `make test` leaves out unless they are named: they take minutes.
const ONLY_DEEP: &[&str] = &["asan"];

/// Test targets that have a stage of their own; every other target belongs to `unit`.
const OWN_STAGE: &[&str] = &[
    "crash",
    "kill9",
    "loom",
    "shuttle",
    "faults",
    "isolation",
    "history",
    "hostile",
    "background",
    "endings",
    "soak",
    "system",
];

/// Fewest loom models that must have run.
const LOOM_MODELS_FLOOR: u64 = 45;

/// One build for all tests, with mistakes and failure points that some of them turn on. The Python package is built without.
const PLANTED_FAULTS: &str = "--features=hedgerow/planted-faults";

/// Runs the stages called `chosen` (all if none is) and stops at the first that fails.
pub(crate) fn run(root: &Path, chosen: &[&str]) -> Result<(), String> {
    if let Some(unknown) = chosen.iter().find(|name| STAGES.iter().all(|stage| stage.name != **name)) {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(format!("no stage is called `{unknown}`; the stages are {}", known.join(", ")));
    }
    summarise(&outcomes(root, chosen, &mut |_, _| Ok(()))?)
}

/// What the stages came to, up to the first that fails. `ended` is told of each.
fn outcomes(
    root: &Path,
    chosen: &[&str],
    ended: &mut dyn FnMut(&str, &Outcome) -> Result<(), String>,
) -> Result<Vec<(&'static str, Outcome)>, String> {
    let workspace = metadata::load(root)?;
    let mut done = Vec::new();
    let default = |stage: &&Stage| chosen.is_empty() && !ONLY_DEEP.contains(&stage.name);
    for stage in STAGES.iter().filter(|stage| default(stage) || chosen.contains(&stage.name)) {
        println!("\n== {}", stage.name);
        let outcome = (stage.run)(root, &workspace);
        let seconds = (outcome.build + outcome.run).as_secs_f64();
        println!("== {}: {} in {seconds:.1} s", stage.name, outcome.verdict());
        let failed = !outcome.failures.is_empty();
        ended(stage.name, &outcome)?;
        done.push((stage.name, outcome));
        if failed {
            break;
        }
    }
    Ok(done)
}

/// Runs one exploring stage, or each in turn, for as long as asked, with new seeds.
pub(crate) fn run_deep(root: &Path, options: &[&str]) -> Result<(), String> {
    let mut stage = None;
    let mut seconds = 600;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{option} needs a value"))?;
        match *option {
            "--stage" => stage = Some(*value),
            "--seconds" => {
                seconds = value.parse().map_err(|_| format!("--seconds {value}: not a whole number"))?
            }
            _ => return Err(format!("unknown option {option}; there are --stage and --seconds")),
        }
    }
    if let Some(name) = stage.filter(|name| !DEEP_STAGES.contains(name)) {
        return Err(format!("`{name}` is no exploring stage; those are {}", DEEP_STAGES.join(", ")));
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = ledger::unused_seed(&ledger::read(root)?, now.map_or(1, |since| since.as_secs()));
    shell::set_deep(seconds, seed);
    let one = stage.map(|name| [name]);
    let chosen = one.as_ref().map_or(DEEP_STAGES, |one| one.as_slice());
    let done = outcomes(root, chosen, &mut |stage, outcome| ledger::append(root, stage, seed, outcome))?;
    ledger::print_totals(root)?;
    summarise(&done)
}

fn summarise(done: &[(&str, Outcome)]) -> Result<(), String> {
    println!("\n{:<8} {:>9} {:>9} {:>7}  result", "stage", "build s", "run s", "tests");
    let mut total = Outcome::default();
    for (name, outcome) in done {
        let (build, run) = (outcome.build.as_secs_f64(), outcome.run.as_secs_f64());
        let tests = outcome.counts.passed + outcome.counts.failed;
        println!("{name:<8} {build:>9.1} {run:>9.1} {tests:>7}  {}", outcome.verdict());
        total.build += outcome.build;
        total.run += outcome.run;
        total.counts.add(outcome.counts.clone());
        total.failures.extend(outcome.failures.iter().map(|failure| format!("{name}: {failure}")));
    }
    for explored in &total.counts.explored {
        println!("{explored}");
    }
    let minutes = |duration: Duration| duration.as_secs_f64() / 60.0;
    println!("build {:.1} min, tests {:.1} min", minutes(total.build), minutes(total.run));
    for failure in &total.failures {
        println!("FAILED: {failure}");
    }
    let failed = total.counts.failed.max(u64::from(!total.failures.is_empty()));
    println!("{} passed, {failed} failed", total.counts.passed);
    if total.failures.is_empty() { Ok(()) } else { Err("not every stage passed".to_owned()) }
}

fn fmt(root: &Path, _: &Workspace) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.step(&Step::cargo(root, &["fmt", "--all", "--check"]).advice("run `cargo fmt --all`"));
    outcome
}

fn tidy_stage(root: &Path, _: &Workspace) -> Outcome {
    let started = Instant::now();
    let failures = tidy::run(root).err().into_iter().collect();
    Outcome { run: started.elapsed(), failures, ..Outcome::default() }
}

fn clippy(root: &Path, _: &Workspace) -> Outcome {
    let mut outcome = Outcome::default();
    let arguments = ["clippy", "--locked", PLANTED_FAULTS, "--all-targets", "--", "-D", "warnings"];
    outcome.step(&Step::cargo(root, &arguments).build_only());
    outcome
}

/// Unit tests, examples and every integration target without a stage of its own.
fn unit(root: &Path, workspace: &Workspace) -> Outcome {
    let mut arguments = vec!["test", "--locked", PLANTED_FAULTS, "--lib", "--bins"];
    for target in workspace.test_targets() {
        if !OWN_STAGE.contains(&target) {
            arguments.extend(["--test", target]);
        }
    }
    let mut outcome = Outcome::default();
    outcome.step(&Step::cargo(root, &arguments).built_first());
    run_examples(root, workspace, &mut outcome);
    outcome.check_floors();
    outcome
}

/// Runs the programs in `examples/`, which users copy. Each may write to the path that it is given.
fn run_examples(root: &Path, workspace: &Workspace, outcome: &mut Outcome) {
    outcome.step(&Step::cargo(root, &["build", "--locked", PLANTED_FAULTS, "--examples"]).build_only());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let built = target.join("debug/examples");
    let scratch = std::env::temp_dir().join(format!("hedgerow-example-{}", std::process::id()));
    for name in workspace.examples() {
        outcome.step(&Step::new(built.join(name), root, &[&scratch.to_string_lossy()]));
        // Not every program writes there.
        let _ = std::fs::remove_dir_all(&scratch);
    }
}

fn doc(root: &Path, _: &Workspace) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.step(&Step::cargo(root, &["test", "--locked", PLANTED_FAULTS, "--doc"]));
    outcome
}

/// The model-checked protocols.
fn loom(root: &Path, workspace: &Workspace) -> Outcome {
    // Exhaustive up to three preemptions, unless a caller asks for another bound.
    let bounded = |step: Step| step.env_unless_set("LOOM_MAX_PREEMPTIONS", "3");
    let features = "--features=hedgerow-mem/loom,hedgerow-txn/loom";
    let mut outcome = own_target(root, workspace, "loom", features, bounded);
    let models = outcome.counts.passed;
    if outcome.failures.is_empty() && outcome.absent.is_none() {
        let floor = LOOM_MODELS_FLOOR;
        outcome.counts.explored.push(Explored { what: "loom models".to_owned(), count: models, floor });
    }
    outcome.check_floors();
    outcome
}

/// Whole transactions under a controlled scheduler.
fn shuttle(root: &Path, workspace: &Workspace) -> Outcome {
    let features = "--features=hedgerow/planted-faults,hedgerow/shuttle";
    let mut outcome = own_target(root, workspace, "shuttle", features, |step| step);
    outcome.require_explored();
    outcome
}

/// The modules with `unsafe` code under AddressSanitizer, with blocks from the global allocator, which it watches. The
/// option of the compiler is one that is not stable yet, and needs a target to be named.
fn asan(root: &Path, _: &Workspace) -> Outcome {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        let reason = format!("AddressSanitizer is run on {TARGET} only");
        return Outcome { absent: Some(reason), ..Outcome::default() };
    }
    let arguments =
        ["test", "--locked", "--target", TARGET, "-p", "hedgerow-mem", "--features=plain-blocks", "--lib"];
    let mut outcome = Outcome::default();
    let step = Step::cargo(root, &arguments)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", "target/asan")
        .built_first();
    outcome.step(&step);
    outcome
}

/// Each planted fault is found by the tests that claim to find its kind.
fn faults(root: &Path, workspace: &Workspace) -> Outcome {
    own_target(root, workspace, "faults", PLANTED_FAULTS, |step| step)
}

/// A test target that must say what it explored. In the deep form each of its exploring tests takes the time given.
fn exploring(root: &Path, workspace: &Workspace, target: &str) -> Outcome {
    let mut outcome = own_target(root, workspace, target, PLANTED_FAULTS, |step| step);
    outcome.require_explored();
    outcome
}

/// Runs the test target `target` wherever a crate has it, with its output shown. All of the workspace's packages are selected,
/// as in the stage `unit`: another selection would turn other features of libraries on, and build them anew.
fn own_target(
    root: &Path,
    workspace: &Workspace,
    target: &str,
    features: &str,
    prepare: impl Fn(Step) -> Step,
) -> Outcome {
    let mut outcome = Outcome::default();
    if workspace.packages_with_test(target).next().is_none() {
        outcome.failures.push(format!("no crate has a test target `{target}`"));
        return outcome;
    }
    let arguments = ["test", "--locked", features, "--test", target, "--", "--nocapture"];
    outcome.step(&prepare(Step::cargo(root, &arguments).built_first()));
    outcome.check_floors();
    outcome
}
