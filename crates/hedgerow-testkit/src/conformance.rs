//! What every graph that kernels run on must answer: [`Topology`] and [`WeightedTopology`] against plain sets.

use std::collections::BTreeMap;

use hedgerow_core::{
    Block, Direction, InterpolationHint, Neighbors, SUBGRAPH_VERTICES, SubgraphId, VertexId, WeightedBlock,
    WeightedTopology,
};

/// A graph as plain as it can be.
#[derive(Clone, Debug, Default)]
pub struct PlainGraph {
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether edges have weights; if not, all weigh 1.
    pub weighted: bool,
    /// Which ids are live; all beyond are not.
    pub live: Vec<bool>,
    /// Weights of edges; of an undirected graph under the smaller end first.
    pub edges: BTreeMap<(u32, u32), f64>,
}

impl PlainGraph {
    /// The neighbours of every vertex in one direction, with weights, ascending.
    fn lists(&self, direction: Direction) -> Vec<Vec<(u32, f64)>> {
        let mut lists = vec![BTreeMap::new(); self.live.len()];
        for (&(u, v), &weight) in &self.edges {
            let (from, to) = if direction == Direction::Out { (u, v) } else { (v, u) };
            lists[from as usize].insert(to, weight);
            if !self.directed {
                lists[to as usize].insert(from, weight);
            }
        }
        lists.into_iter().map(|list| list.into_iter().collect()).collect()
    }
}

/// Asks `g` everything about every id, and some beyond.
///
/// # Panics
/// At the first answer that differs from `expected`.
pub fn check<G: WeightedTopology>(g: &G, expected: &PlainGraph) {
    let ids = expected.live.len();
    let live = |v: usize| expected.live.get(v).copied().unwrap_or(false);
    let last_live = expected.live.iter().rposition(|&live| live).map_or(0, |v| v + 1);
    assert!((last_live..=ids).contains(&g.vertex_bound()), "bound {}", g.vertex_bound());
    assert_eq!(g.vertex_count(), expected.live.iter().filter(|&&live| live).count());
    assert_eq!(g.edge_count(), expected.edges.len() as u64);
    assert_eq!((g.is_directed(), g.has_weights()), (expected.directed, expected.weighted));
    for v in (0..ids + 200).chain([VertexId::MAX.index()]) {
        assert_eq!(g.contains(VertexId(v as u32)), live(v), "vertex {v}");
    }
    for direction in [Direction::Out, Direction::In] {
        let lists = expected.lists(direction);
        for subgraph in (0..(ids.div_ceil(SUBGRAPH_VERTICES) + 3) as u32).map(SubgraphId) {
            let (block, weighted) = (g.block(subgraph, direction), g.weighted_block(subgraph, direction));
            for local in (0..SUBGRAPH_VERTICES as u8).map(hedgerow_core::LocalVertex) {
                let v = subgraph.vertex(local);
                let list = lists.get(v.index()).map_or(&[][..], Vec::as_slice);
                check_list(g.neighbors(v, direction), list);
                check_list(block.neighbors(local), list);
                assert_eq!(g.degree(v, direction), list.len(), "{v:?}");
                if block.neighbors(local).as_slice().is_some() {
                    assert_eq!(g.degree_estimate(v, direction), list.len(), "{v:?}");
                }
                if let Some(main) = block.main(local) {
                    assert!(main.iter().all(|u| list.iter().any(|x| x.0 == u.0)), "main of {v:?}");
                }
                for neighbors in [g.weighted_neighbors(v, direction), weighted.weighted_neighbors(local)] {
                    let mut found = Vec::new();
                    neighbors.for_each_sorted(|u, weight| found.push((u.0, weight)));
                    assert_eq!(found, list, "weights at {v:?}");
                    found.clear();
                    neighbors.for_each(|u, weight| found.push((u.0, weight)));
                    found.sort_by_key(|x| x.0);
                    assert_eq!(found, list, "weights at {v:?} in any order");
                }
            }
        }
    }
}

fn check_list(neighbors: Neighbors<'_>, list: &[(u32, f64)]) {
    let expected: Vec<u32> = list.iter().map(|x| x.0).collect();
    assert_eq!(neighbors.iter().map(|u| u.0).collect::<Vec<_>>(), expected);
    assert_eq!((neighbors.len(), neighbors.is_empty()), (expected.len(), expected.is_empty()));
    for u in [0, 1, 63, 64, u32::MAX - 1].into_iter().chain(expected.iter().copied()) {
        for hint in
            [InterpolationHint::UNKNOWN, InterpolationHint::over(100), InterpolationHint::over(u32::MAX)]
        {
            assert_eq!(neighbors.contains_near(VertexId(u), hint), expected.contains(&u));
        }
    }
    if let Some(slice) = neighbors.as_slice() {
        assert!(slice.iter().map(|u| u.0).eq(expected.iter().copied()));
    }
}
