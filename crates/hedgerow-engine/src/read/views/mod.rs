//! The views that kernels run on: [`cache`] keeps them, [`build`] makes them.

pub(crate) mod build;
pub(crate) mod cache;

pub(crate) use cache::Views;
