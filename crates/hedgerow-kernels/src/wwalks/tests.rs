//! Walks against walking one by one; how often they go where; long lists; what cannot be.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, Resident, Topology, VertexId, WeightedTopology};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

use crate::testing::{graphs, most_chi_square, plain_graph, weighted_graph, with_threads};
use hedgerow_kernels::wwalks::{verify, weighted_random_walks};
use hedgerow_kernels::{KernelError, WalkConfig};

fn random(seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let bound = [1, 6, 80, 900][seed as usize % 4];
    let live: Vec<bool> = (0..bound).map(|_| !rng.chance(0.1)).collect();
    let mut any = || (rng.below(bound as u64) as u32, rng.below(bound as u64) as u32);
    let mut edges: Vec<(u32, u32)> = (0..bound * [2, 6][seed as usize / 4 % 2]).map(|_| any()).collect();
    edges.retain(|&(u, v)| live[u as usize] && live[v as usize]);
    let weight: fn(&mut Rng) -> f64 = match seed % 3 {
        0 => |rng| rng.below(3) as f64,
        1 => |rng| rng.unit() * 1e100,
        _ => |_| 0.1,
    };
    let weights: Vec<f64> = edges.iter().map(|_| weight(&mut rng)).collect();
    let duplicates = if seed % 5 < 2 { Duplicates::Keep } else { Duplicates::Merge };
    let options = CsrOptions {
        directed: seed.is_multiple_of(2),
        duplicates,
        live: Some(live),
        ..CsrOptions::default()
    };
    Csr::from_weighted_edges(bound, &edges, &weights, &options).expect("ends are live")
}

#[test]
fn walks_are_those_taken_one_by_one() {
    let check = |g: &Csr, seed: u64| {
        for (p, q, direction) in [(1.0, 1.0, Direction::Out), (0.25, 4.0, Direction::In)] {
            let config = WalkConfig { walks: 2, steps: 6, p, q, seed, direction };
            let run = || weighted_random_walks(g, None, &config);
            let found = with_threads(1 + seed as usize % 3, run).expect("sound");
            assert!(found == verify::weighted_random_walks(g, None, &config), "{config:?}");
        }
    };
    (0..40).for_each(|seed| check(&random(seed), seed));
    graphs().iter().filter(|g| g.edge_count() < 1000).for_each(|g| check(g, 3));
}

/// How often walks go from a vertex, having come from another one, against the chances of the definition.
#[test]
fn steps_have_the_chances_that_weights_p_and_q_give() {
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 1), (4, 5), (5, 0), (5, 6), (3, 5)];
    let g = weighted_graph(7, &edges, false, |rng| (1 + rng.below(9)) as f64);
    for (p, q) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.5)] {
        let config = WalkConfig { walks: 3000, steps: 20, p, q, ..WalkConfig::default() };
        let walks = weighted_random_walks(&g, None, &config).expect("sound");
        let mut counts: BTreeMap<(VertexId, VertexId), BTreeMap<VertexId, f64>> = BTreeMap::new();
        for (walk, _) in walks.iter() {
            for three in walk.windows(3) {
                *counts.entry((three[0], three[1])).or_default().entry(three[2]).or_default() += 1.0;
            }
        }
        assert_eq!(counts.len(), 2 * edges.len(), "every edge both ways");
        for ((before, at), counts) in counts {
            let near = g.neighbors(before, Direction::Out);
            let factor = |v: VertexId| match v {
                v if v == before => 1.0 / p,
                v if near.contains(v) => 1.0,
                _ => 1.0 / q,
            };
            let mut shares = Vec::new();
            let Ok(()) = g.visit_weighted([at], Direction::Out, |_, run, weights| {
                shares.extend(run.iter().zip(weights).map(|(&v, weight)| (v, weight * factor(v))));
            });
            let total: f64 = shares.iter().map(|(_, share)| share).sum();
            let all: f64 = counts.values().sum();
            let parts = shares.iter().map(|(v, share)| {
                let expected = all * share / total;
                (counts.get(v).copied().unwrap_or(0.0) - expected).powi(2) / expected
            });
            let statistic: f64 = parts.sum();
            let most = if shares.len() == 1 { 1e-9 } else { most_chi_square(shares.len() - 1) };
            assert!(statistic <= most, "p {p}, q {q}, {before:?} to {at:?}: {statistic}, at most {most}");
        }
    }
}

