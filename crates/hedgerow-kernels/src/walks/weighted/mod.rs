//! Random walks by weights, each step independent or by the rule of node2vec.
//!
//! **Result.** Like [`random_walks()`](crate::random_walks()), but the chance of a neighbour depends on the
//! weight of the edge to it: `w(u, v) / W(u)`, where `W(u)` is the sum of the weights of all edges from `u`.
//! With `p` and `q` each weight is first multiplied by a factor of node2vec, which depends on the vertex
//! before: `1/p` for that vertex, 1 for its neighbours, `1/q` for all others. Repeated edges count as one
//! edge with the sum of their weights. A walk ends early at a vertex whose weights sum to 0.
//!
//! **Input.** Any graph. Weights of the edges at vertices that a walk leaves are finite and 0 or more, and
//! sum to 0 or to a number in 2.3e-308 to 1.8e308. If several walks meet weights that are not allowed, the
//! error names the edge or vertex of the first walk. Without weights every edge weighs 1. Edges are followed
//! along or against their direction.
//!
//! **Reproducible.** Every walk draws from a stream of its own, made from the seed and the number of the
//! walk, and weights are added up by ascending neighbours. So a walk is the same for any number of threads,
//! and however lists are stored.
//!
//! **Trick.** Drawing by weight needs sums of weights. Stored for all edges, the sums would take as much
//! memory as the graph. So a list is read when walks leave its vertex, once for all walks of a work item that
//! are at this vertex; most walks are at hubs. A work item is a thread's share of the walks, 131,072 at most.
//! A draw by weight is refused with a chance that makes up for `p` and `q`, like in walks without weights.
//! Sums of a list of more than 65,536 edges are made in one buffer, by one thread at a time.
//!
//! **Cited.** A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016, section
//! 3.2; K. Yang, M. Zhang, K. Chen, X. Ma, Y. Bai, Y. Jiang, *KnightKing: A Fast Distributed Graph Random
//! Walk Engine*, SOSP 2019, for drawing and refusing.
//!
//! **Cost.** For each step of a work item, one read of the list of each vertex with walks; with `p` and `q`,
//! times the ratio of the largest of `1/p`, 1, `1/q` to the mean chance. 4 bytes for each step, 68 for each
//! walk, 16 for each edge of the longest list.

use hedgerow_core::{VertexId, WeightedTopology};

use super::config::{PARAMETERS, WalkConfig, read};
use super::{take_walks, verify};
use crate::paths::Paths;
use crate::registry::prelude::*;

mod draw;

use draw::{ByWeight, Long};

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Random walks that go to neighbors by the weights of the edges, each step alone or as node2vec has it",
    input: "any graph; weights of edges at vertices that walks leave are finite and 0 or more, where they sum to 0 a walk ends",
    reads_weights: true,
    parameters: PARAMETERS,
    result: ResultColumn { name: "walks", kind: ResultKind::Paths },
    steps: "walks",
    cost: "the lists of the vertices that walks of an item are at, for each step",
    // The memory of `walks`, and of the walks that are taken together; a list of each thread, and one of any
    // length.
    memory: Memory {
        per_edge: 16,
        per_thread: 2 << 20,
        provided: "one walk of ten steps from each vertex, else 4 for each step and 68 for each walk",
        ..Memory::per_id(112)
    },
    cited: "A. Grover, J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016; K. Yang et al., \
            *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019",
    ..Kernel::named("wwalks", "weighted_random_walks")
};

functions!(
    Outcome::Paths,
    read,
    |g, (sources, config), cancel| weighted_random_walks_until(g, sources.as_deref(), &config, cancel),
    verify::weighted_random_walks(g, sources.as_deref(), &config)
);

kernel! {
    /// Walks by weights from each of `sources`, or from every vertex.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] for a number of walks or steps, `p` or `q`
    /// out of range; [`KernelError::Weight`] and [`KernelError::NotFinite`] if a walk meets a weight below 0,
    /// not a number or infinite; [`KernelError::WeightSum`] if it reaches a vertex whose weights sum to too
    /// much or too little; [`KernelError::OutOfMemory`] if there is no memory for all steps;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn weighted_random_walks, weighted_random_walks_until<G: WeightedTopology>(
        g, sources: Option<&[VertexId]>, config: &WalkConfig; cancel
    ) -> Paths {
        let long = Long::default();
        take_walks(g, sources, config, cancel, || ByWeight::new(&long))
    }
}
