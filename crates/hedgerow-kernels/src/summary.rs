//! Short answers from long results.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hedgerow_core::{Topology, VertexId};

/// Returns the number of components in a result of [`wcc`](crate::wcc()): the vertices that name one.
/// O(vertices).
pub fn count_components(components: &[u32]) -> usize {
    components.iter().zip(0u32..).filter(|&(&component, v)| component == v).count()
}

/// Returns the `k` live vertices with the highest scores, best first, equal scores by ascending id; fewer if
/// the graph has fewer. `scores` is indexed by vertex id; ids beyond its end are left out. O(vertices + k log
/// k).
pub fn top_k<G: Topology>(g: &G, scores: &[f64], k: usize) -> Vec<(VertexId, f64)> {
    let live =
        (0u32..).zip(scores).filter(|&(v, _)| (v as usize) < g.vertex_bound() && g.contains(VertexId(v)));
    let mut best: Vec<(VertexId, f64)> = live.map(|(v, &score)| (VertexId(v), score)).collect();
    let order = |a: &(VertexId, f64), b: &(VertexId, f64)| -> Ordering {
        b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0))
    };
    if k == 0 {
        return Vec::new();
    }
    if k < best.len() {
        best.select_nth_unstable_by(k - 1, order);
        best.truncate(k);
    }
    best.sort_unstable_by(order);
    best
}

/// Counts how often each number occurs, ascending by number. O(numbers · log of different numbers).
pub fn histogram(numbers: impl IntoIterator<Item = u32>) -> Vec<(u32, u64)> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for number in numbers {
        *counts.entry(number).or_default() += 1;
    }
    counts.into_iter().collect()
}
