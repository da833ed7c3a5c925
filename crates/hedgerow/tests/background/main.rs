//! Errors, panics and delays in what a store does in threads of its own, or shares between threads: whatever
//! happens there, what was acknowledged stays, the graph equals the model, the failure is reported, and no
//! call waits for ever. The feature `planted-faults` brings the points in the engine in.
#![allow(missing_docs, reason = "a test program")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod points;
mod world;