/// Two hubs whose lists are longer than those that each thread reads by itself.
#[test]
fn long_lists_are_drawn_from_as_others_are() {
    let leaves = 70_000u32;
    let edges: Vec<(u32, u32)> = (2..leaves).flat_map(|v| [(0, v), (1, v)]).collect();
    let g = weighted_graph(leaves as usize, &edges, false, |rng| rng.below(3) as f64);
    let some: Vec<VertexId> = (0..4500).step_by(3).map(VertexId).collect();
    let config = WalkConfig { steps: 3, walks: 2, ..WalkConfig::default() };
    let expected = verify::weighted_random_walks(&g, Some(&some), &config);
    for threads in [1, 3] {
        let found = with_threads(threads, || weighted_random_walks(&g, Some(&some), &config));
        assert!(found.expect("sound") == expected, "{threads} threads");
    }
}

#[test]
fn walks_go_where_weights_are_and_end_where_there_are_none() {
    let mut weights = [0.0, 2.0, 0.0].into_iter();
    let g = weighted_graph(4, &[(0, 1), (0, 2), (2, 3)], true, |_| weights.next().expect("three"));
    let walks = weighted_random_walks(&g, None, &WalkConfig { walks: 20, ..WalkConfig::default() });
    let walks = walks.expect("sound");
    assert!(walks.iter().take(20).all(|(walk, _)| walk == [VertexId(0), VertexId(2)]));
    assert!(walks.lengths()[20..].iter().all(|length| *length == 0.0));
    assert!(weighted_random_walks(&g, Some(&[]), &WalkConfig::default()).expect("none").is_empty());
}

#[test]
fn what_cannot_be_is_refused() {
    let path = |weights: [f64; 3]| {
        let mut weights = weights.into_iter();
        weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], true, |_| weights.next().expect("three"))
    };
    let run = |g: &Csr, from: u32| weighted_random_walks(g, Some(&[VertexId(from)]), &WalkConfig::default());
    let g = path([1.0, -1.0, f64::NAN]);
    let edge = |from, to, weight| KernelError::Weight { from: VertexId(from), to: VertexId(to), weight };
    assert_eq!(run(&g, 0), Err(edge(1, 2, -1.0)));
    assert!(matches!(run(&g, 2), Err(KernelError::Weight { from: VertexId(2), .. })));
    assert!(run(&g, 3).is_ok(), "what no walk meets is not looked at");
    // The first of the walks decides, whatever is met first.
    let every = weighted_random_walks(&g, None, &WalkConfig::default());
    assert_eq!(every, Err(edge(1, 2, -1.0)));
    let refused = run(&path([f64::INFINITY, 1.0, 1.0]), 0).expect_err("infinite").to_string();
    assert_eq!(refused, "the edge from vertex 0 to 1 weighs inf, expected a finite number");
    let tiny = run(&path([1.0, 1e-320, 1.0]), 1).expect_err("too light");
    assert!(matches!(tiny, KernelError::WeightSum { vertex: VertexId(1), .. }), "{tiny}");
    let refused = run(&g, 4);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(4), vertex_bound: 4 }));
    let none = WalkConfig { walks: 0, ..WalkConfig::default() };
    let refused = weighted_random_walks(&plain_graph(1, &[], true), None, &none).expect_err("no walk");
    assert_eq!(refused.to_string(), "walks must be 1 to 4294967295, found 0");
}
