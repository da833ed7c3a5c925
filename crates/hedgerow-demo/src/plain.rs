//! Textbook algorithms on the plain CSR. They share no code with the kernels, so that the store's answers can
//! be compared with theirs.

use std::collections::{HashMap, VecDeque};

use hedgerow::{Direction, Resident, Topology, VertexId};
use hedgerow_workload::Csr;

/// Returns the number of hops from `source` to each vertex, found with a queue; `None` if it is not
/// reachable.
pub(crate) fn depths(graph: &Csr, source: VertexId) -> Vec<Option<u32>> {
    let mut depths = vec![None; graph.vertex_bound()];
    depths[source.index()] = Some(0);
    let mut queue = VecDeque::from([(source, 0)]);
    while let Some((vertex, depth)) = queue.pop_front() {
        for neighbor in graph.neighbors(vertex, Direction::Out).iter() {
            if depths[neighbor.index()].is_none() {
                depths[neighbor.index()] = Some(depth + 1);
                queue.push_back((neighbor, depth + 1));
            }
        }
    }
    depths
}

/// Returns a label for each vertex, equal within a component, by searching in both directions.
pub(crate) fn components(graph: &Csr) -> Vec<u32> {
    let mut labels = vec![None; graph.vertex_bound()];
    for first in 0..labels.len() as u32 {
        let mut found = vec![VertexId(first)];
        while let Some(vertex) = found.pop() {
            if labels[vertex.index()].is_none() {
                labels[vertex.index()] = Some(first);
                found.extend(graph.neighbors(vertex, Direction::Out).iter());
                found.extend(graph.neighbors(vertex, Direction::In).iter());
            }
        }
    }
    labels.into_iter().flatten().collect()
}

/// Returns PageRank scores by the formula. Each vertex adds its share along its edges.
pub(crate) fn ranks(graph: &Csr, damping: f64, iterations: u32) -> Vec<f64> {
    let vertices = || (0..graph.vertex_bound() as u32).map(VertexId);
    let count = graph.vertex_bound() as f64;
    let mut scores = vec![1.0 / count; graph.vertex_bound()];
    for _ in 0..iterations {
        let mut received = vec![0.0; scores.len()];
        let mut dangling = 0.0;
        for vertex in vertices() {
            let neighbors = graph.neighbors(vertex, Direction::Out);
            if neighbors.is_empty() {
                dangling += scores[vertex.index()];
            }
            let share = scores[vertex.index()] / neighbors.len() as f64;
            neighbors.iter().for_each(|neighbor| received[neighbor.index()] += share);
        }
        for (score, received) in scores.iter_mut().zip(received) {
            *score = (1.0 - damping) / count + damping * (received + dangling / count);
        }
    }
    scores
}

/// True if two labellings group the vertices equally. The labels themselves may differ.
pub(crate) fn same_groups(a: &[u32], b: &[u32]) -> bool {
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    let mut agree = |(&a, &b)| *forth.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a;
    a.len() == b.len() && a.iter().zip(b).all(&mut agree)
}
