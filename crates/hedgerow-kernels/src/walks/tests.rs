//! Walks against walking one by one; how often they go where; what cannot be.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use crate::testing::{graphs, most_chi_square, plain_graph, random_graph, with_threads};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::walks::{WalkConfig, random_walks, verify};

#[test]
fn walks_are_those_taken_one_by_one() {
    // Walking one by one sorts the lists of hubs at each step.
    for g in graphs().into_iter().filter(|g| g.edge_count() < 4000) {
        for (p, q, direction) in [(1.0, 1.0, Direction::Out), (0.25, 4.0, Direction::In)] {
            let config = WalkConfig { walks: 2, steps: 6, p, q, seed: 7, direction };
            let found = random_walks(&g, None, &config).expect("valid");
            assert!(found == verify::random_walks(&g, None, &config), "{config:?}");
        }
    }
}

#[test]
fn walks_depend_on_the_seed_alone() {
    let g = random_graph(3000, 20_000, false, 0.1, 5);
    let config = WalkConfig { walks: 3, p: 2.0, q: 0.5, ..WalkConfig::default() };
    let alone = with_threads(1, || random_walks(&g, None, &config)).expect("valid");
    assert_eq!(alone.len(), 3 * g.vertex_count());
    assert!(with_threads(3, || random_walks(&g, None, &config)).expect("valid") == alone);
    let other = WalkConfig { seed: 2, ..config };
    assert!(random_walks(&g, None, &other).expect("valid") != alone);
}

/// How often walks go from a vertex, having come from another one, against the chances of the definition.
#[test]
fn steps_have_the_chances_that_p_and_q_give() {
    // Triangles, a square and a tail, so that all three cases occur at many vertices.
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 1), (4, 5), (5, 0), (5, 6), (3, 5)];
    let g = plain_graph(7, &edges, false);
    for (p, q) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.5)] {
        let config = WalkConfig { walks: 3000, steps: 20, p, q, ..WalkConfig::default() };
        let walks = random_walks(&g, None, &config).expect("valid");
        let mut counts: BTreeMap<(VertexId, VertexId), BTreeMap<VertexId, f64>> = BTreeMap::new();
        for (walk, _) in walks.iter() {
            for three in walk.windows(3) {
                *counts.entry((three[0], three[1])).or_default().entry(three[2]).or_default() += 1.0;
            }
        }
        assert_eq!(counts.len(), 2 * edges.len(), "every edge both ways");
        for ((before, at), counts) in counts {
            let near = g.neighbors(before, Direction::Out);
            let weight = |v: VertexId| match v {
                v if v == before => 1.0 / p,
                v if near.contains(v) => 1.0,
                _ => 1.0 / q,
            };
            let neighbors: Vec<VertexId> = g.neighbors(at, Direction::Out).iter().collect();
            let weights: f64 = neighbors.iter().map(|&v| weight(v)).sum();
            let all: f64 = counts.values().sum();
            let parts = neighbors.iter().map(|v| {
                let expected = all * weight(*v) / weights;
                (counts.get(v).copied().unwrap_or(0.0) - expected).powi(2) / expected
            });
            let statistic: f64 = parts.sum();
            let most = if neighbors.len() == 1 { 1e-9 } else { most_chi_square(neighbors.len() - 1) };
            assert!(statistic <= most, "p {p}, q {q}, {before:?} to {at:?}: {statistic}, at most {most}");
        }
    }
}

#[test]
fn walks_end_where_no_way_leads_on() {
    let g = plain_graph(4, &[(0, 1), (1, 2)], true);
    let walks = random_walks(&g, None, &WalkConfig::default()).expect("valid");
    assert_eq!(walks.lengths(), [2.0, 1.0, 0.0, 0.0]);
    let twice = [VertexId(1), VertexId(1)];
    assert_eq!(random_walks(&g, Some(&twice), &WalkConfig::default()).expect("live").lengths(), [1.0, 1.0]);
    assert!(random_walks(&g, Some(&[]), &WalkConfig::default()).expect("none").is_empty());
}

#[test]
fn what_cannot_be_is_refused() {
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = random_walks(&g, Some(&[VertexId(3)]), &WalkConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    let with = |walks, steps, p, q| {
        let config = WalkConfig { walks, steps, p, q, ..WalkConfig::default() };
        random_walks(&g, None, &config).expect_err("out of range").to_string()
    };
    assert_eq!(with(0, 1, 1.0, 1.0), "walks must be 1 to 4294967295, found 0");
    assert_eq!(with(1, 0, 1.0, 1.0), "steps must be 1 to 4294967295, found 0");
    assert_eq!(with(1, 1, 0.0, 1.0), "p must be in 0.001..=1000, found 0");
    assert_eq!(with(1, 1, 1.0, f64::NAN), "q must be in 0.001..=1000, found NaN");
    let refused = with(u32::MAX, u32::MAX, 1.0, 1.0);
    assert!(refused.contains("bytes"), "{refused}");
}
