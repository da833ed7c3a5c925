//! Answers that are kept while the graph changes: each starts from the last one and from what two snapshots see differently ([`Changes`]), in place of
//! the whole graph.
//!
//! | answer | equal to the one from scratch | what an update costs |
//! | --- | --- | --- |
//! | [`Components`] | exactly | a search for each edge that went and that held its component together; a pass over the vertices where components joined |
//! | [`Degrees`] | exactly | O(changes) |
//! | [`Triangles`] | exactly | for each edge that came or went the shorter list of its ends, and once for each vertex the longer one |
//! | [`Ranks`] | within the tolerance | as many iterations as it takes from the old scores on |
//!
//! An update that fails, or is cancelled, leaves an answer that is of no use: it is made from scratch then.

use hedgerow_core::{Changes, Resident};

use crate::{Cancel, KernelError};

mod components;
mod degrees;
mod handle;
mod ranks;
#[cfg(test)]
mod tests;
mod triangles;

pub use components::Components;
pub use degrees::Degrees;
pub use handle::{Answer, Handle, Made, Maintain, NAMES};
pub use ranks::Ranks;
pub use triangles::Triangles;

/// An answer about a graph that follows its changes.
pub trait Maintained: Sized {
    /// The answer about `g`, from nothing.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Cancelled`].
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError>;

    /// Makes the answer about an earlier state of the graph that about `g`, which `changes` lead to.
    ///
    /// # Errors
    /// As of [`from_scratch`](Self::from_scratch). The answer is of no use then.
    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError>;
}
