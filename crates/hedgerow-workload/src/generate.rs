//! Seeded random graphs: Graph500 Kronecker and uniform.
//!
//! Edges are drawn in groups of fixed size, each group from its own random stream, so that the graph does not
//! depend on the number of threads.

use rayon::prelude::*;

use crate::rng::Rng;

#[cfg(test)]
mod tests;

/// The edges of an undirected or a directed graph over the ids `0..vertices`.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeList {
    /// The bound of ids.
    pub vertices: usize,
    /// True if `(u, v)` goes from `u` to `v` only.
    pub directed: bool,
    /// The edges.
    pub edges: Vec<(u32, u32)>,
}

/// The largest scale: 2^scale vertices must fit into 32-bit ids.
pub const MAX_SCALE: u32 = 31;

/// The number of edges drawn from one random stream.
const BLOCK_EDGES: u64 = 1 << 14;

/// Returns a Graph500 Kronecker graph with 2^`scale` vertices. 2^`scale` · `edge_factor` edges are drawn with
/// A = .57, B = C = .19, D = .05; ids are permuted, self-loops and repetitions dropped. The graph is
/// undirected, each edge once as `(u, v)` with u < v, ascending. Runs in parallel; the memory is twice 8
/// bytes per edge drawn.
///
/// `scale` above [`MAX_SCALE`] is taken as [`MAX_SCALE`].
pub fn kron(scale: u32, edge_factor: u32, seed: u64) -> EdgeList {
    let scale = scale.min(MAX_SCALE);
    let ids = permutation(1 << scale, seed);
    undirected(scale, edge_factor, seed, |rng| {
        let (u, v) = kron_pair(scale, rng);
        (ids[u as usize], ids[v as usize])
    })
}

/// Returns a uniform (Erdős–Rényi) graph of the sizes of [`kron`]: both ends of each drawn edge are uniform.
/// Self-loops and repetitions are dropped.
pub fn uniform(scale: u32, edge_factor: u32, seed: u64) -> EdgeList {
    let scale = scale.min(MAX_SCALE);
    undirected(scale, edge_factor, seed, |rng| {
        let bits = rng.next_u64();
        ((bits >> (64 - scale.max(1))) as u32 >> u32::from(scale == 0), bits as u32 & ((1u32 << scale) - 1))
    })
}

/// Permutes `items`. The same seed and length give the same permutation.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut rng = Rng::part(seed, 0x5348_5546);
    for i in (1..items.len()).rev() {
        items.swap(i, rng.below(i as u64 + 1) as usize);
    }
}

/// Returns the numbers below `count` in random order.
fn permutation(count: u32, seed: u64) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..count).collect();
    shuffle(&mut ids, seed);
    ids
}

/// Draws one edge by descending the `scale` levels of the Kronecker product; two levels per 64 random bits.
fn kron_pair(scale: u32, rng: &mut Rng) -> (u32, u32) {
    const A: u32 = (0.57 * 4294967296.0) as u32;
    const AB: u32 = (0.76 * 4294967296.0) as u32;
    const ABC: u32 = (0.95 * 4294967296.0) as u32;
    let (mut u, mut v) = (0, 0);
    let mut bits = 0;
    for level in 0..scale {
        if level % 2 == 0 {
            bits = rng.next_u64();
        } else {
            bits >>= 32;
        }
        let draw = bits as u32;
        // The quadrants in order A, B, C, D: the row bit is set in C and D, the column bit in B and D.
        let down = draw >= AB;
        let right = (draw >= A && !down) || draw >= ABC;
        u = u << 1 | u32::from(down);
        v = v << 1 | u32::from(right);
    }
    (u, v)
}

fn undirected(
    scale: u32,
    edge_factor: u32,
    seed: u64,
    draw: impl Fn(&mut Rng) -> (u32, u32) + Sync,
) -> EdgeList {
    let drawn = u64::from(edge_factor) << scale;
    let mut packed: Vec<u64> = vec![0; drawn as usize];
    hedgerow_par::for_each(packed.par_chunks_mut(BLOCK_EDGES as usize).enumerate(), |(block, edges)| {
        let mut rng = Rng::part(seed, block as u64 + 1);
        for edge in edges {
            let (u, v) = draw(&mut rng);
            *edge = u64::from(u.min(v)) << 32 | u64::from(u.max(v));
        }
    });
    hedgerow_par::sort_unstable(&mut packed);
    packed.dedup();
    packed.retain(|&edge| (edge >> 32) as u32 != edge as u32);
    let edges = hedgerow_par::fine::map(packed.par_iter(), |&edge| ((edge >> 32) as u32, edge as u32));
    EdgeList { vertices: 1 << scale, directed: false, edges }
}
