//! The benchmark program with only the engines of this project.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The global allocator: the store allocates many small exact-fit blocks from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hedgerow_bench::run(&[])
}
