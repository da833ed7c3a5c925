//! Tests of the plain CSR with the conformance checks.

use std::collections::BTreeMap;

use hedgerow_testkit::conformance::{PlainGraph, check};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions};

/// Returns a random graph, its edges and its weights. The edges include repetitions, the graph does not.
fn random(seed: u64) -> (PlainGraph, Vec<(u32, u32)>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let ids = 1 + rng.below(300) as usize;
    let live: Vec<bool> = (0..ids).map(|_| rng.chance(0.9)).collect();
    let pick: Vec<u32> = (0..ids as u32).filter(|&v| live[v as usize]).collect();
    let (directed, weighted) = (rng.chance(0.5), rng.chance(0.5));
    let count = if pick.is_empty() { 0 } else { rng.below(2000) };
    let mut vertex = || pick[rng.below(pick.len() as u64) as usize];
    let edges: Vec<(u32, u32)> = (0..count).map(|_| (vertex(), vertex())).collect();
    let weights: Vec<f64> = (0..count).map(|i| if weighted { i as f64 - 7.5 } else { 1.0 }).collect();
    let of = |&(u, v): &(u32, u32)| if directed { (u, v) } else { (u.min(v), u.max(v)) };
    let plain: BTreeMap<(u32, u32), f64> = edges.iter().map(of).zip(weights.iter().copied()).collect();
    (PlainGraph { directed, weighted, live, edges: plain }, edges, weights)
}

fn build(plain: &PlainGraph, edges: &[(u32, u32)], weights: &[f64]) -> Csr {
    let options =
        CsrOptions { directed: plain.directed, live: Some(plain.live.clone()), ..CsrOptions::default() };
    let ids = plain.live.len();
    let built = match plain.weighted {
        true => Csr::from_weighted_edges(ids, edges, weights, &options),
        false => Csr::from_edges(ids, edges, &options),
    };
    built.expect("live ends")
}

#[test]
fn csr_conforms() {
    for seed in 0..60 {
        let (plain, edges, weights) = random(seed);
        check(&build(&plain, &edges, &weights), &plain);
    }
}

#[test]
#[should_panic(expected = "assertion")]
fn an_edge_in_the_wrong_place_is_noticed() {
    let edges = [(0, 1), (1, 2), (70, 2)];
    let plain = |other: (u32, u32)| PlainGraph {
        directed: true,
        weighted: false,
        live: vec![true; 80],
        edges: edges.iter().copied().chain([other]).map(|edge| (edge, 1.0)).collect(),
    };
    let csr = build(&plain((3, 4)), &[edges[0], edges[1], edges[2], (3, 4)], &[]);
    check(&csr, &plain((3, 4)));
    check(&csr, &plain((3, 5)));
}
