//! The lab, a workspace of its own: `make test` only checks its form, `make lab-test` and deep runs test it.

use std::path::Path;

use super::plan::Plan;
use super::shell::Step;

/// The manifest of the lab, from the root.
pub(super) const MANIFEST: &str = "lab/Cargo.toml";
/// All of it: experiments over forms of containers too.
const FORMS: &str = "--features=hedgerow-bench/forms";

/// Checks that all of the lab compiles, without warnings: nothing is optimised, and nothing runs.
pub(super) fn check(root: &Path) -> Plan {
    let arguments =
        ["clippy", "--manifest-path", MANIFEST, "--locked", "--workspace", FORMS, "--all-targets"];
    Plan::default().build(Step::cargo(root, &[&arguments[..], &["--", "-D", "warnings"]].concat()))
}

/// Runs the tests of the containers and of what measures them.
pub(super) fn test(root: &Path) -> Plan {
    let arguments = ["test", "--manifest-path", MANIFEST, "--locked", FORMS, "--lib", "--bins", "--tests"];
    check(root).test(Step::cargo(root, &arguments))
}

/// Runs the tests of the engines of others, but for RocksDB: `make rivals` adds that.
pub(super) fn rivals(root: &Path) -> Plan {
    let arguments =
        ["test", "--manifest-path", MANIFEST, "--locked", "--package", "hedgerow-rivals", "--tests"];
    Plan::default().test(Step::cargo(root, &arguments))
}
