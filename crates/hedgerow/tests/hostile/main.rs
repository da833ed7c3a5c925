//! Hostile stores: damage everywhere, and files that lie under right checksums. Opening ends in an error or
//! in a store that is sound; never in a panic, a hang, much memory, or a wrong answer that `check` does not
//! see.

#[path = "../common/mod.rs"]
#[macro_use]
mod common;

mod bytes;
mod cases;
mod every_byte;
mod judge;
mod lies;
mod memory;
mod parsers;
mod places;
mod salvage;
mod salvage_runs;
mod stores;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts what is allocated, for the tests of memory.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

static ALONE: Mutex<()> = Mutex::new(());

/// Held by each test: they use all processors themselves, and memory is counted for the whole process.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

shared_tests! {
    bytes: every_byte_length_and_block;
    lies:
        the_forge_knows_its_files,
        stores_that_lie;
}
