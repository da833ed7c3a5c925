//! Errors, panics and delays in the background threads of a store, and in work that threads share. After any
//! of them, acknowledged commits stay, the graph equals the model, the store reports the failure, and no call
//! waits for ever. The feature `planted-faults` adds the points to the engine.
#![allow(missing_docs, reason = "a test program")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod points;
mod world;
