//! Closes and drops while other threads wait. A closed store keeps no thread waiting, and the drop of a
//! snapshot waits for no thread.
#![allow(missing_docs, reason = "a test program")]

mod closes;
#[path = "../common/mod.rs"]
mod common;
mod drops;
