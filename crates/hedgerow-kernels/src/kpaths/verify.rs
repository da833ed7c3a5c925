//! Simple paths by their lengths, by extending the one that can become the shortest.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::lengths::{Lengths, Weights};
use crate::par::reverse;
use crate::paths::Paths;

/// Returns the `k` shortest paths. All beginnings of paths wait in a set ordered by the best length that they
/// can reach; on equal length the longer beginning comes first.
pub fn k_shortest_paths<G: WeightedTopology + Resident>(
    g: &G,
    source: VertexId,
    target: VertexId,
    k: usize,
    direction: Direction,
) -> Paths {
    let far = Weights.distances(g, target, reverse(direction));
    let mut waiting = BTreeSet::new();
    if far[source.index()] < f64::INFINITY {
        waiting.insert((far[source.index()].to_bits(), usize::MAX, vec![source], 0.0f64.to_bits()));
    }
    let mut paths = Paths::new();
    while let Some((_, left, path, bits)) = waiting.pop_first() {
        let (length, Some(&u)) = (f64::from_bits(bits), path.last()) else { continue };
        if u == target {
            if paths.len() == k {
                paths.stop();
                break;
            }
            paths.push(&path, length);
            continue;
        }
        let mut next = Weights.list(g, u, direction);
        next.dedup_by_key(|(v, _)| *v);
        for (v, weight) in next {
            let whole = length + weight + far[v.index()];
            if weight >= 0.0 && whole < f64::INFINITY && !path.contains(&v) {
                let longer = path.iter().copied().chain([v]).collect();
                waiting.insert((whole.to_bits(), left - 1, longer, (length + weight).to_bits()));
            }
        }
    }
    paths
}
