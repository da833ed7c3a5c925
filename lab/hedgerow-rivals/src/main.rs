//! The benchmark program with engines of other projects.
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if cfg!(not(feature = "rocksdb")) {
        eprintln!("built without RocksDB: cargo's option --features rocksdb adds it, and make rivals does");
    }
    hedgerow_bench::run(hedgerow_rivals::RIVALS)
}
