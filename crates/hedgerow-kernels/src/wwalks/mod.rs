//! Random walks by weights, each step by itself or as node2vec has it.
//!
//! **Result.** As of [`random_walks()`](crate::random_walks()), but from where it is a walk goes to a neighbour as often as the weight of the edge says: with probability
//! `w(u, v) / W(u)`, where `W(u)` is the sum of the weights of all edges from `u`. With `p` and `q` this is multiplied by what node2vec has for where the walk came from, and
//! the products are taken for the shares: `1/p` to go back there, 1 to go to one of the neighbours of that vertex, `1/q` to any other. Repeated edges count as one of their sum. A walk ends early
//! at a vertex whose weights sum to 0.
//!
//! **Input.** Any graph; weights of the edges at vertices that a walk leaves are finite and 0 or more, and sum to 0 or to a number in 2.3e-308 to 1.8e308. Of several walks that
//! meet others the first one's edge or vertex is refused. Without weights every edge weighs 1. Followed along or against the edges.
//!
//! **Reproducible.** Every walk draws from a stream of its own, which seed and number of the walk make, and weights are added up by ascending neighbours.
//! So a walk is the same for any number of threads, and however lists are stored.
//!
//! **Trick.** To draw by weights takes their sums. Kept for all edges they take as much memory as the graph; so a list is read when a walk leaves its vertex, once for all walks of
//! a work item that are there, of which there are most at hubs. A work item is a thread's share of the walks, 131,072 at most. What a walk draws by weight is refused with a chance that makes up for `p` and `q`, as in uniform walks. Sums of a list
//! of more than 65,536 edges are made in one place, by one thread at a time.
//!
//! **Cited.** A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016, section 3.2; K. Yang, M. Zhang, K. Chen, X. Ma,
//! Y. Bai, Y. Jiang, *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019, for drawing and refusing.
//!
//! **Cost.** For each step the lists of the vertices where walks of a work item are, once each; with `p` and `q` as many times as the largest of `1/p`, 1, `1/q` is
//! of the mean chance. 4 bytes for each step, 68 for each walk, 16 for each edge of the longest list.

use hedgerow_core::{VertexId, WeightedTopology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::paths::Paths;
use crate::walks::{WalkConfig, take_walks};

mod draw;
pub(crate) mod entry;
pub mod verify;

use draw::{ByWeight, Long};

/// Walks by weights from each of `sources`, or from every vertex.
///
/// # Errors
/// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] for a number of walks or steps, `p` or `q` that is; [`KernelError::Weight`] and
/// [`KernelError::NotFinite`] if a walk meets a weight below 0, not a number or infinite; [`KernelError::WeightSum`] if it comes to a vertex whose weights sum to too much or
/// too little; [`KernelError::OutOfMemory`] where there is none for so many steps; [`KernelError::TooManyVertices`];
/// [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// See the [module](self); blocks the caller until all tasks are done.
pub fn weighted_random_walks<G: WeightedTopology>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
) -> Result<Paths, KernelError<G::Error>> {
    weighted_random_walks_until(g, sources, config, &Cancel::new())
}

/// Runs [`weighted_random_walks`] until `cancel` ends it.
///
/// # Errors
/// Those of [`weighted_random_walks`], and [`KernelError::Cancelled`].
pub fn weighted_random_walks_until<G: WeightedTopology>(
    g: &G,
    sources: Option<&[VertexId]>,
    config: &WalkConfig,
    cancel: &Cancel,
) -> Result<Paths, KernelError<G::Error>> {
    let long = Long::default();
    take_walks(g, sources, config, cancel, || ByWeight::new(&long))
}
