//! Tests of published results: the LDBC Graphalytics test graphs and p2p-Gnutella31.
// Listing a data folder is not a file access of the engine.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

use hedgerow_core::{Direction, Resident, VertexId, VertexKey};
use hedgerow_kernels::{
    BfsConfig, PageRankConfig, SsspConfig, UNREACHED, bfs, label_propagation, local_clustering, pagerank,
    sssp, triangle_count, verify, wcc,
};
use hedgerow_workload::Csr;
use hedgerow_workload::read::{Graphalytics, read_expected};
use hedgerow_workload::{GraphSpec, LoadedGraph, require_data};

use crate::testing::{close, csr_of};

/// The permitted relative error of scores.
const RELATIVE: f64 = 1e-9;

/// The permitted relative error of clustering coefficients, by the Graphalytics specification. Some
/// coefficients are published with twelve digits.
const RELATIVE_OF_LCC: f64 = 1e-4;

/// The permitted relative error for `test-pr-*`, by the Graphalytics specification. Their publisher did not
/// stop after the iterations that the properties state. The file of the directed graph has the limit of the
/// iterations.
const RELATIVE_BY_SPECIFICATION: f64 = 1e-4;

fn dense(graph: &LoadedGraph, key: u64) -> VertexId {
    let wanted = hedgerow_core::VertexKey::U64(key);
    let at = (0..graph.vertices as u32).find(|&v| graph.key(v) == wanted);
    VertexId(at.expect("the source is in the vertex file"))
}

/// Returns the expected values in the order of dense ids.
fn expected<T: std::str::FromStr + Copy>(graph: &LoadedGraph, path: &Path) -> Vec<T> {
    let results = read_expected::<T>(path).expect("a readable result");
    let by_key: std::collections::HashMap<u64, T> = results.into_iter().collect();
    assert_eq!(by_key.len(), graph.vertices, "one result a vertex in {}", path.display());
    (0..graph.vertices as u32)
        .map(|v| match graph.key(v) {
            hedgerow_core::VertexKey::U64(key) => by_key[&key],
            other => panic!("key {other} is no number"),
        })
        .collect()
}

fn check_bfs(graph: &LoadedGraph, csr: &Csr, source: u64, file: &Path) {
    let depths = bfs(csr, dense(graph, source), &BfsConfig::default()).expect("live");
    let widened = depths.into_iter().map(|d| if d == UNREACHED { i64::MAX as u64 } else { u64::from(d) });
    assert_eq!(widened.collect::<Vec<u64>>(), expected::<u64>(graph, file), "{}", file.display());
}

fn check_pagerank(graph: &LoadedGraph, csr: &Csr, damping: f64, iterations: u32, file: &Path) {
    let config = PageRankConfig { damping, iterations, tolerance: None };
    let scores = pagerank(csr, &config).expect("valid");
    let relative = if graph.name.contains("test-pr-") { RELATIVE_BY_SPECIFICATION } else { RELATIVE };
    close(&scores, &expected::<f64>(graph, file), relative).expect("scores as published");
}

fn check_wcc(graph: &LoadedGraph, csr: &Csr, file: &Path) {
    let components = wcc(csr).expect("ids fit");
    let published: Vec<u32> =
        expected::<u64>(graph, file).into_iter().map(|c| u32::try_from(c).expect("a small label")).collect();
    assert!(verify::same_partition(&components, &published), "{}", file.display());
}

/// Checks distances. They are sums, and the publisher added their terms in another order.
fn check_sssp(graph: &LoadedGraph, csr: &Csr, source: u64, file: &Path) {
    let distances = sssp(csr, dense(graph, source), &SsspConfig::default()).expect("sound weights");
    let (finite, infinite): (Vec<_>, Vec<_>) =
        distances.iter().zip(expected::<f64>(graph, file)).partition(|(_, e)| e.is_finite());
    assert!(infinite.iter().all(|(d, _)| d.is_infinite()), "{}", file.display());
    let (mine, published): (Vec<f64>, Vec<f64>) = finite.into_iter().unzip();
    close(&mine, &published, RELATIVE).expect("distances as published");
}

/// Checks coefficients. In an undirected graph, each one is a share of the pairs of neighbors, so together
/// they determine the number of triangles, which is also checked.
fn check_lcc(graph: &LoadedGraph, csr: &Csr, file: &Path) {
    let published = expected::<f64>(graph, file);
    let coefficients = local_clustering(csr).expect("ids fit");
    let relative = if graph.name.contains("test-lcc-") { RELATIVE_OF_LCC } else { RELATIVE };
    close(&coefficients, &published, relative).expect("coefficients as published");
    if graph.directed {
        return;
    }
    let at_vertices = (0u32..).zip(published).map(|(v, coefficient)| {
        let others = csr.neighbors(VertexId(v), Direction::Out).iter().filter(|u| u.0 != v);
        let degree = others.count() as f64;
        coefficient * degree * (degree - 1.0) / 2.0
    });
    let (at_vertices, triangles) = (at_vertices.sum::<f64>(), triangle_count(csr).expect("ids fit") as f64);
    assert!((at_vertices / 3.0 - triangles).abs() < 1e-6 * triangles.max(1.0), "{}", file.display());
    assert!(triangles > 0.0, "{} has none to count", file.display());
}

