//! Tests of scores by hops and by weights: against the verifier, against the definition by pairs, and against
//! known scores. Samples, equal lengths, weights of 0, and refused input are also tested.

use hedgerow_core::{Direction, Resident, Topology, VertexId};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

use crate::testing::{
    close, graphs, known_graph, plain_graph, random_graph, random_weighted_graph, sources, weighted_graph,
    with_threads,
};
use hedgerow_kernels::betweenness::{Sources, betweenness, verify};
use hedgerow_kernels::{KernelError, SsspConfig, sssp, weighted_betweenness};

type Run = fn(&Csr, &Sources) -> Result<Vec<f64>, KernelError>;

const BOTH: [Run; 2] = [betweenness, weighted_betweenness];

const RELATIVE_BY_WEIGHTS: f64 = 1e-11;

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

/// Returns the number of hops and of shortest paths from `source` to each vertex.
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

/// Returns for each vertex the share of shortest paths through it, computed pair by pair.
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

/// The mean of samples with many seeds is near the exact scores. A seed always draws the same sample.
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
    for run in BOTH {
        let g = random_graph(10, 20, true, 1.0, 1);
        let refused = run(&g, &Sources::Given(vec![VertexId(2)]));
        assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(2), vertex_bound: 10 }));
        let refused = run(&g, &Sources::Sampled { count: 0, seed: 1 }).expect_err("none");
        assert_eq!(refused.to_string(), "samples must be 1 to 4294967295, found 0");
        assert_eq!(run(&g, &Sources::All), Ok(vec![0.0; 10]));
        assert_eq!(run(&plain_graph(0, &[], false), &Sources::All), Ok(Vec::new()));
        assert_eq!(run(&plain_graph(1, &[(0, 0)], true), &Sources::All), Ok(vec![0.0]));
    }
}

/// Each diamond doubles the number of paths. With 1,030 diamonds it exceeds the largest `f64`, with 1,020 it
/// does not.
#[test]
fn paths_beyond_all_numbers_are_refused() {
    let diamonds = |count: u32| {
        let edges =
            |d: u32| [(3 * d, 3 * d + 1), (3 * d, 3 * d + 2), (3 * d + 1, 3 * d + 3), (3 * d + 2, 3 * d + 3)];
        let edges: Vec<(u32, u32)> = (0..count).flat_map(edges).collect();
        plain_graph(3 * count as usize + 1, &edges, false)
    };
    let from_first = Sources::Given(vec![VertexId(0)]);
    for run in BOTH {
        let found = run(&diamonds(1020), &from_first).expect("2^1020 paths");
        close(&found[..2], &[0.0, 1.5 * 1019.5 / 2.0], 0.1).expect("half of what is behind");
        let refused = run(&diamonds(1030), &from_first).expect_err("2^1030 paths");
        assert_eq!(refused, KernelError::TooManyPaths { source: VertexId(0) });
        assert!(refused.to_string().contains("vertex 0"));
    }
}

#[test]
fn without_weights_both_are_the_same() {
    for g in graphs() {
        let given = Sources::Given(sources(&g, 2));
        let expected = betweenness(&g, &given).expect("live");
        close(&weighted_betweenness(&g, &given).expect("live"), &expected, RELATIVE_BY_WEIGHTS)
            .expect("the same");
    }
}

/// Returns a small graph with repeated edges, loops and holes. The seed determines the kind of the weights.
fn with_weights(seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let bound = [2, 7, 12, 40][seed as usize % 4];
    // The kinds: many paths have equal lengths; all weights are equal; sums of tenths differ in the last
    // bits; no two weights are equal; some weights are 0.
    let weight = |rng: &mut Rng| match seed % 5 {
        0 => 1.0 + rng.below(3) as f64,
        1 => 0.25,
        2 => (1 + rng.below(4)) as f64 * 0.1,
        3 => rng.unit() + 1e-3,
        _ => rng.below(6) as f64,
    };
    let duplicates = if seed % 7 < 3 { Duplicates::Keep } else { Duplicates::Merge };
    let (size, directed) = ((bound, bound * [1, 2, 4][seed as usize % 3]), rng.chance(0.5));
    random_weighted_graph(&mut rng, size, (directed, duplicates), 0.15, weight)
}

