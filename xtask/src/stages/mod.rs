//! The stages of `make test`, each timed. A stage fails if a printed count is below its floor. All stages
//! run, even if one fails. One thread builds the stages in order, while other threads run the built ones. So
//! a processor that would wait for tests compiles or runs other tests.

mod count;
mod crates;
pub(crate) mod dist;
mod docs;
mod elsewhere;
mod evicted;
mod lab;
mod ledger;
mod outcome;
mod plan;
mod platforms;
mod processor;
pub(crate) mod python;
mod shell;
mod summary;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;

use crate::metadata::{self, Workspace};
use crate::tidy;
use count::Explored;
use outcome::{Failure, Outcome};
use plan::Plan;
use shell::{Output, Step};

/// A stage of `make test`.
struct Stage {
    name: &'static str,
    plan: fn(&Path, &Workspace) -> Plan,
}

/// The stages, in the order of their builds and runs. Checks of form are first, because they need no built
/// test. Pip downloads Python's packages while clippy works. Python's tests often wait, and the builder makes
/// later stages meanwhile. Long stages are before the last builds, and short stages are last.
const STAGES: &[Stage] = &[
    Stage { name: "fmt", plan: fmt },
    Stage { name: "tidy", plan: tidy_stage },
    Stage { name: "venv", plan: python::packages },
    Stage { name: "clippy", plan: clippy },
    Stage { name: "python", plan: |root, _| python::test(root, PLANTED_FAULTS) },
    Stage { name: "docs", plan: |root, _| docs::plan(root) },
    Stage { name: "kill9", plan: |root, workspace| exploring(root, workspace, "kill9") },
    Stage { name: "crash", plan: |root, workspace| exploring(root, workspace, "crash") },
    Stage { name: "isolation", plan: |root, workspace| exploring(root, workspace, "isolation") },
    Stage { name: "evicted", plan: |root, _| evicted::plan(root, PLANTED_FAULTS) },
    Stage { name: "history", plan: |root, workspace| exploring(root, workspace, "history") },
    Stage { name: "hostile", plan: |root, workspace| exploring(root, workspace, "hostile") },
    Stage { name: "faults", plan: faults },
    Stage { name: "background", plan: |root, workspace| exploring(root, workspace, "background") },
    Stage { name: "endings", plan: |root, workspace| exploring(root, workspace, "endings") },
    Stage { name: "soak", plan: |root, workspace| exploring(root, workspace, "soak") },
    Stage { name: "system", plan: |root, workspace| exploring(root, workspace, "system") },
    Stage { name: "unit", plan: unit },
    Stage { name: "doc", plan: doc },
    Stage { name: "shuttle", plan: shuttle },
    Stage { name: "loom", plan: loom },
    Stage { name: "asan", plan: asan },
    Stage { name: "elsewhere", plan: |root, _| elsewhere::plan(root) },
    Stage { name: "platforms", plan: |root, _| platforms::plan(root) },
    Stage { name: "package", plan: |root, workspace| crates::plan(root, workspace, true) },
    Stage { name: "lab-check", plan: |root, _| lab::check(root) },
    Stage { name: "lab", plan: |root, _| lab::test(root) },
    Stage { name: "rivals", plan: |root, _| lab::rivals(root) },
];

/// The number of stages that run at once in `make test`. Several stages mostly wait for disks or for other
/// processes, and some have only one thread.
const STAGES_AT_ONCE: usize = 2;

/// The stages that can explore for a given time.
const DEEP_STAGES: &[&str] = &[
    "python",
    "crash",
    "evicted",
    "kill9",
    "loom",
    "shuttle",
    "asan",
    "platforms",
    "elsewhere",
    "package",
    "lab",
    "rivals",
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

/// The stages that `make test` runs only by name, because they take minutes or are not part of the product.
const ONLY_NAMED: &[&str] = &["asan", "platforms", "elsewhere", "package", "lab-check", "lab", "rivals"];

/// The test targets with a stage of their own. Every other target belongs to `unit`.
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

/// The minimum number of loom models that must run.
const LOOM_MODELS_FLOOR: u64 = 50;

/// The features of all test builds: planted faults and failure points, which some tests turn on.
const PLANTED_FAULTS: &str = "--features=hedgerow/planted-faults,hedgerow/kernels";

/// The name of a variable. If it is 1, as in continuous integration, each test or stage that the machine
/// cannot run is a failure.
const NO_SKIPS: &str = "HEDGEROW_NO_SKIPS";

/// Runs the stages named `chosen`, or all stages. With `--fail-fast` among the words, stops after the first
/// failure.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let (options, chosen): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| **option != FAIL_FAST) {
        return Err(format!("unknown option {unknown}; there is {FAIL_FAST}"));
    }
    if let Some(unknown) = chosen.iter().find(|name| STAGES.iter().all(|stage| stage.name != **name)) {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(format!("no stage is called `{unknown}`; the stages are {}", known.join(", ")));
    }
    let started = Instant::now();
    let done = outcomes(root, &chosen, !options.is_empty(), &mut |_, _| Ok(()))?;
    println!("\nall stages: {:.1} min", started.elapsed().as_secs_f64() / 60.0);
    summary::print(&done)
}

