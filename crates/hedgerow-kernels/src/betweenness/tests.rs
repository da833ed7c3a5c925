//! Scores against Brandes' plain algorithm, against the definition by pairs, and where they are known; samples; what cannot
//! be.

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use crate::testing::{close, graphs, plain_graph, random_graph, sources};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::betweenness::{Sources, betweenness, verify};

const RELATIVE: f64 = 1e-12;

#[test]
fn scores_from_some_sources() {
    for g in graphs() {
        let given = sources(&g, 3);
        let expected = verify::betweenness(&g, &given, if g.is_directed() { 1.0 } else { 0.5 });
        close(&betweenness(&g, &Sources::Given(given)).expect("live"), &expected, RELATIVE)
            .expect("the same");
    }
}

/// Hops and numbers of shortest paths from a vertex.
fn paths_from<G: Resident>(g: &G, source: VertexId) -> Vec<(usize, f64)> {
    let mut found = vec![(usize::MAX, 0.0); g.vertex_bound()];
    found[source.index()] = (0, 1.0);
    for hops in 0..g.vertex_bound() {
        for u in (0..g.vertex_bound()).filter(|&u| found[u].0 == hops).collect::<Vec<_>>() {
            for v in g.neighbors(VertexId(u as u32), Direction::Out).iter().map(VertexId::index) {
                if found[v].0 > hops {
                    found[v] = (hops + 1, found[v].1 + found[u].1);
                }
            }
        }
    }
    found
}

/// For each vertex the share of shortest paths through it, pair by pair.
fn by_pairs<G: Resident>(g: &G) -> Vec<f64> {
    let all: Vec<Vec<(usize, f64)>> =
        (0..g.vertex_bound() as u32).map(|v| paths_from(g, VertexId(v))).collect();
    let through = |v: usize| -> f64 {
        let pairs = (0..all.len()).flat_map(|s| (0..all.len()).map(move |t| (s, t)));
        let pairs = pairs.filter(|&(s, t)| s != t && s != v && t != v && all[s][t].1 > 0.0);
        let share = |(s, t): (usize, usize)| {
            let ((to, before), (from, behind)) = (all[s][v], all[v][t]);
            let leads = before > 0.0 && behind > 0.0 && to + from == all[s][t].0;
            if leads { before * behind / all[s][t].1 } else { 0.0 }
        };
        pairs.map(share).sum()
    };
    let scale = if g.is_directed() { 1.0 } else { 0.5 };
    (0..all.len()).map(|v| through(v) * scale).collect()
}

#[test]
fn all_sources_give_the_definition_by_pairs() {
    for seed in 0..50 {
        let vertices = [1, 2, 5, 12, 30][seed as usize % 5];
        let g = random_graph(
            vertices,
            vertices * [1, 2, 4][seed as usize % 3],
            seed % 2 == 0,
            [0.0, 0.3][seed as usize % 2],
            seed,
        );
        let expected = by_pairs(&g);
        let sampled = Sources::Sampled { count: 1000, seed };
        for sources in [Sources::All, sampled] {
            close(&betweenness(&g, &sources).expect("valid"), &expected, 1e-9).expect("as by pairs");
        }
    }
}

#[test]
fn a_star_a_path_and_a_clique() {
    let star: Vec<(u32, u32)> = (1..1000).map(|v| (0, v)).collect();
    let path: Vec<(u32, u32)> = (0..99).map(|v| (v, v + 1)).collect();
    let clique: Vec<(u32, u32)> = (0..40).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let of = |vertices, edges: &[(u32, u32)], directed| {
        betweenness(&plain_graph(vertices, edges, directed), &Sources::All).expect("valid")
    };
    let found = of(1000, &star, false);
    assert!(found[0] == 999.0 * 998.0 / 2.0 && found[1..].iter().all(|&score| score == 0.0));
    for directed in [false, true] {
        let found = of(100, &path, directed);
        assert!((0..100).all(|v| found[v] == (v * (99 - v)) as f64), "{found:?}");
    }
    assert!(of(40, &clique, false).iter().all(|&score| score == 0.0));
}

/// Sums of samples over many seeds come near the exact scores, and a seed always draws the same ones.
#[test]
fn samples_are_without_bias() {
    let g = random_graph(60, 200, false, 0.2, 4);
    let exact = betweenness(&g, &Sources::All).expect("valid");
    let with = |seed| betweenness(&g, &Sources::Sampled { count: 12, seed }).expect("valid");
    assert!(with(3) == with(3) && with(3) != with(4));
    let rounds = 4000;
    let mut mean = vec![0.0; exact.len()];
    for seed in 0..rounds {
        mean.iter_mut().zip(with(seed)).for_each(|(mean, score)| *mean += score / rounds as f64);
    }
    let most = exact.iter().copied().fold(0.0, f64::max);
    for (mean, exact) in mean.iter().zip(&exact) {
        assert!((mean - exact).abs() < 0.03 * most, "{mean} for {exact} of {most}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let g = random_graph(10, 20, true, 1.0, 1);
    let refused = betweenness(&g, &Sources::Given(vec![VertexId(2)]));
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
    let refused = betweenness(&g, &Sources::Sampled { count: 0, seed: 1 }).expect_err("none");
    assert_eq!(refused.to_string(), "samples must be 1 to 4294967295, found 0");
    assert_eq!(betweenness(&g, &Sources::All), Ok(vec![0.0; 10]));
    assert_eq!(betweenness(&plain_graph(0, &[], false), &Sources::All), Ok(Vec::new()));
}

/// Each diamond doubles the paths: 1,030 of them lead nowhere near the largest number, 1,020 do.
#[test]
fn paths_beyond_all_numbers_are_refused() {
    let diamonds = |count: u32| {
        let edges =
            |d: u32| [(3 * d, 3 * d + 1), (3 * d, 3 * d + 2), (3 * d + 1, 3 * d + 3), (3 * d + 2, 3 * d + 3)];
        let edges: Vec<(u32, u32)> = (0..count).flat_map(edges).collect();
        plain_graph(3 * count as usize + 1, &edges, false)
    };
    let from_first = Sources::Given(vec![VertexId(0)]);
    let found = betweenness(&diamonds(1020), &from_first).expect("2^1020 paths");
    close(&found[..2], &[0.0, 1.5 * 1019.5 / 2.0], 0.1).expect("half of what is behind");
    let refused = betweenness(&diamonds(1030), &from_first).expect_err("2^1030 paths");
    assert_eq!(refused, KernelError::TooManyPaths { source: VertexId(0) });
    assert!(refused.to_string().contains("vertex 0"));
}
