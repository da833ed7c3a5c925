//! The published crates in the form that a registry receives: `cargo package`, each with its licences.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome::Failure;
use super::plan::{Plan, target_folder};
use super::shell::Step;
use crate::metadata::Workspace;

/// The files, in addition to sources, that every published crate must contain.
const REQUIRED: [&str; 5] = ["Cargo.toml", "Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packages the crates that a release publishes. If `are_built`, also builds each package and the packages
/// that it depends on.
pub(super) fn plan(root: &Path, workspace: &Workspace, are_built: bool) -> Plan {
    // Cargo also packages uncommitted files. `make dist FINAL=1` refuses such a state, but a rehearsal
    // permits it.
    let mut arguments = vec!["package", "--locked", "--allow-dirty"];
    arguments.extend((!are_built).then_some("--no-verify"));
    arguments.extend(workspace.published().flat_map(|package| ["--package", package.name.as_str()]));
    let packages: Vec<(PathBuf, String)> = workspace
        .published()
        .map(|package| format!("{}-{}", package.name, package.version))
        .map(|name| (target_folder(root).join("package").join(format!("{name}.crate")), name))
        .collect();
    Plan::default().run(Step::cargo(root, &arguments)).call(move || {
        packages.iter().try_for_each(|(path, name)| complete(path, name).map_err(Failure::of_stage))
    })
}

/// Checks that a package contains the required files.
fn complete(path: &Path, name: &str) -> Result<(), String> {
    let listing = Command::new("tar").arg("-tzf").arg(path).output();
    let listing = listing.map_err(|e| format!("cannot run tar: {e}"))?;
    if !listing.status.success() {
        return Err(format!("{}: {}", path.display(), String::from_utf8_lossy(&listing.stderr)));
    }
    let files = String::from_utf8_lossy(&listing.stdout);
    let is_there = |file: &&str| files.lines().any(|line| line == format!("{name}/{file}"));
    match REQUIRED.iter().find(|file| !is_there(file)) {
        Some(file) => Err(format!("{}: has no {file}", path.display())),
        None => Ok(()),
    }
}