const FAIL_FAST: &str = "--fail-fast";

/// Returns the outcomes of the stages named `chosen`, or of all stages. Calls `ended` with each.
fn outcomes(
    root: &Path,
    chosen: &[&str],
    fail_fast: bool,
    ended: Ended<'_>,
) -> Result<Vec<(&'static str, Outcome)>, String> {
    let workspace = metadata::load(root)?;
    let default = |stage: &&Stage| chosen.is_empty() && !ONLY_NAMED.contains(&stage.name);
    let stages: Vec<&Stage> =
        STAGES.iter().filter(|stage| default(stage) || chosen.contains(&stage.name)).collect();
    let at_once = if stages.len() == 1 || shell::is_deep() { 1 } else { STAGES_AT_ONCE };
    perform(root, &workspace, &stages, &Way { at_once, fail_fast }, ended)
}

/// A function that the runner calls with each finished stage.
type Ended<'a> = &'a mut (dyn FnMut(&str, &Outcome) -> Result<(), String> + Send);

/// The options of a run.
struct Way {
    at_once: usize,
    /// True if the first failure stops all stages.
    fail_fast: bool,
}

/// The finished stages.
struct Done<'a> {
    outcomes: Vec<(&'static str, Outcome)>,
    /// The result of the last call of `ended`.
    result: Result<(), String>,
    ended: Ended<'a>,
}

/// Runs `stages`: one thread builds them in order, and other threads run the built ones.
fn perform(
    root: &Path,
    workspace: &Workspace,
    stages: &[&Stage],
    way: &Way,
    ended: Ended<'_>,
) -> Result<Vec<(&'static str, Outcome)>, String> {
    let stop = AtomicBool::new(false);
    let stopped = || stop.load(Ordering::Relaxed);
    let output = if stages.len() == 1 { Output::AsItComes } else { Output::Together(&stop) };
    let (to, built) = mpsc::channel();
    let (built, done) = (Mutex::new(built), Mutex::new(Done { outcomes: Vec::new(), result: Ok(()), ended }));
    let build = move || {
        for stage in stages {
            let plan = (stage.plan)(root, workspace).built(output);
            if stopped() || to.send((stage.name, plan)).is_err() {
                break;
            }
        }
    };
    let next = || locked(&built).recv().ok().filter(|_| !stopped());
    let run_built_stages = || {
        while let Some((name, plan)) = next() {
            println!("\n== {name}");
            let mut outcome = plan.outcome(if way.at_once == 1 { Output::AsItComes } else { output });
            let mut done = locked(&done);
            // If another stage has failed, the runner may have killed the commands of this stage.
            if stopped() {
                break;
            }
            if std::env::var_os(NO_SKIPS).is_some_and(|value| value == "1") {
                refuse_skips(&mut outcome);
            }
            let seconds = (outcome.build.wall + outcome.run.wall).as_secs_f64();
            println!("== {name}: {} in {seconds:.1} s", outcome.verdict());
            let failed = !outcome.failures.is_empty() && way.fail_fast;
            done.result = (done.ended)(name, &outcome);
            stop.store(failed || done.result.is_err(), Ordering::Relaxed);
            done.outcomes.push((name, outcome));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(build);
        (0..way.at_once).for_each(|_| _ = scope.spawn(run_built_stages));
    });
    let Done { outcomes, result, .. } = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    result.map(|()| outcomes)
}

/// Adds a failure if the machine cannot run the stage, or a test of it.
fn refuse_skips(outcome: &mut Outcome) {
    let skipped = outcome.counts.skipped.iter().chain(&outcome.absent);
    let refused = |skipped| Failure::of_stage(format!("skipped, which {NO_SKIPS}=1 forbids: {skipped}"));
    outcome.failures.extend(skipped.map(refused));
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one exploring stage, or each of them in turn, for a given time, with new seeds.
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
    let done =
        outcomes(root, chosen, false, &mut |stage, outcome| ledger::append(root, stage, seed, outcome))?;
    ledger::print_totals(root)?;
    summary::print(&done)
}

fn fmt(root: &Path, _: &Workspace) -> Plan {
    let check = |arguments: &[&str], advice: &str| Step::cargo(root, arguments).advice(advice);
    Plan::default().run(check(&["fmt", "--all", "--check"], "run `cargo fmt --all`")).run(check(
        &["fmt", "--manifest-path", lab::MANIFEST, "--all", "--check"],
        "run `cargo fmt --all` in `lab`",
    ))
}

fn tidy_stage(root: &Path, _: &Workspace) -> Plan {
    let root = root.to_path_buf();
    let tests = Step::cargo(&root, &["test", "--locked", "-p", "xtask"]);
    Plan::default().test(tests).call(move || tidy::run(&root).map_err(Failure::of_stage))
}