/// Checks labels, which are keys of vertices.
fn check_cdlp(graph: &LoadedGraph, csr: &Csr, iterations: u32, file: &Path) {
    assert!((1..graph.vertices as u32).all(|v| graph.key(v - 1) < graph.key(v)), "ids ascend as keys do");
    let labels = label_propagation(csr, iterations).expect("some iterations");
    let names: Vec<VertexKey> = labels.into_iter().map(|label| graph.key(label)).collect();
    let published: Vec<VertexKey> = expected::<u64>(graph, file).into_iter().map(VertexKey::U64).collect();
    assert_eq!(names, published, "{}", file.display());
}

#[test]
fn graphalytics_test_graphs() {
    let folder = require_data("ldbc/graphalytics-tests/graphs", "Graphalytics test graphs").expect("data");
    let Some(folder) = folder else { return };
    let mut checked = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "properties") {
            continue;
        }
        let properties = Graphalytics::open(&path).expect("readable properties");
        let spec = GraphSpec::File { path, format: None, undirected: false };
        let graph = spec.load().expect("a readable graph").expect("present");
        assert_eq!(graph.directed, properties.directed);
        let csr = csr_of(&graph);
        for algorithm in properties.algorithms() {
            let file = properties.expected_file(&algorithm);
            match algorithm.as_str() {
                "bfs" => {
                    let source = properties.required("bfs.source-vertex").expect("a source");
                    check_bfs(&graph, &csr, source, &file);
                }
                "pr" => {
                    let damping = properties.required("pr.damping-factor").expect("a damping factor");
                    let iterations = properties.required("pr.num-iterations").expect("iterations");
                    check_pagerank(&graph, &csr, damping, iterations, &file);
                    if properties.name == "test-pr-directed" {
                        let limit =
                            pagerank(&csr, &PageRankConfig { damping, iterations: 80, tolerance: None });
                        close(&limit.expect("valid"), &expected(&graph, &file), RELATIVE).expect("the limit");
                    }
                }
                "sssp" => {
                    let source = properties.required("sssp.source-vertex").expect("a source");
                    check_sssp(&graph, &csr, source, &file);
                }
                "lcc" => check_lcc(&graph, &csr, &file),
                "cdlp" => {
                    let iterations = properties.required("cdlp.max-iterations").expect("iterations");
                    check_cdlp(&graph, &csr, iterations, &file);
                }
                "wcc" => check_wcc(&graph, &csr, &file),
                _ => continue,
            }
            checked += 1;
        }
    }
    // Two example graphs with all six results, and two test graphs for each result.
    assert_eq!(checked, 24);
}

#[test]
fn p2p_gnutella31() {
    let name = "expected/graphscope-p2p-Gnutella31";
    let Some(folder) = require_data(name, "p2p-Gnutella31").expect("data") else { return };
    let result = |algorithm: &str| folder.join(format!("expected/p2p-31-{algorithm}.zst"));
    let spec = GraphSpec::Data { name: name.to_owned() };
    let mut graph = spec.load().expect("readable").expect("present");
    assert_eq!((graph.vertices, graph.edges.len()), (62_586, 147_892));
    let csr = csr_of(&graph);
    check_bfs(&graph, &csr, 6, &result("BFS-directed"));
    check_wcc(&graph, &csr, &result("WCC"));
    check_sssp(&graph, &csr, 6, &result("SSSP-directed"));
    graph.directed = false;
    let csr = csr_of(&graph);
    check_bfs(&graph, &csr, 6, &result("BFS"));
    check_wcc(&graph, &csr, &result("WCC"));
    check_pagerank(&graph, &csr, 0.85, 10, &result("PR"));
    check_sssp(&graph, &csr, 6, &result("SSSP"));
    check_lcc(&graph, &csr, &result("LCC"));
    check_cdlp(&graph, &csr, 10, &result("CDLP"));
}

#[test]
fn ego_facebook_has_the_published_triangles() {
    let spec = GraphSpec::Data { name: "static/snap-ego-Facebook".to_owned() };
    let Some(graph) = spec.load().expect("readable") else { return };
    assert_eq!(triangle_count(&csr_of(&graph)), Ok(1_612_010));
}
