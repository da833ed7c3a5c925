//! The common parts of kernels that find communities: the graph in memory with weights both ways, moving
//! vertices between communities, and joining the vertices of a community into one.
//!
//! The *modularity* of communities is `Σ (inside(C) / T - γ · (degrees(C) / T)²)`. Here `degrees(C)` are the
//! weights of the edges at the vertices of C, an edge within C counting twice. `inside(C)` is the part of
//! these weights that is within C, `T` the sum of `degrees` over all communities, and `γ` the resolution.
//! Edges drawn at random with the same degrees give 0; communities give more.

mod config;
mod graph;
pub mod leiden;
pub mod louvain;
mod moving;
pub mod verify;

pub use config::CommunityConfig;

use graph::Weighted;

use hedgerow_core::{Topology, VertexId, WeightedTopology};

use crate::cancel::Cancel;
use crate::error::checked_bound;
use crate::{Communities, KernelError, NO_COMPONENT};

/// Returns the modularity of given communities with any labels; 0 without edges.
///
/// # Errors
/// [`KernelError::Weight`] and [`KernelError::OutOfRange`] for a weight that is negative, infinite or not a
/// number; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices + edges), and as much memory as the kernels that find communities.
pub fn modularity<G: WeightedTopology>(
    g: &G,
    labels: &[u32],
    resolution: f64,
) -> Result<f64, KernelError<G::Error>> {
    Ok(Weighted::of(g, &Cancel::new())?.modularity(labels, resolution))
}

/// Names communities by their least vertices. `community` returns a number below the number of ids.
fn named<G: Topology>(g: &G, community: impl Fn(usize) -> u32) -> Vec<u32> {
    let bound = g.vertex_bound();
    let mut least = vec![NO_COMPONENT; bound];
    let name = |v: usize| {
        if !g.contains(VertexId(v as u32)) {
            return NO_COMPONENT;
        }
        let slot = &mut least[community(v) as usize];
        *slot = (*slot).min(v as u32);
        *slot
    };
    (0..bound).map(name).collect()
}

/// Returns the best communities that passes over `g` find. `pass` improves given communities of the graph in
/// memory, with a seed.
fn find<G: WeightedTopology>(
    g: &G,
    config: &CommunityConfig,
    cancel: &Cancel,
    pass: impl Fn(&Weighted, Vec<u32>, f64, u64, &Cancel) -> Result<Vec<u32>, KernelError<G::Error>>,
) -> Result<Communities, KernelError<G::Error>> {
    config.check()?;
    checked_bound(g.vertex_bound())?;
    let whole = Weighted::of(g, cancel)?;
    let pass = |start: Vec<u32>, seed| pass(&whole, start, config.resolution, seed, cancel);
    let (community, modularity) = best(&whole, config, cancel, pass)?;
    Ok(Communities { labels: named(g, |v| community[v]), modularity })
}

/// The most row entries that one pass in each order may read, added up over all orders: the larger a graph
/// is, the fewer orders are tried.
const LARGE: usize = 1 << 17;
/// The most orders that are tried.
const MOST_ORDERS: usize = 8;
/// The most passes with one order; each begins with the communities of the pass before.
const MOST_PASSES: usize = 3;
/// The most passes over a graph for which one order is tried.
const MOST_PASSES_OF_LARGE: usize = 2;
/// The least gain of a pass; a pass that gains less is the last one.
const LEAST_GAIN: f64 = 1e-4;

/// Returns the best communities of several orders, and their modularity; a large graph is tried in one order.
/// `pass` improves communities.
fn best<E>(
    whole: &Weighted,
    config: &CommunityConfig,
    cancel: &Cancel,
    pass: impl Fn(Vec<u32>, u64) -> Result<Vec<u32>, KernelError<E>>,
) -> Result<(Vec<u32>, f64), KernelError<E>> {
    let alone = || (0..whole.len() as u32).collect::<Vec<u32>>();
    let mut best: Option<(Vec<u32>, f64)> = None;
    let orders = (LARGE / (whole.places() + 1)).clamp(1, MOST_ORDERS);
    let passes = if orders == 1 { MOST_PASSES_OF_LARGE } else { MOST_PASSES };
    cancel.begin((orders * passes) as u64);
    for order in 0..orders as u64 {
        let (mut community, mut modularity) = (alone(), f64::NEG_INFINITY);
        for _ in 0..passes {
            community = pass(community, config.seed.wrapping_add(order << 32))?;
            cancel.check()?;
            cancel.step(1);
            let before = std::mem::replace(&mut modularity, whole.modularity(&community, config.resolution));
            if modularity < before + LEAST_GAIN {
                break;
            }
        }
        if best.as_ref().is_none_or(|(_, known)| modularity > *known) {
            best = Some((community, modularity));
        }
    }
    Ok(best.unwrap_or_else(|| (alone(), 0.0)))
}
