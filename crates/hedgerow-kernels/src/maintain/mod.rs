//! Answers that are kept while the graph changes: each is computed from the last one and from the difference
//! of two snapshots ([`Changes`]), in place of the whole graph.
//!
//! | answer | equal to the one from scratch | what an update costs |
//! | --- | --- | --- |
//! | [`Components`] | exactly | a look at a few neighbors, or a search, for each removed edge of a spanning forest; a search of a component that joins another one, or a pass over the vertices |
//! | [`Degrees`] | exactly | O(changes) |
//! | [`Triangles`] | exactly | for each inserted or removed edge the shorter list of its ends, and for each vertex of one its list once |
//! | [`Ranks`] | within the tolerance | iterations from the last scores until the tolerance holds |
//!
//! An update that fails or is cancelled leaves an answer of neither state: then compute it from scratch.

use hedgerow_core::{Changes, Resident};

use crate::{Cancel, KernelError};

mod components;
mod degrees;
mod handle;
mod ranks;
mod triangles;

pub use components::Components;
pub use degrees::Degrees;
pub use handle::{Answer, Handle, Made, NAMES};
pub use ranks::Ranks;
pub use triangles::Triangles;

/// An answer about a graph that follows its changes.
pub trait Maintained: Sized {
    /// Computes the answer about `g`.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Cancelled`].
    fn from_scratch<G: Resident>(g: &G, cancel: &Cancel) -> Result<Self, KernelError>;

    /// Updates the answer from an earlier state of the graph to `g`, which differs from that state by
    /// `changes`.
    ///
    /// # Errors
    /// The errors of [`from_scratch`](Self::from_scratch). After an error the answer is of neither state.
    fn update<G: Resident>(&mut self, g: &G, changes: &Changes, cancel: &Cancel) -> Result<(), KernelError>;
}
