//! Reads against the checks that every file system passes.
#![allow(missing_docs, reason = "a test program")]

mod reads;
