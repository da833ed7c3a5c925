//! The lab, a separate workspace. `make test` only checks that it compiles. `make lab-test` and deep runs
//! test it.

use std::path::Path;

use super::plan::Plan;
use super::shell::Step;

/// The path of the lab's manifest, from the root.
pub(super) const MANIFEST: &str = "lab/Cargo.toml";
/// The feature that adds experiments over forms of containers.
const FORMS: &str = "--features=hedgerow-bench/forms";

/// Checks that the whole lab compiles without warnings. Does not optimise or run it.
pub(super) fn check(root: &Path) -> Plan {
    let arguments =
        ["clippy", "--manifest-path", MANIFEST, "--locked", "--workspace", FORMS, "--all-targets"];
    Plan::default().build(Step::cargo(root, &[&arguments[..], &["--", "-D", "warnings"]].concat()))
}

/// Runs the tests of the containers and of the programs that measure them.
pub(super) fn test(root: &Path) -> Plan {
    let arguments = ["test", "--manifest-path", MANIFEST, "--locked", FORMS, "--lib", "--bins", "--tests"];
    check(root).test(Step::cargo(root, &arguments))
}

/// Runs the tests of the foreign engines except RocksDB, which `make rivals` adds.
pub(super) fn rivals(root: &Path) -> Plan {
    let arguments =
        ["test", "--manifest-path", MANIFEST, "--locked", "--package", "hedgerow-rivals", "--tests"];
    Plan::default().test(Step::cargo(root, &arguments))
}
