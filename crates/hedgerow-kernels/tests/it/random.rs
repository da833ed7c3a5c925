//! Random graphs of many shapes against [`hedgerow_kernels::verify`].

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_kernels::{
    BfsConfig, PageRankConfig, SsspConfig, bfs, count_components, pagerank, pagerank_with, sssp, top_k,
    triangle_count, verify, wcc,
};
use hedgerow_workload::{GraphSpec, kron};

use crate::{close, csr_of, plain_graph, random_graph, weighted_graph, with_threads};

fn check_all(g: &impl Topology, sources: u32) {
    let configs = [
        BfsConfig::default(),
        BfsConfig { direction: Direction::In, ..BfsConfig::default() },
        BfsConfig { alpha: 0, ..BfsConfig::default() },
        BfsConfig { alpha: u32::MAX, beta: u32::MAX, ..BfsConfig::default() },
    ];
    let live = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v));
    for source in live.take(sources as usize) {
        for config in &configs {
            let expected = verify::bfs(g, source, config.direction);
            assert_eq!(bfs(g, source, config).expect("a live source"), expected, "{source:?} {config:?}");
        }
    }
    let components = wcc(g).expect("ids fit");
    let expected = verify::wcc(g);
    assert_eq!(components, expected);
    let distinct: std::collections::HashSet<u32> = expected.into_iter().filter(|&c| c != u32::MAX).collect();
    assert_eq!(count_components(&components), distinct.len());
    // The slow answer takes the squares of degrees.
    if g.edge_count() < 50_000 {
        assert_eq!(triangle_count(g).expect("ids fit"), verify::triangle_count(g));
    }
    for iterations in [0, 1, 12] {
        let scores = pagerank(g, &PageRankConfig { iterations, ..PageRankConfig::default() }).expect("valid");
        close(&scores, &verify::pagerank(g, 0.85, iterations), 1e-12).expect("scores as computed plainly");
        let sum: f64 = scores.iter().sum();
        assert!(g.vertex_count() == 0 || (sum - 1.0).abs() < 1e-9, "scores sum to {sum}");
    }
}

