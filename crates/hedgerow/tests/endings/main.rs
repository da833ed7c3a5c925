//! Closes and drops while other threads wait: a store that is closed keeps no thread waiting, and a snapshot
//! that is dropped waits for no thread.
#![allow(missing_docs, reason = "a test program")]

mod closes;
#[path = "../common/mod.rs"]
mod common;
mod drops;
