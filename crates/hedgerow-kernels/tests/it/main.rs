//! All kernels against slow independent answers and against published ones. What is about one kernel stands in its folder.

mod cancel;
mod corrected;
mod paged;
mod pages;
mod published;
mod random;
#[path = "../../src/testing.rs"]
mod testing;
