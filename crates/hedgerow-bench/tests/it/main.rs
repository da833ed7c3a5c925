//! The program as users run it: the demo with and without planted faults, and the form of what the suites write.
#![allow(clippy::disallowed_methods, reason = "tests read what the program wrote")]

mod demo;
mod suites;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in `dir`; `fault` is planted in the demo.
fn bench(dir: &Path, arguments: &[&str], fault: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-bench"));
    command.args(arguments).current_dir(dir).env_remove("HEDGEROW_DEMO_FAULT");
    if let Some(fault) = fault {
        command.env("HEDGEROW_DEMO_FAULT", fault);
    }
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
