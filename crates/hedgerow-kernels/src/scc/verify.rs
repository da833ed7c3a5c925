//! Components by the vertices that each vertex reaches.

use hedgerow_core::{Direction, Resident, VertexId};

use crate::NO_COMPONENT;

/// Returns strongly connected components by two depth-first searches (S. R. Kosaraju; M. Sharir, 1981): the
/// first along the edges, for an order; the second against the edges, from the last vertex of the order on.
/// Components are named by their least vertex; [`NO_COMPONENT`] for holes. O(vertices + edges).
pub fn scc<G: Resident>(g: &G) -> Vec<u32> {
    let bound = g.vertex_bound();
    let mut order = Vec::new();
    let mut seen = vec![false; bound];
    for v in (0..bound as u32).filter(|&v| g.contains(VertexId(v))) {
        search(g, v, Direction::Out, &mut seen, &mut order);
    }
    let mut components = vec![NO_COMPONENT; bound];
    seen.fill(false);
    for &v in order.iter().rev() {
        let mut component = Vec::new();
        search(g, v, Direction::In, &mut seen, &mut component);
        if let Some(&least) = component.iter().min() {
            component.iter().for_each(|&u| components[u as usize] = least);
        }
    }
    components
}

/// Adds the unseen vertices that `source` reaches to `left` in postorder: each after the vertices found from
/// it.
fn search<G: Resident>(g: &G, source: u32, direction: Direction, seen: &mut [bool], left: &mut Vec<u32>) {
    if std::mem::replace(&mut seen[source as usize], true) {
        return;
    }
    let mut path = vec![(source, g.neighbors(VertexId(source), direction).iter())];
    while let Some((v, rest)) = path.last_mut() {
        match rest.next() {
            None => {
                left.push(*v);
                path.pop();
            }
            Some(u) if !std::mem::replace(&mut seen[u.index()], true) => {
                path.push((u.0, g.neighbors(u, direction).iter()));
            }
            Some(_) => {}
        }
    }
}
