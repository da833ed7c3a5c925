//! Checks of every graph type that kernels use: they compare [`Topology`](hedgerow_core::Topology) and
//! [`WeightedTopology`] with plain sets. [`files`] has the checks of every file system.

pub mod dynamic;
pub mod files;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hedgerow_core::{
    Block, Direction, InterpolationHint, LocalVertex, Neighbors, Resident, SUBGRAPH_VERTICES, SubgraphId,
    VertexId, WeightedTopology,
};

/// A graph in its simplest form.
#[derive(Clone, Debug, Default)]
pub struct PlainGraph {
    /// True if edges have a direction.
    pub directed: bool,
    /// True if edges have weights; otherwise every weight is 1.
    pub weighted: bool,
    /// True for live ids. Ids beyond the end are not live.
    pub live: Vec<bool>,
    /// The weights of edges, by source and destination. In an undirected graph the smaller endpoint is first.
    pub edges: BTreeMap<(u32, u32), f64>,
}

impl PlainGraph {
    /// Returns the neighbours of every vertex in one direction, with weights, in ascending order.
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

/// Checks all answers of `g` for every id, and for some ids beyond the end.
///
/// # Panics
/// If an answer differs from `expected`.
pub fn check<G: WeightedTopology + Resident>(g: &G, expected: &PlainGraph) {
    check_runs(g, expected);
    for direction in [Direction::Out, Direction::In] {
        let lists = expected.lists(direction);
        for v in (0..end(expected).0 * SUBGRAPH_VERTICES as u32).map(VertexId) {
            let list = lists.get(v.index()).map_or(&[][..], Vec::as_slice);
            let neighbors = g.neighbors(v, direction);
            check_list(neighbors, list);
            assert_eq!(g.degree(v, direction), list.len(), "{v:?}");
            if neighbors.as_slice().is_some() {
                assert_eq!(g.degree_estimate(v, direction), list.len(), "{v:?}");
            }
        }
    }
}

/// Does the same as [`check`] for a graph that may have to read its neighbours. Checks only answers that come
/// in runs.
///
/// # Panics
/// If an answer differs from `expected`, or `g` cannot be read.
pub fn check_runs<G: WeightedTopology>(g: &G, expected: &PlainGraph) {
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
        check_scan(g, direction, &lists, end(expected));
        check_visits(g, direction, &lists, end(expected));
    }
}

/// Returns the end of the subgraphs to check. It includes some subgraphs without vertices.
fn end(expected: &PlainGraph) -> SubgraphId {
    SubgraphId((expected.live.len().div_ceil(SUBGRAPH_VERTICES) + 3) as u32)
}

fn check_scan<G: WeightedTopology>(g: &G, direction: Direction, lists: &[Vec<(u32, f64)>], end: SubgraphId) {
    let mut next = 0;
    let scanned = g.scan(SubgraphId(0)..end, direction, |subgraph, block| {
        assert_eq!(subgraph.0, next, "each subgraph, ascending");
        next += 1;
        let mut added = vec![Vec::new(); SUBGRAPH_VERTICES];
        if block.is_additive() {
            block.for_each_added(|local, u| added[local.index()].push(u.0));
        }
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let v = subgraph.vertex(local);
            let list: Vec<u32> =
                lists.get(v.index()).map_or(vec![], |list| list.iter().map(|x| x.0).collect());
            assert_eq!(block.degree(local), list.len(), "{v:?}");
            let (mut runs, mut first) = (Vec::new(), None);
            let ended = block.for_each_run(local, |run| {
                first.get_or_insert_with(|| run.to_vec());
                runs.extend(run.iter().map(|u| u.0));
                ControlFlow::Continue(())
            });
            runs.sort_unstable();
            assert_eq!((ended, runs), (ControlFlow::Continue(()), list.clone()), "runs of {v:?}");
            let mut calls = 0;
            let ended = block.for_each_run(local, |_| {
                calls += 1;
                ControlFlow::Break(())
            });
            assert!(ended.is_break() && calls == 1 || ended.is_continue() && calls == 0, "{v:?} goes on");
            let main = block.main(local);
            assert!(main.is_none_or(|main| first.is_some_and(|first| first == main)), "main of {v:?}");
            if block.is_additive() {
                let mut all: Vec<u32> = main.expect("an additive block").iter().map(|u| u.0).collect();
                all.append(&mut added[local.index()]);
                all.sort_unstable();
                assert_eq!(all, list, "main and added of {v:?}");
            }
        }
        ControlFlow::Continue(())
    });
    scanned.expect("the graph can be read");
    assert_eq!(next, end.0);
    let mut calls = 0;
    let scanned = g.scan(SubgraphId(0)..end, direction, |_, _| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(scanned.is_ok() && calls == 1, "a scan goes on");
}

fn check_visits<G: WeightedTopology>(
    g: &G,
    direction: Direction,
    lists: &[Vec<(u32, f64)>],
    end: SubgraphId,
) {
    let all = || (0..end.0 * SUBGRAPH_VERTICES as u32).rev().step_by(3).map(VertexId);
    let (mut plain, mut weighted) = (BTreeMap::<u32, Vec<u32>>::new(), BTreeMap::<_, Vec<_>>::new());
    let mut last = None;
    let visited = g.visit(all(), direction, |v, run| {
        assert!(last == Some(v) || !plain.contains_key(&v.0), "the runs of {v:?} come one after another");
        last = Some(v);
        plain.entry(v.0).or_default().extend(run.iter().map(|u| u.0));
    });
    visited.expect("the graph can be read");
    let visited = g.visit_weighted(all(), direction, |v, run, weights| {
        assert!(weights.is_empty() || weights.len() == run.len());
        let edges = (0..).zip(run).map(|(i, u): (usize, _)| (u.0, weights.get(i).copied().unwrap_or(1.0)));
        weighted.entry(v.0).or_default().extend(edges);
    });
    visited.expect("the graph can be read");
    for v in all() {
        let list = lists.get(v.index()).map_or(&[][..], Vec::as_slice);
        let mut found = plain.remove(&v.0).expect("each vertex is visited");
        found.sort_unstable();
        assert!(found.iter().copied().eq(list.iter().map(|x| x.0)), "{v:?}: {found:?} of {list:?}");
        let mut found = weighted.remove(&v.0).expect("each vertex is visited");
        found.sort_by_key(|x| x.0);
        assert_eq!(found, list, "weights at {v:?}");
    }
    assert!(plain.is_empty() && weighted.is_empty(), "no vertex that was not asked for");
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
