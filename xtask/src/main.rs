//! Automation of the project. `tidy` makes checks that the compiler does not make. `ci` checks format, lints
//! and tidy. `test` runs every stage of `make test`, and `test-deep` runs one stage for a given time.
//! `version` and `dist` are for a release.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "no part of the engine: it reads the repository, not stores")]

mod metadata;
mod stages;
mod tidy;
mod version;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  tidy                                 check arrows, cycles, unsafe, summaries, sizes, prose, links and subjects
  tidy --modules CRATE                 list the arrows between the modules of a crate
  ci                                   format check, tidy, clippy
  test [--fail-fast] [STAGE ...]       the stages of `make test`, all or the named ones
  test-deep [--stage S] [--seconds N]  the exploring stages, for N seconds each (default 600)
  python                               build the Python package optimised into .venv
  version X.Y.Z                        raise the version of all crates
  dist [--final]                       build and check the parts of a release, in target/dist";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = repository_root();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(&root),
        ["tidy", "--modules", krate] => tidy::list_modules(&root, krate),
        ["ci"] => stages::run(&root, &["fmt", "tidy", "clippy"]),
        ["test", chosen @ ..] => stages::run(&root, chosen),
        ["test-deep", options @ ..] => stages::run_deep(&root, options),
        ["python"] => stages::python::release(&root),
        ["version", version] => version::set(&root, version),
        ["dist"] => stages::dist::run(&root, false),
        ["dist", "--final"] => stages::dist::run(&root, true),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the folder of the workspace manifest, which is the parent of this crate's folder. Cargo states
/// this folder when it runs the program. The path at compile time may belong to another checkout with the
/// same target folder.
fn repository_root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let here = PathBuf::from(here);
    here.parent().unwrap_or(&here).to_path_buf()
}
