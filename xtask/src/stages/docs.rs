//! The documentation site. MkDocs builds it in a separate environment into `target/site`, and fails at broken
//! links.

use std::path::Path;

use super::outcome::Outcome;
use super::plan::{Plan, target_folder};
use super::python::{self, Environment};
use super::shell::Step;

/// The packages that build the site, with pinned versions.
const ENVIRONMENT: Environment =
    Environment { folder: "target/docs-venv", requirements: "python/requirements-docs.txt" };

/// The folder of the site.
pub(super) const SITE: &str = "target/site";

/// Plans the build of the site. The stage is skipped if the packages are absent and pip cannot download them.
pub(super) fn plan(root: &Path) -> Plan {
    if let Err(failure) = ENVIRONMENT.make(root) {
        return Plan::absent(format!("the packages of the site are not there: {}", failure.what));
    }
    // If the program is built, it supplies the options of the command line.
    let build = build(root, &target_folder(root).join("debug/hedgerow"));
    python::package_if_absent(root, Plan::default()).run(build).judged_by(Outcome::require_explored)
}

/// Plans the site of a release. The options of the command line come from `program`, and the reference of the
/// Python package comes from the folder `package`.
pub(super) fn plan_of_release(root: &Path, program: &Path, package: &Path) -> Plan {
    let here = root.to_path_buf();
    let build = build(root, program).env("HEDGEROW_PACKAGE", &package.to_string_lossy());
    Plan::default().prepare(move || ENVIRONMENT.make(&here)).run(build).judged_by(Outcome::require_explored)
}

fn build(root: &Path, program: &Path) -> Step {
    let arguments = ["build", "--strict", "--config-file", "site/mkdocs.yml"];
    Step::new(ENVIRONMENT.program(root, "mkdocs"), root, &arguments)
        .env("HEDGEROW_PROGRAM", &program.to_string_lossy())
        .env("NO_MKDOCS_2_WARNING", "1")
        .advice("mend the links and anchors named above; the site has no page that they lead to")
}
