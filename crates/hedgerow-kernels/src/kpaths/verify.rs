//! Simple paths by their lengths, by extending the one that can become the shortest.

use std::collections::{BTreeSet, VecDeque};

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::paths::Paths;

/// Calls `f` with each neighbour and weight.
fn each<G: WeightedTopology>(g: &G, u: VertexId, direction: Direction, mut f: impl FnMut(VertexId, f64)) {
    let _ = g.visit_weighted([u], direction, |_, run, weights| {
        let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
        run.iter().zip(weights).for_each(|(&v, weight)| f(v, weight));
    });
}

/// Returns the distance of each vertex to `target`, by relaxing edges until nothing improves.
fn far_from<G: WeightedTopology>(g: &G, target: VertexId, direction: Direction) -> Vec<f64> {
    let mut far = vec![f64::INFINITY; g.vertex_bound()];
    let mut queue = VecDeque::from([target]);
    far[target.index()] = 0.0;
    while let Some(u) = queue.pop_front() {
        each(g, u, direction, |v, weight| {
            if weight >= 0.0 && far[u.index()] + weight < far[v.index()] {
                far[v.index()] = far[u.index()] + weight;
                queue.push_back(v);
            }
        });
    }
    far
}

/// Returns the `k` shortest paths. All beginnings of paths wait in a set ordered by the best length that they
/// can reach; on equal length the longer beginning comes first.
pub fn k_shortest_paths<G: WeightedTopology + Resident>(
    g: &G,
    source: VertexId,
    target: VertexId,
    k: usize,
    direction: Direction,
) -> Paths {
    let against = if direction == Direction::Out { Direction::In } else { Direction::Out };
    let far = far_from(g, target, against);
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
        let mut next: Vec<(VertexId, f64)> = Vec::new();
        each(g, u, direction, |v, weight| next.push((v, weight)));
        next.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
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
