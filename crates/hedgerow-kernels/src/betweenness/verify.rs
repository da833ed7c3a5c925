//! Betweenness by Brandes' algorithm as he wrote it: a queue, a stack and lists of predecessors.

use std::collections::VecDeque;

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns the sum of the contributions of all `sources`, times `scale`. The sources are live.
pub fn betweenness<G: Resident>(g: &G, sources: &[VertexId], scale: f64) -> Vec<f64> {
    let mut score = vec![0.0; g.vertex_bound()];
    for &source in sources {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); g.vertex_bound()];
        let mut paths = vec![0.0; g.vertex_bound()];
        let mut distance: Vec<Option<usize>> = vec![None; g.vertex_bound()];
        let (mut queue, mut stack) = (VecDeque::from([source]), Vec::new());
        (paths[source.index()], distance[source.index()]) = (1.0, Some(0));
        while let Some(u) = queue.pop_front() {
            stack.push(u.index());
            let behind = distance[u.index()].map(|hops| hops + 1);
            for v in g.neighbors(u, Direction::Out).iter() {
                if distance[v.index()].is_none() {
                    distance[v.index()] = behind;
                    queue.push_back(v);
                }
                if distance[v.index()] == behind {
                    paths[v.index()] += paths[u.index()];
                    before[v.index()].push(u.index());
                }
            }
        }
        let mut dependency = vec![0.0; g.vertex_bound()];
        while let Some(v) = stack.pop() {
            for &u in &before[v] {
                dependency[u] += paths[u] / paths[v] * (1.0 + dependency[v]);
            }
            if v != source.index() {
                score[v] += dependency[v];
            }
        }
    }
    score.iter().map(|score| score * scale).collect()
}
