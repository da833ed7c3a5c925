//! Communities by Leiden's method: like Louvain's, but every community is connected.
//!
//! **Result.** Like [`louvain()`](crate::louvain()): for every vertex the least vertex of its community, and
//! the modularity. Between any two vertices of a community a path leads through the community, directions
//! ignored.
//!
//! **Input.** Like [`louvain()`](crate::louvain()).
//!
//! **Trick.** Louvain's method makes one vertex of each community for good. Leiden's method joins only
//! vertices that are well connected within their community. Each community is first divided into parts, which
//! grow from single vertices along its edges. These parts become the vertices of the next round, which begins
//! with the communities of this one. So a part can still move to another community. At the end each community
//! is one connected part. A last step splits communities that are disconnected nevertheless, because of
//! rounding or of equal gains. This never lowers the modularity.
//!
//! **Reproducible.** Like [`louvain()`](crate::louvain()). A vertex joins the best of the parts that it may
//! join, while the paper draws one at random.
//!
//! **Cited.** V. Traag, L. Waltman, N. J. van Eck, *From Louvain to Leiden: guaranteeing well-connected
//! communities*, Scientific Reports 9, 5233, 2019.
//!
//! **Cost.** Like [`louvain()`](crate::louvain()), with a few more rounds.

use hedgerow_core::WeightedTopology;

use super::config::{CommunityConfig, PARAMETERS, read};
use super::graph::Weighted;
use super::moving::{Mover, renumber};
use super::{find, verify};
use crate::grouping::Communities;
use crate::registry::prelude::*;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Communities by their modularity that hang together (Leiden)",
    input: "any graph; directions are ignored, weights are finite and 0 or more",
    reads_weights: true,
    parameters: PARAMETERS,
    result: ResultColumn { name: "community", kind: ResultKind::Communities },
    steps: "passes",
    cost: "O(edges) for each of a few rounds",
    // A copy of the graph, 12 bytes for each end of an edge; graphs of joined nodes, in lists that grow; some
    // numbers for each node.
    memory: Memory { per_edge: 80, per_thread: 0, ..Memory::per_id(128) },
    cited: "V. Traag, L. Waltman, N. J. van Eck, *From Louvain to Leiden: guaranteeing well-connected communities*, Scientific \
            Reports 9, 5233, 2019",
    ..Kernel::named("leiden", "leiden")
};

// Communities by Leiden's method have about the modularity of Louvain's, or a higher one.
functions!(
    Outcome::Communities,
    read,
    |g, config, cancel| leiden_until(g, &config, cancel),
    verify::louvain(g, config.resolution)
);

kernel! {
    /// Finds communities by Leiden's method.
    ///
    /// # Errors
    /// The errors of [`louvain`](crate::louvain()).
    ///
    /// # Cost
    /// See the [module](self); runs in the calling thread.
    pub fn leiden, leiden_until<G: WeightedTopology>(g, config: &CommunityConfig; cancel) -> Communities {
        find(g, config, cancel, pass)
    }
}

/// Moves nodes, divides communities and joins parts, beginning with the given communities, until no more
/// parts join.
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
        let mut mover = Mover::new(graph, resolution, cancel);
        mover.improve(&mut community, seed)?;
        let mut part = mover.refine(&community, seed)?;
        let count = renumber(&mut part);
        if count == graph.len() {
            break;
        }
        // Each part is within one community, so any of its nodes shows which.
        let mut of_part = vec![0; count];
        part.iter().zip(&community).for_each(|(&part, &community)| of_part[part as usize] = community);
        renumber_within(&mut of_part);
        node.iter_mut().for_each(|node| *node = part[*node as usize]);
        joined = Some(graph.joined(&part, count));
        community = of_part;
    }
    drop(joined);
    node.iter_mut().for_each(|node| *node = community[*node as usize]);
    Ok(split(whole, &node))
}

/// Numbers communities from 0 on: there are no more communities than parts.
fn renumber_within(community: &mut [u32]) {
    let mut numbers = std::collections::HashMap::new();
    for community in community {
        let next = numbers.len() as u32;
        *community = *numbers.entry(*community).or_insert(next);
    }
}

/// Returns the communities after dividing each disconnected one into connected ones.
fn split(graph: &Weighted, community: &[u32]) -> Vec<u32> {
    let mut part = vec![u32::MAX; graph.len()];
    let mut stack = Vec::new();
    for first in 0..graph.len() {
        if part[first] != u32::MAX {
            continue;
        }
        part[first] = first as u32;
        stack.push(first);
        while let Some(u) = stack.pop() {
            for (v, _) in graph.row(u) {
                if part[v] == u32::MAX && community[v] == community[u] {
                    part[v] = first as u32;
                    stack.push(v);
                }
            }
        }
    }
    part
}