#[test]
fn scores_by_weights_from_all_and_from_some_sources() {
    let (mut counted, mut endless) = (0, 0);
    for seed in 0..300 {
        let g = with_weights(seed);
        let each = if g.is_directed() { 1.0 } else { 0.5 };
        let of = if seed % 3 == 0 { Sources::Given(sources(&g, 3)) } else { Sources::All };
        let given = if seed % 3 == 0 { sources(&g, 3) } else { sources(&g, 100) };
        let found = with_threads(1 + seed as usize % 3, || weighted_betweenness(&g, &of));
        match (found, verify::weighted_betweenness(&g, &given, each)) {
            (Ok(found), Ok(expected)) => {
                close(&found, &expected, RELATIVE_BY_WEIGHTS)
                    .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                counted += usize::from(found.iter().any(|score| *score > 0.0));
            }
            (Err(KernelError::Endless { from, to, weight }), Err(KernelError::Endless { .. })) => {
                assert_eq!(weight, 0.0);
                let far = sssp(&g, from, &SsspConfig::default()).expect("0 or more");
                let back = sssp(&g, to, &SsspConfig::default()).expect("0 or more");
                assert!(from != to && far[to.index()] == 0.0 && back[from.index()] == 0.0, "a cycle");
                endless += 1;
            }
            (found, expected) => panic!("seed {seed}: {found:?}, not {expected:?}"),
        }
    }
    assert!(counted > 150 && endless > 10, "{counted} counted, {endless} endless");
}

/// The results of `betweenness_centrality(G, weight="weight", normalized=False)` in NetworkX 3.6, without
/// vertex 4.
#[test]
fn known_scores_by_weights() {
    let found = weighted_betweenness(&known_graph(false), &Sources::All).expect("sound");
    close(&found, &[6.0, 0.0, 0.5, 0.0, 0.0, 17.5, 2.5, 2.5, 0.0], RELATIVE_BY_WEIGHTS)
        .expect("as in NetworkX");
    let found = weighted_betweenness(&known_graph(true), &Sources::All).expect("sound");
    close(&found, &[6.0, 6.0, 6.0, 9.0, 0.0, 5.0, 1.0, 17.0, 29.0], RELATIVE_BY_WEIGHTS)
        .expect("as in NetworkX");
}

#[test]
fn many_vertices_of_a_level() {
    // Two paths lead to each of many vertices, and one edge from each of these to the last vertex.
    let many = 30_000u32;
    let edges = (2..many).flat_map(|v| [(0, v, 2.0), (1, v, 1.0), (v, many, 0.5)]).chain([(0, 1, 1.0)]);
    let (edges, weights): (Vec<_>, Vec<_>) = edges.map(|(u, v, weight)| ((u, v), weight)).unzip();
    let options = CsrOptions { directed: true, ..CsrOptions::default() };
    let g = Csr::from_weighted_edges(many as usize + 1, &edges, &weights, &options).expect("in range");
    let from = Sources::Given(vec![VertexId(0)]);
    for threads in [1, 3] {
        let found = with_threads(threads, || weighted_betweenness(&g, &from)).expect("sound");
        let between = 1.0 / f64::from(many - 2);
        close(&found[1..4], &[f64::from(many - 1) / 2.0, between, between], 1e-9).expect("by hand");
    }
}

