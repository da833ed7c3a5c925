//! Errors, panics and delays in what a store does in threads of its own, or shares between threads: whatever happens
//! there, what was acknowledged stays, the graph equals the model, the failure is reported, and nobody waits for ever.
//! The points in the engine need a build with `--cfg hedgerow_faults`; the file operations need none.
#![allow(missing_docs, reason = "a test program")]
#![cfg_attr(not(hedgerow_faults), allow(dead_code, reason = "such a build has no points"))]

#[path = "../common/mod.rs"]
mod common;
mod files;
#[cfg(hedgerow_faults)]
mod points;
mod world;
