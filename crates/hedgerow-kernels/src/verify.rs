//! Slow answers from first principles, to check the kernels against: single-threaded, textbook algorithms that share
//! no code with them.

use std::collections::{BTreeSet, VecDeque};

use hedgerow_core::{Direction, Topology, VertexId, WeightedTopology};

use crate::{NO_COMPONENT, UNREACHED};

/// Depths by one queue. All [`UNREACHED`] if `source` is not live.
pub fn bfs<G: Topology>(g: &G, source: VertexId, direction: Direction) -> Vec<u32> {
    let mut depth = vec![UNREACHED; g.vertex_bound()];
    let mut queue = VecDeque::new();
    if source.index() < depth.len() && g.contains(source) {
        depth[source.index()] = 0;
        queue.push_back(source);
    }
    while let Some(u) = queue.pop_front() {
        for v in g.neighbors(u, direction).iter() {
            if depth[v.index()] == UNREACHED {
                depth[v.index()] = depth[u.index()] + 1;
                queue.push_back(v);
            }
        }
    }
    depth
}

/// PageRank as the Graphalytics specification writes it: every vertex pushes its share to its out-neighbours.
pub fn pagerank<G: Topology>(g: &G, damping: f64, iterations: u32) -> Vec<f64> {
    let live: Vec<VertexId> = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect();
    let n = live.len() as f64;
    let mut scores = vec![0.0; g.vertex_bound()];
    live.iter().for_each(|v| scores[v.index()] = 1.0 / n);
    for _ in 0..iterations {
        let mut received = vec![0.0; g.vertex_bound()];
        let mut dangling = 0.0;
        for &u in &live {
            let neighbors = g.neighbors(u, Direction::Out);
            if neighbors.is_empty() {
                dangling += scores[u.index()];
            }
            for v in neighbors.iter() {
                received[v.index()] += scores[u.index()] / neighbors.len() as f64;
            }
        }
        for &v in &live {
            scores[v.index()] = (1.0 - damping) / n + damping * (received[v.index()] + dangling / n);
        }
    }
    scores
}

/// Components by union-find over every edge, named by their least vertex; [`NO_COMPONENT`] for holes.
pub fn wcc<G: Topology>(g: &G) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..g.vertex_bound() as u32).collect();
    fn find(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for u in 0..g.vertex_bound() as u32 {
        for v in g.neighbors(VertexId(u), Direction::Out).iter() {
            let (a, b) = (find(&mut parent, u), find(&mut parent, v.0));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    (0..g.vertex_bound() as u32)
        .map(|v| if g.contains(VertexId(v)) { find(&mut parent, v) } else { NO_COMPONENT })
        .collect()
}

/// Distances by Dijkstra's algorithm, with the vertices that were reached in a set ordered by distance. Edges with a
/// negative weight are not crossed. All infinite if `source` is not live.
pub fn sssp<G: WeightedTopology>(g: &G, source: VertexId, direction: Direction) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; g.vertex_bound()];
    // The bits of distances are ordered as the distances are.
    let mut open = BTreeSet::new();
    if source.index() < distance.len() && g.contains(source) {
        distance[source.index()] = 0.0;
        open.insert((0u64, source));
    }
    while let Some((bits, u)) = open.pop_first() {
        g.weighted_neighbors(u, direction).for_each_sorted(|v, weight| {
            let through_u = f64::from_bits(bits) + weight;
            let known = &mut distance[v.index()];
            if weight >= 0.0 && through_u < *known {
                open.remove(&(known.to_bits(), v));
                *known = through_u;
                open.insert((through_u.to_bits(), v));
            }
        });
    }
    distance
}

/// Triangles by asking for every two neighbours of every vertex whether they are joined. O(vertices · degree²).
pub fn triangle_count<G: Topology>(g: &G) -> u64 {
    let joined = |u: VertexId, v: VertexId| {
        g.neighbors(u, Direction::Out).contains(v) || g.neighbors(v, Direction::Out).contains(u)
    };
    let mut found = 0;
    for u in (0..g.vertex_bound() as u32).map(VertexId) {
        let both = g.neighbors(u, Direction::Out).iter().chain(g.neighbors(u, Direction::In).iter());
        let later: Vec<VertexId> = both.filter(|&v| v > u).collect::<BTreeSet<_>>().into_iter().collect();
        for (i, &v) in later.iter().enumerate() {
            found += later[i + 1..].iter().filter(|&&w| joined(v, w)).count() as u64;
        }
    }
    found
}

/// Whether two labellings put the same vertices together, whatever the labels are.
pub fn same_partition(a: &[u32], b: &[u32]) -> bool {
    let mut forth = std::collections::HashMap::new();
    let mut back = std::collections::HashMap::new();
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(&x, &y)| *forth.entry(x).or_insert(y) == y && *back.entry(y).or_insert(x) == x)
}
