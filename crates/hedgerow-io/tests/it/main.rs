//! Tests that run the checks of reads on every file system.
#![allow(missing_docs, reason = "a test program")]

mod reads;
