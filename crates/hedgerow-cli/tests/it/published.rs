//! Tests of published results with the command line: the LDBC Graphalytics test graphs and p2p-Gnutella31.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_workload::read::{Graphalytics, read_expected};
use hedgerow_workload::require_data;

use crate::{Bench, field, hedgerow};

/// The permitted relative error of scores.
const RELATIVE: f64 = 1e-9;

/// The permitted relative error for `test-pr-*`, by the Graphalytics specification. Their publisher did not
/// stop after the iterations that the properties state. The file of the directed graph has the limit of the
/// iterations.
const RELATIVE_BY_SPECIFICATION: f64 = 1e-4;

/// The permitted relative error of clustering coefficients, by the specification. Some are published with
/// twelve digits.
const RELATIVE_OF_LCC: f64 = 1e-4;

/// Runs an algorithm, writes its full result into a file, and reads this result and the published one.
fn results<T: std::str::FromStr + Copy>(bench: &Bench, run: &str, expected: &Path) -> Vec<(u64, T, T)> {
    let out = bench.path("result");
    hedgerow(&format!("run {run} --graphalytics --out @"), &[&bench.store(), &out]).ok();
    let published: HashMap<u64, T> =
        read_expected(expected).expect("a readable result").into_iter().collect();
    let found = read_expected::<T>(&out).expect("a readable result");
    assert_eq!(found.len(), published.len(), "a value for every vertex of {}", expected.display());
    found.into_iter().map(|(key, value)| (key, value, published[&key])).collect()
}

fn check_bfs(bench: &Bench, source: u64, expected: &Path) -> usize {
    let results = results::<i64>(bench, &format!("bfs @ --source {source}"), expected);
    for &(key, found, published) in &results {
        assert_eq!(found, published, "vertex {key} of {}", expected.display());
    }
    results.len()
}

fn check_pagerank(bench: &Bench, damping: &str, iterations: u32, relative: f64, expected: &Path) -> usize {
    let run = format!("pagerank @ --damping {damping} --iterations {iterations}");
    check_scores(bench, &run, relative, expected)
}

fn check_scores(bench: &Bench, run: &str, relative: f64, expected: &Path) -> usize {
    let results = results::<f64>(bench, run, expected);
    for &(key, found, published) in &results {
        let error = (found - published).abs();
        assert!(
            error <= relative * published.abs(),
            "vertex {key} of {}: {found}, not {published}",
            expected.display()
        );
    }
    results.len()
}

/// Checks labels, which are keys. The least of equally frequent ones wins, because keys are loaded in
/// ascending order.
fn check_cdlp(bench: &Bench, iterations: u32, expected: &Path) -> usize {
    let results = results::<u64>(bench, &format!("cdlp @ --iterations {iterations}"), expected);
    for &(key, found, published) in &results {
        assert_eq!(found, published, "vertex {key} of {}", expected.display());
    }
    results.len()
}

fn check_sssp(bench: &Bench, source: u64, expected: &Path) -> usize {
    let results = results::<f64>(bench, &format!("sssp @ --source {source}"), expected);
    for &(key, found, published) in &results {
        let same = found == published || (found - published).abs() <= RELATIVE * published;
        assert!(same, "vertex {key} of {}: {found}, not {published}", expected.display());
    }
    results.len()
}

/// Checks that both results are the same partition, by a one-to-one mapping of their labels.
fn check_wcc(bench: &Bench, expected: &Path) -> usize {
    let results = results::<u64>(bench, "wcc @", expected);
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    for &(key, found, published) in &results {
        let same = *forth.entry(found).or_insert(published) == published
            && *back.entry(published).or_insert(found) == found;
        assert!(same, "vertex {key} of {}", expected.display());
    }
    results.len()
}

#[test]
fn graphalytics_test_graphs() {
    let name = "ldbc/graphalytics-tests/graphs";
    let Some(folder) = require_data(name, "Graphalytics test graphs").expect("data") else { return };
    let (mut checked, mut values) = (0, 0);
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "properties") {
            continue;
        }
        let graph = Graphalytics::open(&path).expect("readable properties");
        let bench = Bench::new();
        let loaded = hedgerow("load @ @ --json", &[&bench.store(), &path]).ok();
        let stats = hedgerow("stats @ --json", &[&bench.store()]).ok();
        assert_eq!(field(&stats, "directed"), graph.directed, "{loaded}");
        for algorithm in graph.algorithms() {
            let expected = graph.expected_file(&algorithm);
            values += match algorithm.as_str() {
                "bfs" => check_bfs(&bench, graph.required("bfs.source-vertex").expect("a source"), &expected),
                "pr" => {
                    let damping = graph.entry("pr.damping-factor").expect("a damping factor");
                    let iterations = graph.required("pr.num-iterations").expect("iterations");
                    let of_specification = graph.name.starts_with("test-pr-");
                    let relative = if of_specification { RELATIVE_BY_SPECIFICATION } else { RELATIVE };
                    if graph.name == "test-pr-directed" {
                        check_pagerank(&bench, damping, 80, RELATIVE, &expected);
                    }
                    check_pagerank(&bench, damping, iterations, relative, &expected)
                }
                "sssp" => {
                    let source = graph.required("sssp.source-vertex").expect("a source");
                    check_sssp(&bench, source, &expected)
                }
                "wcc" => check_wcc(&bench, &expected),
                "lcc" => check_scores(&bench, "lcc @", RELATIVE_OF_LCC, &expected),
                "cdlp" => {
                    let iterations = graph.required("cdlp.max-iterations").expect("iterations");
                    check_cdlp(&bench, iterations, &expected)
                }
                _ => continue,
            };
            checked += 1;
        }
    }
    // Two example graphs with all six results, and two test graphs for each result.
    assert_eq!(checked, 24);
    println!("{checked} published results, {values} values");
}

#[test]
fn p2p_gnutella31() {
    let name = "expected/graphscope-p2p-Gnutella31";
    let Some(folder) = require_data(name, "p2p-Gnutella31").expect("data") else { return };
    let expected = |algorithm: &str| folder.join(format!("expected/p2p-31-{algorithm}.zst"));
    let (vertices, edges) = (folder.join("p2p-31.v.zst"), folder.join("p2p-31.e.zst"));
    for direction in ["--directed", "--undirected"] {
        let bench = Bench::new();
        let command = format!("load @ @ @ --json --weighted {direction}");
        let loaded = hedgerow(&command, &[&bench.store(), &vertices, &edges]).ok();
        assert_eq!((field(&loaded, "vertices"), field(&loaded, "edges")), (62_586.into(), 147_892.into()));
        assert_eq!(check_wcc(&bench, &expected("WCC")), 62_586);
        if direction == "--directed" {
            check_bfs(&bench, 6, &expected("BFS-directed"));
            check_sssp(&bench, 6, &expected("SSSP-directed"));
        } else {
            check_bfs(&bench, 6, &expected("BFS"));
            check_sssp(&bench, 6, &expected("SSSP"));
            check_pagerank(&bench, "0.85", 10, RELATIVE, &expected("PR"));
            check_scores(&bench, "lcc @", RELATIVE, &expected("LCC"));
            check_cdlp(&bench, 10, &expected("CDLP"));
        }
    }
}
