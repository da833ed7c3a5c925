//! Components by union-find.

use hedgerow_core::{Direction, Resident, VertexId};

use super::NO_COMPONENT;

/// Returns components by union-find over every edge, named by their least vertex; [`NO_COMPONENT`] for holes.
pub fn wcc<G: Resident>(g: &G) -> Vec<u32> {
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
