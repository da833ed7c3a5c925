//! Core numbers by taking away one vertex of least degree after another.

use hedgerow_core::{Direction, Resident, VertexId};

/// Returns core numbers: takes away, again and again, the vertex with the fewest edges to the remaining
/// vertices. O(vertices² + edges).
pub fn core_numbers<G: Resident>(g: &G) -> Vec<u32> {
    let around = |v: VertexId| {
        let into = g.is_directed().then(|| g.neighbors(v, Direction::In));
        g.neighbors(v, Direction::Out).iter().chain(into.into_iter().flatten()).filter(move |&u| u != v)
    };
    let bound = g.vertex_bound();
    let mut degrees: Vec<usize> = (0..bound as u32).map(|v| around(VertexId(v)).count()).collect();
    let mut left: Vec<usize> = (0..bound).filter(|&v| g.contains(VertexId(v as u32))).collect();
    let (mut cores, mut level) = (vec![0; bound], 0);
    let mut is_left = vec![true; bound];
    while let Some(at) = (0..left.len()).min_by_key(|&at| degrees[left[at]]) {
        let v = left.swap_remove(at);
        level = level.max(degrees[v]);
        cores[v] = level as u32;
        is_left[v] = false;
        around(VertexId(v as u32)).filter(|u| is_left[u.index()]).for_each(|u| degrees[u.index()] -= 1);
    }
    cores
}
