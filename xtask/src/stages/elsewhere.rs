//! The examples in which other programs read the parts of a graph: Spark, which needs Java, and Ray. They run
//! where `.venv` has the packages; these are too large to be installed for a test.

use std::path::Path;
use std::process::{Command, Stdio};

use super::plan::Plan;
use super::python;
use super::shell::Step;

/// The example programs, each with the module that it needs and its arguments.
const EXAMPLES: &[(&str, &str, &[&str])] =
    &[("examples/spark_pagerank.py", "pyspark", &["10", "4"]), ("examples/ray_degrees.py", "ray", &["4"])];

/// Returns the runs of the examples, or the reason why this machine cannot run them.
pub(super) fn plan(root: &Path) -> Plan {
    let python = python::program(root, "python");
    let has = |module: &str| {
        Command::new(&python)
            .args([
                "-c",
                &format!("import importlib.util, sys; sys.exit(not importlib.util.find_spec({module:?}))"),
            ])
            .status()
            .is_ok_and(|status| status.success())
    };
    let absent: Vec<&str> =
        EXAMPLES.iter().map(|(_, module, _)| *module).filter(|module| !has(module)).collect();
    let has_java =
        Command::new("java").arg("-version").stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    let absent: Vec<&str> = absent.into_iter().chain((!has_java).then_some("Java")).collect();
    if !absent.is_empty() {
        return Plan::absent(format!(
            "there is no {}; `.venv/bin/pip install pyspark ray` installs the packages, and Spark needs Java 17",
            absent.join(" and no ")
        ));
    }
    let mut plan = python::package_if_absent(root, Plan::default());
    for (program, _, arguments) in EXAMPLES {
        let all: Vec<&str> = std::iter::once(*program).chain(arguments.iter().copied()).collect();
        plan = plan.run(Step::new(&python, root, &all));
    }
    plan.judged_by(|outcome| {
        outcome.counts.passed += if outcome.failures.is_empty() { EXAMPLES.len() as u64 } else { 0 };
    })
}
