//! Labels by counting all labels around each vertex.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, Resident, VertexId};

use crate::NO_COMPONENT;

/// Returns the labels after some iterations; counts the labels around each vertex in a table. O(iterations ·
/// edges · log degree).
pub fn label_propagation<G: Resident>(g: &G, iterations: u32) -> Vec<u32> {
    let ids = || (0..g.vertex_bound() as u32).map(VertexId);
    let mut labels: Vec<u32> = ids().map(|v| if g.contains(v) { v.0 } else { NO_COMPONENT }).collect();
    for _ in 0..iterations {
        let label = |v: VertexId| {
            let into = g.is_directed().then(|| g.neighbors(v, Direction::In));
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for u in g.neighbors(v, Direction::Out).iter().chain(into.into_iter().flatten()) {
                *counts.entry(labels[u.index()]).or_default() += 1;
            }
            let most = counts.iter().max_by_key(|&(&label, &count)| (count, std::cmp::Reverse(label)));
            most.map_or(labels[v.index()], |(&label, _)| label)
        };
        labels = ids().map(label).collect();
    }
    labels
}
