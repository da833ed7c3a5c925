//! Experiments on Hedgerow: the benchmark suites of `docs/benchmarks.md`.
//!
//! A library, so that a program with other engines can have the suites measure these too: [`run`] with its
//! [`Rival`]s.
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
