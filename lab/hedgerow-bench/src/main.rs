//! The benchmark program with the engines of this project alone.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The store allocates many small exact-fit blocks from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hedgerow_bench::run(&[])
}
