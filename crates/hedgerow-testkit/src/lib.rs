//! What Hedgerow's tests share: a file system that crashes on demand.
#![forbid(unsafe_code)]

pub mod sim_fs;

pub use sim_fs::{Damage, SimFs};
