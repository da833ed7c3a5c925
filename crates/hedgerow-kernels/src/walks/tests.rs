//! Tests of walks, uniform and by weights, against walking one step at a time; of the frequencies of steps;
//! of long lists; and of refused input.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, Resident, Topology, VertexId, WeightedTopology};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, Duplicates};

use crate::testing::{
    graphs, most_chi_square, plain_graph, random_graph, random_weighted_graph, weighted_graph, with_threads,
};
use hedgerow_kernels::walks::{WalkConfig, random_walks, verify};
use hedgerow_kernels::{KernelError, Paths, weighted_random_walks};

type Run = fn(&Csr, Option<&[VertexId]>, &WalkConfig) -> Result<Paths, KernelError>;

const BOTH: [Run; 2] = [random_walks, weighted_random_walks];

fn random(seed: u64) -> Csr {
    let bound = [1, 6, 80, 900][seed as usize % 4];
    let weight = |rng: &mut Rng| match seed % 3 {
        0 => rng.below(3) as f64,
        1 => rng.unit() * 1e100,
        _ => 0.1,
    };
    let duplicates = if seed % 5 < 2 { Duplicates::Keep } else { Duplicates::Merge };
    let (size, directed) = ((bound, bound * [2, 6][seed as usize / 4 % 2]), seed.is_multiple_of(2));
    random_weighted_graph(&mut Rng::new(seed), size, (directed, duplicates), 0.1, weight)
}

#[test]
fn walks_are_those_taken_one_by_one() {
    // The verifier sorts the list of a hub at each step.
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

#[test]
fn walks_by_weights_are_those_taken_one_by_one() {
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

/// Compares the frequencies of steps from a vertex after another vertex with the probabilities of the
/// definition. All three cases occur at many vertices of the graph.
fn check_chances(g: &Csr, run: Run) {
    for (p, q) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.5)] {
        let config = WalkConfig { walks: 3000, steps: 20, p, q, ..WalkConfig::default() };
        let walks = run(g, None, &config).expect("sound");
        let mut counts: BTreeMap<(VertexId, VertexId), BTreeMap<VertexId, f64>> = BTreeMap::new();
        for (walk, _) in walks.iter() {
            for three in walk.windows(3) {
                *counts.entry((three[0], three[1])).or_default().entry(three[2]).or_default() += 1.0;
            }
        }
        assert_eq!(counts.len() as u64, 2 * g.edge_count(), "every edge both ways");
        for ((before, at), counts) in counts {
            let near = g.neighbors(before, Direction::Out);
            let factor = |v: VertexId| match v {
                v if v == before => 1.0 / p,
                v if near.contains(v) => 1.0,
                _ => 1.0 / q,
            };
            let mut shares = Vec::new();
            let Ok(()) = g.visit_weighted([at], Direction::Out, |_, run, weights| {
                let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
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

#[test]
fn steps_have_the_chances_that_weights_p_and_q_give() {
    // The graph has triangles, a square and a tail.
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 1), (4, 5), (5, 0), (5, 6), (3, 5)];
    check_chances(&plain_graph(7, &edges, false), random_walks);
    let g = weighted_graph(7, &edges, false, |rng| (1 + rng.below(9)) as f64);
    check_chances(&g, weighted_random_walks);
}

/// The lists of two hubs are so long that several threads share each of them.
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
    BOTH.into_iter().for_each(refuses);
}

fn refuses(run: Run) {
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = run(&g, Some(&[VertexId(3)]), &WalkConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    let with = |walks, steps, p, q| {
        let config = WalkConfig { walks, steps, p, q, ..WalkConfig::default() };
        run(&g, None, &config).expect_err("out of range").to_string()
    };
    assert_eq!(with(0, 1, 1.0, 1.0), "walks must be 1 to 4294967295, found 0");
    assert_eq!(with(1, 0, 1.0, 1.0), "steps must be 1 to 4294967295, found 0");
    assert_eq!(with(1, 1, 0.0, 1.0), "p must be in 0.001..=1000, found 0");
    assert_eq!(with(1, 1, 1.0, f64::NAN), "q must be in 0.001..=1000, found NaN");
    let refused = with(u32::MAX, u32::MAX, 1.0, 1.0);
    assert!(refused.contains("bytes"), "{refused}");
}

#[test]
fn weights_that_cannot_be_are_refused() {
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
    // The first of the walks determines the error, whichever error is found first.
    let every = weighted_random_walks(&g, None, &WalkConfig::default());
    assert_eq!(every, Err(edge(1, 2, -1.0)));
    let refused = run(&path([f64::INFINITY, 1.0, 1.0]), 0).expect_err("infinite").to_string();
    assert_eq!(refused, "the edge from vertex 0 to 1 weighs inf, expected a finite number");
    let tiny = run(&path([1.0, 1e-320, 1.0]), 1).expect_err("too light");
    assert!(matches!(tiny, KernelError::WeightSum { vertex: VertexId(1), .. }), "{tiny}");
}