#[test]
fn random_graphs_of_all_kinds() {
    let mut checked = 0;
    for seed in 0..40 {
        for directed in [false, true] {
            for holes in [0.0, 0.3] {
                let vertices = [1, 3, 63, 64, 65, 200, 1500][seed as usize % 7];
                let edges = vertices * [0, 1, 2, 8][seed as usize % 4];
                check_all(&random_graph(vertices, edges, directed, holes, seed), 3);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 160);
}

#[test]
fn special_shapes() {
    check_all(&plain_graph(0, &[], false), 1);
    check_all(&plain_graph(0, &[], true), 1);
    check_all(&plain_graph(5, &[], true), 5);
    check_all(&plain_graph(3, &[(0, 0), (1, 1)], false), 3);
    check_all(&random_graph(100, 0, false, 1.0, 1), 1);
    let path: Vec<(u32, u32)> = (0..9999).map(|v| (v, v + 1)).collect();
    check_all(&plain_graph(10_000, &path, true), 1);
    check_all(&plain_graph(10_000, &path, false), 1);
    let star: Vec<(u32, u32)> = (1..5000).map(|v| (777, v)).collect();
    check_all(&plain_graph(5000, &star, false), 4);
    // Components whose least vertex is met last, and whose edges run from high to low.
    let down: Vec<(u32, u32)> = (1..3000).map(|v| (v, v - 1)).filter(|e| e.0 % 10 != 0).collect();
    check_all(&plain_graph(3000, &down, true), 2);
}

#[test]
fn a_skewed_graph_large_enough_for_all_steps() {
    let graph =
        GraphSpec::Kron { scale: 13, edge_factor: 16 }.load().expect("generated").expect("no data needed");
    check_all(&csr_of(&graph), 2);
}

/// Every way in which lists are intersected: with hubs as bits, bit by bit and by words, and beyond the hubs.
#[test]
fn triangles_of_large_graphs_counted_two_ways() {
    let complete = |n: u32| (0..n).flat_map(move |v| (0..v).map(move |u| (u, v)));
    // More vertices than hubs, so that the last ones meet lists that are not kept as bits.
    let far = 20_000;
    let mut edges: Vec<(u32, u32)> = complete(200).collect();
    edges.extend(complete(40).map(|(u, v)| (u + far, v + far)));
    // A cycle of 9,000 with chords of length 2: a triangle at each vertex, degree 4.
    edges.extend((0..9000u32).flat_map(|v| [1, 2].map(|step| (5000 + v, 5000 + (v + step) % 9000))));
    let choose3 = |n: u64| n * (n - 1) * (n - 2) / 6;
    let expected = choose3(200) + choose3(40) + 9000;
    for directed in [false, true] {
        let g = plain_graph(far as usize + 40, &edges, directed);
        assert_eq!(triangle_count(&g).expect("ids fit"), expected);
    }
    let graph = kron(13, 16, 3);
    let undirected = plain_graph(graph.vertices, &graph.edges, false);
    // A directed graph with some edges both ways has the same triangles.
    let back = graph.edges.iter().filter(|e| e.0 % 3 == 0).map(|&(u, v)| (v, u));
    let both: Vec<(u32, u32)> = graph.edges.iter().copied().chain(back).collect();
    let directed = plain_graph(graph.vertices, &both, true);
    let counted = triangle_count(&undirected).expect("ids fit");
    assert_eq!(triangle_count(&directed).expect("ids fit"), counted);
    assert_eq!(counted, verify::triangle_count(&undirected));
}

#[test]
fn results_do_not_depend_on_threads() {
    let edges = kron(12, 16, 7);
    let g = plain_graph(edges.vertices, &edges.edges, true);
    let weighted = weighted_graph(edges.vertices, &edges.edges, false, |rng| rng.below(1000) as f64 / 7.0);
    let run = |threads| {
        with_threads(threads, || {
            let scores = pagerank(&g, &PageRankConfig::default()).expect("valid");
            let bits: Vec<u64> = scores.iter().map(|s| s.to_bits()).collect();
            let depths = bfs(&g, VertexId(edges.edges[0].0), &BfsConfig::default()).expect("live");
            let distances =
                sssp(&weighted, VertexId(edges.edges[0].0), &SsspConfig::default()).expect("sound");
            let distances: Vec<u64> = distances.iter().map(|d| d.to_bits()).collect();
            (bits, depths, distances, wcc(&g).expect("ids fit"), triangle_count(&g).expect("ids fit"))
        })
    };
    let alone = run(1);
    for threads in [2, 3, 8] {
        assert!(alone == run(threads), "{threads} threads gave another result");
    }
}

#[test]
fn tolerance_stops_early_and_single_precision_is_near() {
    let g = random_graph(2000, 20_000, true, 0.1, 3);
    let config = PageRankConfig { iterations: 200, tolerance: Some(1e-12), ..PageRankConfig::default() };
    let scores = pagerank(&g, &config).expect("valid");
    let exact = verify::pagerank(&g, 0.85, 200);
    close(&scores, &exact, 1e-8).expect("converged");
    assert_ne!(scores, pagerank(&g, &PageRankConfig { tolerance: None, ..config }).expect("valid"));
    let single = pagerank_with::<f32, _>(&g, &config).expect("valid");
    let widened: Vec<f64> = single.iter().map(|&s| f64::from(s)).collect();
    close(&widened, &exact, 1e-4).expect("six digits");
}

#[test]
fn top_is_sorted_and_skips_holes() {
    let g = random_graph(300, 2000, true, 0.5, 9);
    let scores = pagerank(&g, &PageRankConfig::default()).expect("valid");
    let all = top_k(&g, &scores, 1000);
    assert_eq!(all.len(), g.vertex_count());
    assert!(all.windows(2).all(|w| w[0].1 > w[1].1 || (w[0].1 == w[1].1 && w[0].0 < w[1].0)));
    assert_eq!(top_k(&g, &scores, 7), all[..7]);
    assert!(top_k(&g, &scores, 0).is_empty());
}

#[test]
fn the_checks_can_fail() {
    let g = plain_graph(4, &[(0, 1), (2, 3)], false);
    let joined = plain_graph(4, &[(0, 1), (1, 2), (2, 3)], false);
    assert_ne!(verify::wcc(&g), wcc(&joined).expect("ids fit"));
    assert!(!verify::same_partition(&verify::wcc(&g), &verify::wcc(&joined)));
    assert!(verify::same_partition(&[7, 7, 9], &[0, 0, 2]));
    assert!(!verify::same_partition(&[7, 7, 9], &[0, 1, 2]));
    assert_eq!(verify::triangle_count(&joined), 0);
    assert_eq!(verify::triangle_count(&plain_graph(4, &[(0, 1), (2, 1), (2, 0), (2, 2)], true)), 1);
    assert!(close(&[1.0], &[f64::NAN], 1.0).is_err());
    assert!(close(&[1.0 + 1e-6], &[1.0], 1e-9).is_err());
}