#[test]
fn lengths_are_equal_where_sums_differ_by_rounding_alone() {
    // One path leads from 0 to 3 over 1, the other over 2.
    let square = |weights: [f64; 4]| {
        let mut weights = weights.into_iter();
        let g = weighted_graph(4, &[(0, 1), (1, 3), (0, 2), (2, 3)], true, |_| weights.next().expect("four"));
        weighted_betweenness(&g, &Sources::All).expect("sound")
    };
    assert_eq!(square([1.0, 2.0, 2.0, 1.0]), [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(square([0.1, 0.2, 0.3, 0.0]), [0.0, 0.5, 0.5, 0.0], "0.1 + 0.2 is 0.3, but for its last bit");
    assert_eq!(
        square([0.1, 0.2, 0.3 - 1e-12, 0.0]),
        [0.0, 0.0, 1.0, 0.0],
        "what differs in the twelfth digit is no tie"
    );
    assert_eq!(square([1.0, 2.0, f64::INFINITY, 1.0]), [0.0, 1.0, 0.0, 0.0], "it is not crossed");
    assert_eq!(square([f64::MAX, f64::MAX, 1.0, f64::MAX]), [0.0, 0.0, 1.0, 0.0]);
}

/// The kernel counts a pair of an undirected graph from both of its ends, and a directed graph may be turned.
/// Then it adds decimal fractions in another order.
#[test]
fn scores_do_not_depend_on_the_end_from_which_sums_are_taken() {
    // One path leads from 0 to 1 directly, the other over 2 and 3.
    let detour = [(0, 1, 0.6), (0, 2, 0.1), (2, 3, 0.2), (3, 1, 0.3)];
    let of = |edges: &[(u32, u32, f64)], directed: bool| {
        let ends: Vec<(u32, u32)> = edges.iter().map(|&(a, b, _)| (a, b)).collect();
        let weights: Vec<f64> = edges.iter().map(|edge| edge.2).collect();
        let options = CsrOptions { directed, ..CsrOptions::default() };
        let g = Csr::from_weighted_edges(4, &ends, &weights, &options).expect("in range");
        weighted_betweenness(&g, &Sources::All).expect("sound")
    };
    assert_eq!(of(&detour, false), [0.0, 0.0, 1.5, 1.5], "as of weights of 6, 1, 2 and 3");
    let turned = detour.map(|(a, b, weight)| (b, a, weight));
    assert_eq!(of(&detour, true), of(&turned, true));
    assert_eq!(of(&detour, true), [0.0, 0.0, 1.5, 1.5]);
}

/// A weight that is small compared with the distances makes no cycle, because the way back is longer.
#[test]
fn small_weights_far_away_close_no_cycle() {
    let mut weights = [1e6, 1e-7, 1e-7].into_iter();
    let g = weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], false, |_| weights.next().expect("three"));
    assert_eq!(weighted_betweenness(&g, &Sources::All), Ok(vec![0.0, 2.0, 2.0, 0.0]));
}

#[test]
fn edges_of_weight_0_count_where_they_are_no_cycle() {
    let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (2, 2)];
    let nothing = weighted_graph(4, &edges, true, |_| 0.0);
    // From 0 to 2 and from 0 to 3, one of two paths leads through 1.
    assert_eq!(weighted_betweenness(&nothing, &Sources::All), Ok(vec![0.0, 1.0, 2.0, 0.0]));
    let both_ways = weighted_graph(4, &edges, false, |_| 0.0);
    let refused = weighted_betweenness(&both_ways, &Sources::All).expect_err("endless");
    let KernelError::Endless { weight, .. } = refused else { panic!("{refused}") };
    assert_eq!(weight, 0.0);
    assert!(refused.to_string().contains("weighs 0, expected more than 0"), "{refused}");
    // Adding a weight of 1 to 1e17 does not change the sum.
    let mut weights = [1e17, 1.0].into_iter();
    let lost = weighted_graph(3, &[(0, 1), (1, 2)], false, |_| weights.next().expect("two"));
    let refused = weighted_betweenness(&lost, &Sources::Given(vec![VertexId(0)]));
    assert_eq!(refused, Err(KernelError::Endless { from: VertexId(2), to: VertexId(1), weight: 1.0 }));
}

#[test]
fn weights_that_cannot_be_are_refused() {
    let path = |weight: f64| weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], true, move |_| weight);
    for weight in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        let refused = weighted_betweenness(&path(weight), &Sources::All);
        let Err(KernelError::Weight { from: VertexId(0), to: VertexId(1), .. }) = refused else {
            panic!("{refused:?}")
        };
    }
    let refused = weighted_betweenness(&path(1.0), &Sources::Given(vec![VertexId(7)]));
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(7), vertex_bound: 4 }));
}
