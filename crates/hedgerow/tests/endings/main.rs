//! Closing and dropping, beside everything that waits: a store that is closed keeps nobody waiting, and a
//! snapshot that is dropped waits for nobody.
#![allow(missing_docs, reason = "a test program")]

mod closes;
#[path = "../common/mod.rs"]
mod common;
mod drops;
