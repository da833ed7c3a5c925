//! The Python package: a virtual environment in `.venv`, the extension built into the environment, and
//! pytest.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::outcome::Failure;
use super::plan::{Plan, target_folder};
use super::shell::{Output, Step, is_deep};
use crate::metadata::Workspace;

/// The packages for the tests and the build, with pinned versions.
const ENVIRONMENT: Environment =
    Environment { folder: ".venv", requirements: "python/requirements-test.txt" };

/// The lock for making an environment. One stage makes it early, and another one needs it.
static MAKING: Mutex<()> = Mutex::new(());

/// The features of the extension. They are the same as in Rust's test build, so that the store is compiled
/// once for both. The stage clippy checks the released form, without planted faults.
const FEATURES: &str = "extension-module,planted-faults,hedgerow/kernels";

/// Makes `.venv` during the builds of other stages, because installing packages mostly waits for the network.
pub(super) fn packages(root: &Path, _: &Workspace) -> Plan {
    let root = root.to_path_buf();
    Plan::default().call(move || ENVIRONMENT.make(&root))
}

/// Builds the package with the tests' profile and the command line with `features`, then runs pytest.
pub(super) fn test(root: &Path, features: &str) -> Plan {
    let here = root.to_path_buf();
    let loader = target_folder(root).join("debug/hedgerow").to_string_lossy().into_owned();
    let tests = if is_deep() { EXPLORING } else { &["python/tests"] };
    let python = |arguments: &[&str]| Step::new(program(root, "python"), root, arguments);
    let check = format!(
        "import sys; sys.path.insert(0, {PIP_TARGET:?}); import hedgerow; assert {PIP_TARGET:?} in hedgerow.__file__; \
         hedgerow.open().insert_edge(1, 2)"
    );
    Plan::default()
        .prepare(move || ENVIRONMENT.make(&here))
        .build(develop(root))
        .build(pip_install(root))
        // Some tests load files with the command line program.
        .build(Step::cargo(root, &["build", "--locked", features, "--bin", "hedgerow"]))
        .run(python(&[PYTEST, tests].concat()).env("HEDGEROW_PROGRAM", &loader))
        .run(python(&["-I", "-c", &check]))
        .judged_by(|outcome| {
            if outcome.counts.passed == 0 {
                outcome.failures.push(Failure::of_stage("pytest ran no test"));
            }
            outcome.require_explored();
        })
}

/// Builds the package with the tests' profile, unless it is already built.
pub(super) fn package_if_absent(root: &Path, plan: Plan) -> Plan {
    if root.join(MODULE).is_file() {
        return plan;
    }
    let here = root.to_path_buf();
    plan.prepare(move || ENVIRONMENT.make(&here)).build(develop(root))
}

/// The native module that is built into the package.
const MODULE: &str = "python/src/hedgerow/_native.abi3.so";

fn develop(root: &Path) -> Step {
    maturin(root, &["develop", "--locked", "--profile", "dev", "--features", FEATURES])
}

const PYTEST: &[&str] = &["-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider"];

/// The tests that a deep run executes.
const EXPLORING: &[&str] =
    &["python/tests/property/test_obvious_programs.py", "python/tests/unit/test_signals.py"];

/// The folder into which [`pip_install`] puts the package. The test imports the package only from this
/// folder.
const PIP_TARGET: &str = "target/pip";

/// Runs `pip install .` as users do, but faster: with the tests' profile, so that it reuses builds, and with
/// the build tools of `.venv`.
fn pip_install(root: &Path) -> Step {
    let arguments =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation"];
    let arguments = [&arguments[..], &["--no-deps", "--upgrade", "--target", PIP_TARGET, "."]].concat();
    let tools = std::env::join_paths(
        std::iter::once(root.join(".venv/bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let tools = tools.unwrap_or_default();
    Step::new(program(root, "python"), root, &arguments)
        .env("PATH", &tools.to_string_lossy())
        .env("MATURIN_PEP517_ARGS", &format!("--profile dev --features {FEATURES}"))
        .env("CARGO_TARGET_DIR", &target_folder(root).to_string_lossy())
}

/// Builds the optimised package into `.venv`.
pub(crate) fn release(root: &Path) -> Result<(), String> {
    ENVIRONMENT.make(root).map_err(|failure| failure.what)?;
    done(&maturin(root, &["develop", "--locked", "--profile", "wheel"])).map_err(|failure| failure.what)?;
    println!("built into .venv; use it with `.venv/bin/python`");
    Ok(())
}

/// A virtual environment with pinned packages, in a folder.
pub(super) struct Environment {
    pub(super) folder: &'static str,
    pub(super) requirements: &'static str,
}

impl Environment {
    /// Creates the environment and installs its requirements, unless this was done before.
    pub(super) fn make(&self, root: &Path) -> Result<(), Failure> {
        let Environment { folder, requirements } = *self;
        let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = |file: &str, error: std::io::Error| Failure::of_stage(format!("{file}: {error}"));
        let wanted = fs::read_to_string(root.join(requirements)).map_err(|e| broken(requirements, e))?;
        // The file records the last installed requirements, so that later runs need no network.
        let record = root.join(folder).join("installed.txt");
        if fs::read_to_string(&record).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        let check = "import sys; sys.exit(sys.version_info < (3, 11))";
        let advice = "the package needs Python 3.11 or later as `python3`";
        done(&Step::new("python3", root, &["-c", check]).advice(advice))?;
        let advice = "Python's `venv` module is needed; some systems package it apart, as python3-venv";
        done(&Step::new("python3", root, &["-m", "venv", folder]).advice(advice))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements];
        let advice =
            format!("the first run installs the packages of {requirements} and needs the package registry");
        done(&Step::new(self.program(root, "python"), root, &pip).advice(&advice))?;
        fs::write(&record, wanted).map_err(|e| broken(&record.to_string_lossy(), e))
    }

    /// Returns the path of a program that the packages of the environment install.
    pub(super) fn program(&self, root: &Path, name: &str) -> PathBuf {
        root.join(self.folder).join("bin").join(name)
    }
}

/// The packages that build a release, with pinned versions.
const RELEASE_REQUIREMENTS: &str = "python/requirements-release.txt";

/// Installs some of the packages that build a release into `.venv`. Makes `.venv` if it is absent.
pub(super) fn install(root: &Path, packages: &[&str]) -> Result<(), Failure> {
    ENVIRONMENT.make(root)?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--constraint",
        RELEASE_REQUIREMENTS,
    ];
    let pip = [&pip[..], packages].concat();
    done(&Step::new(program(root, "python"), root, &pip).advice("the package index is needed"))
}

/// Runs a step and shows its output.
pub(super) fn done(step: &Step) -> Result<(), Failure> {
    step.execute(Output::AsItComes).failure.map_or(Ok(()), Err)
}

/// Returns a call of maturin, the tool that builds the package.
pub(super) fn maturin(root: &Path, arguments: &[&str]) -> Step {
    let environment = root.join(ENVIRONMENT.folder);
    Step::new(program(root, "maturin"), root, arguments)
        .env("VIRTUAL_ENV", &environment.to_string_lossy())
        // The call uses the profile and the folder of the tests, so that it reuses their builds.
        .env("CARGO_TARGET_DIR", &target_folder(root).to_string_lossy())
}

/// Returns the path of a program in `.venv`.
pub(super) fn program(root: &Path, name: &str) -> PathBuf {
    ENVIRONMENT.program(root, name)
}
