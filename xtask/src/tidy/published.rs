//! Checks of published crates: their manifests have the keys that a registry requires, and their dependencies
//! can be published before them. Cargo would find a fault crate by crate, when half of the crates are already
//! published.

use super::report::Report;
use crate::metadata::{Arrow, Kind, Workspace};

#[cfg(test)]
mod tests;

/// The licences that each published package contains, as links to the repository's licence files.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Checks the packages of all workspaces.
pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let Some(version) = workspace.packages.first().map(|package| package.version.as_str()) else { return };
    for package in &workspace.packages {
        let (name, own) = (&package.name, &package.version);
        if own != version {
            report.errors.push(format!("{name}: version {own}, of others {version}; {RAISE}"));
        }
    }
    for package in workspace.published() {
        let name = &package.name;
        for key in &package.missing {
            report.errors.push(format!("{name}: published without `{key}`; state it in its manifest"));
        }
        for licence in LICENCES.iter().filter(|licence| !package.folder.join(licence).is_file()) {
            report.errors.push(format!("{name}: published without {licence}; link it to that of the root"));
        }
    }
    let is_published = |name: &str| workspace.published().any(|package| package.name == name);
    for arrow in workspace.arrows.iter().filter(|arrow| is_published(&arrow.from)) {
        if let Some(problem) = problem(arrow, version, is_published(&arrow.to)) {
            report.errors.push(format!("{} -> {}: {problem}", arrow.from, arrow.to));
        }
    }
    let cycle = unordered(workspace);
    if !cycle.is_empty() {
        report.errors.push(format!(
            "{}: each needs another one to be published before it; state a dependency of tests by its path alone",
            cycle.join(", ")
        ));
    }
}

const RAISE: &str = "`cargo xtask version` sets all";

/// Returns the reason why a published crate cannot have this dependency.
fn problem(arrow: &Arrow, version: &str, is_published: bool) -> Option<String> {
    let by_path_alone = arrow.version == "*";
    match (arrow.kind, is_published) {
        // The published manifest omits this dependency.
        (Kind::Dev, _) if by_path_alone => None,
        (_, false) => Some("a published crate needs one that is not published".to_owned()),
        (_, true) if arrow.version != format!("={version}") => {
            Some(format!("requires version {} and not ={version}; {RAISE}", arrow.version))
        }
        (_, true) => None,
    }
}

/// Returns the crates that cannot be published in any order: crates in cycles, and crates that depend on
/// them.
fn unordered(workspace: &Workspace) -> Vec<&str> {
    let mut waiting: Vec<&str> = workspace.published().map(|package| package.name.as_str()).collect();
    loop {
        let waits = |name: &&str| {
            let needs = |arrow: &&Arrow| arrow.from == **name && arrow.version != "*";
            workspace.arrows.iter().filter(needs).any(|arrow| waiting.contains(&arrow.to.as_str()))
        };
        let still: Vec<&str> = waiting.iter().copied().filter(waits).collect();
        if still.len() == waiting.len() {
            return still;
        }
        waiting = still;
    }
}
