//! Containers that the store is compared with, behind the same traits, so that the same compiled kernels run on them.
//!
//! So far one: the [`Csr`], the unit of every comparison. Research code: the product never links it.
#![forbid(unsafe_code)]

pub mod csr;

pub use csr::{Csr, CsrError, CsrOptions, Duplicates};
