//! Experiments on Hedgerow: the benchmark suites of `docs/benchmarks.md`.
//!
//! It is a library, so that a program with other engines can pass them to [`run`] as [`Rival`]s. The suites
//! then measure them too.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "no part of the engine: it writes reports and reads its own results"
)]

mod chart;
mod cli;
mod paper;
mod record;
mod suite;
mod system;

pub use cli::run;
pub use hedgerow_report::failure::Failure;
pub use suite::links::{Found, Link, LinkStore, Open, Rival, agrees};
