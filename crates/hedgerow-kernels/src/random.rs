//! Random choices of kernels: streams fixed by a seed, so that a result does not depend on threads.
//!
//! SplitMix64 (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014):
//! its state is a counter, so that a stream for each vertex or walk costs nothing to begin.

use hedgerow_core::{Topology, VertexId};

/// A stream of random numbers.
#[derive(Clone)]
pub(crate) struct Random {
    state: u64,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// Returns the `part`-th of many streams of `seed`.
    #[inline]
    pub(crate) fn new(seed: u64, part: u64) -> Random {
        Random { state: mix(mix(seed.wrapping_add(STEP)) ^ part.wrapping_mul(0xD134_2543_DE82_EF95)) }
    }

    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Returns a number below `bound`, or 0 if that is 0; its bias is below `bound` / 2^64.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Returns a number in 0 to 1, 1 excluded.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns `count` live vertices, each set of them as likely as any other, ascending; all live vertices if
/// there are no more. O(vertices).
pub(crate) fn sample_of_live<G: Topology>(g: &G, count: usize, seed: u64) -> Vec<VertexId> {
    let mut live: Vec<VertexId> = Vec::with_capacity(g.vertex_count());
    live.extend((0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)));
    sample_of(live, count, seed)
}

/// Returns `count` of the vertices `all`, which ascend, chosen as by [`sample_of_live`].
pub(crate) fn sample_of(mut all: Vec<VertexId>, count: usize, seed: u64) -> Vec<VertexId> {
    if count >= all.len() {
        return all;
    }
    let mut random = Random::new(seed, 0);
    for at in 0..count {
        let other = at + random.below(all.len() - at);
        all.swap(at, other);
    }
    all.truncate(count);
    all.shrink_to_fit();
    all.sort_unstable();
    all
}
