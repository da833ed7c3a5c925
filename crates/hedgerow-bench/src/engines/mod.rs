//! What is measured side by side: the store as one of the containers of the lab, and all of them behind one trait.

mod hedgerow;
mod kernel;
mod subject;

pub(crate) use self::hedgerow::HedgerowEngine;
pub(crate) use kernel::{Answer, ITERATIONS, Kernel};
pub(crate) use subject::{Edge, Reader, Share, Subject, Sum, subject};

#[cfg(test)]
mod tests;
