//! The vertices within some hops, by one set after another.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId};

use crate::UNREACHED;

/// Returns hops: each set has the neighbours of the set before that no earlier set holds. All [`UNREACHED`]
/// if `source` is not live.
pub fn k_hop_neighborhood<G: Resident>(g: &G, source: VertexId, hops: u32, direction: Direction) -> Vec<u32> {
    let mut found = vec![UNREACHED; g.vertex_bound()];
    let is_live = source.index() < g.vertex_bound() && g.contains(source);
    let mut ring: BTreeSet<VertexId> = is_live.then_some(source).into_iter().collect();
    let mut distance = 0;
    while !ring.is_empty() && distance <= hops {
        ring.iter().for_each(|v| found[v.index()] = distance);
        let around = ring.iter().flat_map(|&v| g.neighbors(v, direction).iter().collect::<Vec<_>>());
        ring = around.filter(|v| found[v.index()] == UNREACHED).collect();
        distance += 1;
    }
    found
}
