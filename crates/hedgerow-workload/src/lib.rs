//! The work that Hedgerow is tested and measured with: seeded generators, graph readers, update streams, an
//! independent replay of those streams, and the plain [`Csr`] that graphs are compared with.
//!
//! No code of this crate uses the store. The output for a seed never changes between versions: figures and
//! failures stay comparable.
#![forbid(unsafe_code)]
// Reading data sets is no part of the engine's durability, so it does not use the engine's file trait.
#![allow(clippy::disallowed_methods)]

pub mod csr;
pub mod data;
pub mod generate;
pub mod linkbench;
pub mod read;
pub mod replay;
pub mod rng;
pub mod scheduler;
pub mod spec;
pub mod stream;

pub use csr::{Csr, CsrError, CsrOptions, Duplicates};
pub use data::{DataError, data_dir, require_data};
pub use generate::{EdgeList, kron, shuffle, uniform};
pub use replay::{Diff, State};
pub use scheduler::Scheduler;
pub use spec::{GraphSpec, LoadError, LoadedGraph, SpecError};
pub use stream::{Event, Stream, StreamError, StreamSpec, Totals, Transaction};
