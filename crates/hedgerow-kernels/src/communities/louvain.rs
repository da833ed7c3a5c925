//! Communities by Louvain's method: groups of vertices with more edges inside than edges at random would
//! have.
//!
//! **Result.** For every vertex the least vertex of its community, [`NO_COMPONENT`](crate::NO_COMPONENT) for
//! holes, and the modularity of the communities. The method is a heuristic: no fast way to the best
//! communities is known. On the graphs of the tests its modularity is at most 0.01 below the modularity that
//! NetworkX finds.
//!
//! **Input.** Any graph; directions are ignored. Weights are finite and 0 or more; without weights every edge
//! weighs 1. Repeated edges add up, and an edge from a vertex to itself counts twice for the vertex.
//!
//! **Quality.** The result depends on the order of moves, least in large graphs. So, when no communities join
//! any more, vertices move one by one once more. For a small graph several orders are tried, and the best
//! result is returned.
//!
//! **Trick.** Vertices move one by one to the neighbouring community with the highest gain, until no move
//! gains. Then each community becomes one vertex, and the vertices move again, until no more join. Only
//! vertices whose neighbour has moved away are tried again: they wait in a queue, like in Leiden's method. A
//! community may become disconnected as vertices leave it; [`leiden()`](crate::leiden()) prevents that.
//!
//! **Reproducible.** The order of moves depends on the seed alone. One thread moves the vertices, since each
//! move depends on all earlier moves.
//!
//! **Cited.** V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, *Fast unfolding of communities in large
//! networks*, Journal of Statistical Mechanics P10008, 2008; M. Newman, M. Girvan, *Finding and evaluating
//! community structure in networks*, 2004.
//!
//! **Cost.** O(edges) for each of few rounds over all vertices; memory for a copy of the graph, 24 bytes per
//! edge, and for the graph after the first joining.

use hedgerow_core::WeightedTopology;

use super::config::{CommunityConfig, PARAMETERS, read};
use super::graph::Weighted;
use super::moving::{Mover, renumber};
use super::{find, verify};
use crate::grouping::Communities;
use crate::registry::prelude::*;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Communities by their modularity (Louvain)",
    input: "any graph; directions are ignored, weights are finite and 0 or more",
    reads_weights: true,
    parameters: PARAMETERS,
    result: ResultColumn { name: "community", kind: ResultKind::Communities },
    steps: "passes",
    cost: "O(edges) for each of a few rounds",
    // A copy of the graph, 12 bytes for each end of an edge; graphs of joined nodes, in lists that grow; some
    // numbers for each node.
    memory: Memory { per_edge: 80, per_thread: 0, ..Memory::per_id(128) },
    cited: "V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, *Fast unfolding of communities in large networks*, Journal of \
            Statistical Mechanics P10008, 2008",
    ..Kernel::named("louvain", "louvain")
};

functions!(
    Outcome::Communities,
    read,
    |g, config, cancel| louvain_until(g, &config, cancel),
    verify::louvain(g, config.resolution)
);

kernel! {
    /// Finds communities by Louvain's method.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`] for a resolution or a weight outside its range, and
    /// [`KernelError::Weight`] for a weight; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if
    /// the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); runs in the calling thread.
    pub fn louvain, louvain_until<G: WeightedTopology>(g, config: &CommunityConfig; cancel) -> Communities {
        find(g, config, cancel, pass)
    }
}

/// Moves nodes and joins communities, beginning with the given ones, until no more join.
fn pass<E>(
    whole: &Weighted,
    mut community: Vec<u32>,
    resolution: f64,
    seed: u64,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<E>> {
    let mut node: Vec<u32> = (0..whole.len() as u32).collect();
    let mut joined: Option<Weighted> = None;
    loop {
        let graph = joined.as_ref().unwrap_or(whole);
        Mover::new(graph, resolution, cancel).improve(&mut community, seed)?;
        let count = renumber(&mut community);
        if count == graph.len() {
            return Ok(node);
        }
        node.iter_mut().for_each(|node| *node = community[*node as usize]);
        joined = Some(graph.joined(&community, count));
        community = (0..count as u32).collect();
    }
}
