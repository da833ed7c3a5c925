//! Tests of algorithms that use weights of edges, from the store or from a property.

use serde_json::json;

use crate::{Bench, field, hedgerow};

/// Makes an undirected store of these edges, each with a weight.
fn store(bench: &Bench, edges: &str) -> std::path::PathBuf {
    let file = bench.file("a.csv", format!("src,dst,weight\n{edges}"));
    hedgerow("load @ @ --weighted --undirected --keys str", &[&bench.store(), &file]).ok();
    bench.store()
}

#[test]
fn scores_and_walks_by_weights() {
    let bench = Bench::new();
    // With weights, the shortest path from a to c goes over b. Without weights it does not.
    let store = store(&bench, "a,b,1\nb,c,1\na,c,4\n");
    let all = hedgerow("run wbetweenness @ --out -", &[&store]).ok();
    assert_eq!(all, "a 0e0\nb 1e0\nc 0e0\n");
    assert_eq!(hedgerow("run wbetweenness @ --out - --memory-limit 64MiB", &[&store]).ok(), all);
    assert_eq!(hedgerow("run betweenness @ --out -", &[&store]).ok(), "a 0e0\nb 0e0\nc 0e0\n");
    let near = hedgerow("run wcloseness @ --out -", &[&store]).ok();
    assert_eq!(near, format!("a {0:e}\nb 1e0\nc {0:e}\n", 2.0 / 3.0));
    // Four fifths of the score of c go to a.
    let around = hedgerow("run wpagerank @ --sources c --iterations 1 --damping 1 --out -", &[&store]).ok();
    assert_eq!(around, "a 8e-1\nb 2e-1\nc 0e0\n");
    let walks = hedgerow("run wwalks @ --sources b --walks 4 --steps 2 --json --top 1", &[&store]).ok();
    assert_eq!(field(&walks, "paths"), json!(4), "{walks}");
}

#[test]
fn weights_that_cannot_be_are_errors_that_name_the_edge() {
    let bench = Bench::new();
    let store = store(&bench, "a,b,0\nb,c,1\n");
    let error = hedgerow("run wbetweenness @", &[&store]).fails(1);
    assert!(error.contains("weighs 0, expected more than 0: it lies on a cycle of edges"), "{error}");
    assert!(
        error.contains("the edge between a and b") || error.contains("the edge between b and a"),
        "{error}"
    );
    hedgerow("run wcloseness @", &[&store]).ok();
    let more = bench.file("b.csv", "src,dst,weight\nx,y,1e-320\n");
    hedgerow("load @ @ --weighted", &[&store, &more]).ok();
    let error = hedgerow("run wpagerank @", &[&store]).fails(1);
    assert!(
        error.contains("the weights of the edges from x sum to 1e-320, expected 0 or a number in"),
        "{error}"
    );
    let more = bench.file("c.csv", "src,dst,weight\nb,c,-2\n");
    hedgerow("load @ @ --weighted", &[&store, &more]).ok();
    for kernel in ["wbetweenness", "wcloseness", "wpagerank", "wwalks"] {
        let error = hedgerow(&format!("run {kernel} @"), &[&store]).fails(1);
        assert!(error.contains("weighs -2, expected 0 or more"), "{kernel}: {error}");
    }
    let error = hedgerow("run wwalks @ --p 0", &[&store]).fails(2);
    assert!(error.contains("p must be in 0.001..=1000, found 0"), "{error}");
}

/// Keys may contain blanks. A path is a list of keys, or its keys are quoted.
#[test]
fn the_keys_of_a_path_can_be_told_apart() {
    let bench = Bench::new();
    let edges = bench.file("e.csv", "src,dst\nGeorge Keith,Robert Barclay\nRobert Barclay,Anne\n");
    let (store, names) = (bench.store(), ["George Keith", "Robert Barclay", "Anne"]);
    hedgerow("load @ @ --keys str --header", &[&store, &edges]).ok();
    let path = |more: &[&str]| {
        let mut program = crate::program();
        program.args(["run", "path", "--source", names[0], "--target", names[2]]).args(more).arg(&store);
        String::from_utf8(program.output().expect("the program runs").stdout).expect("text")
    };
    let found: serde_json::Value = serde_json::from_str(&path(&["--json"])).expect("JSON");
    assert_eq!(found["first"][0]["path"], json!(names));
    assert_eq!(path(&["--out", "-"]), "2 \"George Keith\" \"Robert Barclay\" Anne\n");
    let table = path(&["--csv"]);
    assert!(table.contains("\"[\"\"George Keith\"\",\"\"Robert Barclay\"\",\"\"Anne\"\"]\""), "{table}");
}
