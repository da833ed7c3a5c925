//! Jaccard's coefficient: the share of their neighbours that two vertices have in common.
//!
//! **Result.** For vertices `u` and `v` the number of neighbours that they share, over the number that they
//! have together; 0 if neither has any. Like in NetworkX, `u` and `v` themselves are never shared, but count
//! among the neighbours: if an edge joins two vertices, their score is below 1. The result has the given
//! pairs in their order, or for each source the most similar vertices: see [`similarity`](crate::similarity).
//!
//! **Input.** Any graph; repeated edges count once. In a directed graph neighbours are those along the edges,
//! or against them.
//!
//! **Cited.** P. Jaccard, *Étude comparative de la distribution florale dans une portion des Alpes et des Jura*, Bulletin de la Société
//! Vaudoise des Sciences Naturelles 37, 1901; D. Liben-Nowell, J. Kleinberg, *The Link-Prediction Problem for Social Networks*, Journal of the American
//! Society for Information Science and Technology 58(7), 2007, section 3.
//!
//! **Cost.** Reads the lists of each pair; for the most similar vertices, the lists of the source's
//! neighbours and of the most promising of their neighbours.

use hedgerow_core::{Direction, Topology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::pairs::Pairs;
use crate::similarity::{Compared, Measure, compare};

pub(crate) mod entry;
pub mod verify;

/// Computes Jaccard's coefficient of pairs, or of each source with the vertices most similar to it.
///
/// # Errors
/// [`KernelError::SourceNotLive`] and [`KernelError::TargetNotLive`]; [`KernelError::OutOfRange`] for a `k` of 0;
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// See the [module](self); blocks the caller until all tasks are done.
pub fn jaccard<G: Topology>(
    g: &G,
    compared: &Compared,
    direction: Direction,
) -> Result<Pairs, KernelError<G::Error>> {
    jaccard_until(g, compared, direction, &Cancel::new())
}

/// Runs [`jaccard`] until `cancel` ends it.
///
/// # Errors
/// Those of [`jaccard`], and [`KernelError::Cancelled`].
pub fn jaccard_until<G: Topology>(
    g: &G,
    compared: &Compared,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    compare(g, compared, Measure::Jaccard, direction, cancel)
}