fn clippy(root: &Path, _: &Workspace) -> Plan {
    // The Python crate is also checked in its released form, without a Python library to link to.
    let features =
        format!("{PLANTED_FAULTS},hedgerow-python/extension-module,hedgerow-python/planted-faults");
    let arguments = ["clippy", "--locked", "--workspace", &features, "--all-targets"];
    let arguments = [&arguments[..], &["--", "-D", "warnings"]].concat();
    // All tests are built with planted faults. Only this step checks that the programs compile without them,
    // as in a release.
    let shipped = ["clippy", "--locked", "-p", "hedgerow-cli", "-p", "hedgerow-python"];
    let with = ["--features=hedgerow-python/extension-module", "--", "-D", "warnings"];
    let shipped = [&shipped[..], &with].concat();
    let step = |arguments: &[&str]| Step::cargo(root, arguments).env_unless_set("PYO3_NO_PYTHON", "1");
    Plan::default().build(step(&arguments)).build(step(&shipped))
}

/// Plans the unit tests, the examples, and every integration target without a stage of its own.
fn unit(root: &Path, workspace: &Workspace) -> Plan {
    let mut arguments = vec!["test", "--locked", PLANTED_FAULTS, "--lib", "--bins"];
    for target in workspace.test_targets() {
        if !OWN_STAGE.contains(&target) {
            arguments.extend(["--test", target]);
        }
    }
    let examples = Step::cargo(root, &["build", "--locked", PLANTED_FAULTS, "--examples"]);
    let plan = Plan::default().test(Step::cargo(root, &arguments)).build(examples);
    workspace.examples_of("hedgerow").into_iter().fold(plan, |plan, name| run_example(plan, root, name))
}

/// Runs a program of the folder `examples/` in the crate that users depend on. The program may write to the
/// path in its argument.
fn run_example(plan: Plan, root: &Path, name: &str) -> Plan {
    let program = plan::target_folder(root).join("debug/examples").join(name);
    let scratch = std::env::temp_dir().join(format!("hedgerow-{name}-{}", std::process::id()));
    plan.run(Step::new(program, root, &[&scratch.to_string_lossy()])).call(move || {
        // Not every program writes to the path.
        let _ = std::fs::remove_dir_all(&scratch);
        Ok(())
    })
}

/// Plans the doc tests as a build, because cargo compiles and runs them in one command. As a run, the stage
/// would wait for all concurrent builds.
fn doc(root: &Path, _: &Workspace) -> Plan {
    Plan::default().build(Step::cargo(root, &["test", "--locked", PLANTED_FAULTS, "--doc"]))
}

/// Plans the model checks of protocols.
fn loom(root: &Path, workspace: &Workspace) -> Plan {
    // Exploration is exhaustive up to three preemptions, unless the caller's environment sets another bound.
    let bounded = |step: Step| step.env_unless_set("LOOM_MAX_PREEMPTIONS", "3");
    let features = "--features=hedgerow-mem/loom,hedgerow-txn/loom";
    own_target(root, workspace, "loom", features, bounded).judged_by(|outcome| {
        let (what, count) = ("loom models".to_owned(), outcome.counts.passed);
        outcome.counts.explored.push(Explored { what, count, floor: LOOM_MODELS_FLOOR });
    })
}

/// Plans the tests that run whole transactions under a controlled scheduler.
fn shuttle(root: &Path, workspace: &Workspace) -> Plan {
    let features = "--features=hedgerow-schedules/planted-faults,hedgerow-schedules/shuttle";
    own_target(root, workspace, "shuttle", features, |step| step).judged_by(Outcome::require_explored)
}

/// Plans the modules with `unsafe` code under AddressSanitizer, with the global allocator, which it observes.
/// The compiler's option is unstable, and needs an explicit target.
fn asan(root: &Path, _: &Workspace) -> Plan {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Plan::absent(format!("AddressSanitizer is run on {TARGET} only"));
    }
    let arguments =
        ["test", "--locked", "--target", TARGET, "-p", "hedgerow-mem", "--features=plain-blocks", "--lib"];
    let step = Step::cargo(root, &arguments)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", "target/asan");
    Plan::default().test(step)
}

/// Plans the check that each planted fault is found by the tests that claim to find this kind of fault.
fn faults(root: &Path, workspace: &Workspace) -> Plan {
    own_target(root, workspace, "faults", PLANTED_FAULTS, |step| step)
}

/// Plans a test target that must print its explored counts. In the deep form, each of its exploring tests
/// runs for the given time.
fn exploring(root: &Path, workspace: &Workspace, target: &str) -> Plan {
    let plan = own_target(root, workspace, target, PLANTED_FAULTS, |step| step);
    plan.judged_by(Outcome::require_explored)
}

/// Plans the test target `target` of every crate that has it, and shows its output. Like the stage `unit`, it
/// selects all packages of the workspace. Another selection would enable other features of libraries, and
/// build them again.
fn own_target(
    root: &Path,
    workspace: &Workspace,
    target: &str,
    features: &str,
    prepare: impl Fn(Step) -> Step,
) -> Plan {
    if workspace.packages_with_test(target).next().is_none() {
        return Plan::failed(format!("no crate has a test target `{target}`"));
    }
    let arguments = ["test", "--locked", features, "--test", target, "--", "--nocapture"];
    Plan::default().test(prepare(Step::cargo(root, &arguments)))
}
