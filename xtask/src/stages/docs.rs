//! The site of the documentation: MkDocs in an environment of its own, strict about links, into `target/site`.

use std::path::Path;

use super::outcome::Outcome;
use super::plan::{Plan, target_folder};
use super::python::{self, Environment};
use super::shell::Step;

/// The packages that build the site, each pinned.
const ENVIRONMENT: Environment =
    Environment { folder: "target/docs-venv", requirements: "python/requirements-docs.txt" };

/// Builds the site; absent where the packages are not there and cannot be fetched.
pub(super) fn plan(root: &Path) -> Plan {
    if let Err(failure) = ENVIRONMENT.make(root) {
        return Plan::absent(format!("the packages of the site are not there: {}", failure.what));
    }
    // The options of the command line come from the program, if it is built.
    let program = target_folder(root).join("debug/hedgerow").to_string_lossy().into_owned();
    let arguments = ["build", "--strict", "--config-file", "site/mkdocs.yml"];
    let build = Step::new(ENVIRONMENT.program(root, "mkdocs"), root, &arguments)
        .env("HEDGEROW_PROGRAM", &program)
        .env("NO_MKDOCS_2_WARNING", "1")
        .advice("mend the links and anchors named above; the site has no page that they lead to");
    python::package_if_absent(root, Plan::default()).run(build).judged_by(Outcome::require_explored)
}
