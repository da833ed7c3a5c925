//! The engines that are measured side by side: the store as one of the containers of the lab, and all of them
//! behind one trait object. This crate compiles operations and kernels for each engine, so that the measuring
//! crates are compiled without them.

#![forbid(unsafe_code)]

mod engine;
mod forms;
mod kernel;
mod store;
mod subject;

pub use engine::{Engine, fixed, open};
pub use forms::{Form, forms};
pub use kernel::{Answer, ITERATIONS, Kernel};
pub use subject::{Edge, Reader, Share, Subject, Sum};

/// The error that stops a measurement: an error of an engine, of any type.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of an operation of an engine.
pub type Result<T> = std::result::Result<T, Failure>;
