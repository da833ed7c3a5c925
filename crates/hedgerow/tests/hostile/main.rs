//! Hostile stores: damage in every place, and files with false content under correct checksums. An opening
//! ends in an error or in a sound store. It never causes a panic, a hang, large memory use, or a wrong answer
//! that `check` does not report.

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

/// Counts the allocated bytes, for the tests of memory.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

static ALONE: Mutex<()> = Mutex::new(());

/// Returns the guard that each test holds. The tests use all processors, and the count of memory covers the
/// whole process.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

shared_tests! {
    bytes: every_byte_length_and_block;
    lies:
        the_forge_knows_its_files,
        stores_that_lie;
}
