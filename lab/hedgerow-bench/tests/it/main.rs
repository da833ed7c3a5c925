//! Tests of the program as users run it: the form of the suites' output.
#![allow(clippy::disallowed_methods, reason = "tests read what the program wrote")]

mod suites;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in `dir`.
fn bench(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-bench"));
    command.args(arguments).current_dir(dir).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
