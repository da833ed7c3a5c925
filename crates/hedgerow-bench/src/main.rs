//! Experiments on Hedgerow: the demo of the whole job, and the benchmark suites of `docs/benchmarks.md`.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it writes reports and reads its own results"
)]

mod cli;
mod demo;
mod engines;
mod failure;
mod figures;
mod record;
mod reference;
mod report;
mod suite;
mod system;

use std::process::ExitCode;

/// The store allocates many small exact-fit blocks from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
