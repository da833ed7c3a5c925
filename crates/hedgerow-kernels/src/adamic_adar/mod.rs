//! The score of Adamic and Adar: how many neighbours two vertices share, where one that few share counts more.
//!
//! **Result.** For vertices `u` and `v` the sum of `1/ln(degree(w))` over the neighbours `w` that they share;
//! 0 if they share none. The result has the given pairs in their order, or for each source the most similar
//! vertices: see [`similarity`](crate::similarity). A vertex that two others share has a degree of at least
//! 2. Only the score of a vertex with itself can have a neighbour of degree 1, whose logarithm is 0: that one
//! adds 0. (NetworkX fails there.)
//!
//! **Degree.** The number of neighbours of `w`: repeated edges count once, an undirected loop twice, like in
//! NetworkX. In a directed graph with edges from `u` and `v` to `w` it is the number of vertices with edges
//! to `w`; against the edges, the number of vertices with edges from `w`.
//!
//! **Input.** Any graph.
//!
//! **Cited.** L. Adamic, E. Adar, *Friends and neighbors on the Web*, Social Networks 25(3), 2003, section 3; D. Liben-Nowell, J. Kleinberg, *The Link-Prediction
//! Problem for Social Networks*, Journal of the American Society for Information Science and Technology 58(7), 2007, section 3.
//!
//! **Cost.** Reads the lists of each pair and of the vertices that it shares; for the most similar vertices,
//! the lists of the source's neighbours.

use hedgerow_core::{Direction, Topology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::pairs::Pairs;
use crate::similarity::{Compared, Measure, compare};

pub(crate) mod entry;
pub mod verify;

/// Returns the scores of Adamic and Adar of pairs, or of each source with the vertices most similar to it.
///
/// # Errors
/// [`KernelError::SourceNotLive`] and [`KernelError::TargetNotLive`]; [`KernelError::OutOfRange`] for a `k` of 0;
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// See the [module](self); blocks the caller until all tasks are done.
pub fn adamic_adar<G: Topology>(
    g: &G,
    compared: &Compared,
    direction: Direction,
) -> Result<Pairs, KernelError<G::Error>> {
    adamic_adar_until(g, compared, direction, &Cancel::new())
}

/// Runs [`adamic_adar`] until `cancel` ends it.
///
/// # Errors
/// Those of [`adamic_adar`], and [`KernelError::Cancelled`].
pub fn adamic_adar_until<G: Topology>(
    g: &G,
    compared: &Compared,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    compare(g, compared, Measure::AdamicAdar, direction, cancel)
}
