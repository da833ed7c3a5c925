//! Tests of the output of `run` for components, cores, labels, clustering and degrees, by the keys of the
//! vertices.

use serde_json::json;

use crate::{Bench, field, hedgerow};

/// A ring of three that leads to a ring of two, and a vertex that leads to both.
const RINGS: &str = "10,20\n20,30\n30,10\n30,40\n40,50\n50,40\n60,10\n60,40\n";

fn run(bench: &Bench, command: &str) -> String {
    hedgerow(&format!("run {command} --json"), &[&bench.store()]).ok()
}

#[test]
fn strong_components_and_labels_are_named_by_keys() {
    let bench = Bench::new();
    let file = bench.file("rings.csv", RINGS);
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let strong = run(&bench, "scc @");
    assert_eq!(
        (field(&strong, "components"), field(&strong, "largest")[0]["component"].clone()),
        (3.into(), 10.into())
    );
    assert_eq!(field(&strong, "largest")[0]["vertices"], 3);
    let all = hedgerow("run scc @ --out -", &[&bench.store()]).ok();
    assert_eq!(all, "10 10\n20 10\n30 10\n40 40\n50 40\n60 60\n");
    let labels = hedgerow("run cdlp @ --iterations 1 --out - --csv", &[&bench.store()]).ok();
    // Vertices 40 and 50 have edges to each other in both directions, so each gets the label of the other
    // one.
    assert_eq!(labels, "key,value\n10,20\n20,10\n30,10\n40,50\n50,40\n60,10\n");
    let told = run(&bench, "cdlp @ --iterations 1");
    assert_eq!((field(&told, "iterations"), field(&told, "labels")), (json!(1), json!(4)));
    assert_eq!(field(&told, "largest")[0], json!({"label": 10, "vertices": 3}));
    let refused = hedgerow("run cdlp @ --iterations 0", &[&bench.store()]).fails(2);
    assert!(refused.contains("iterations must be 1 to 4294967295, found 0"), "{refused}");
}

#[test]
fn cores_and_degrees_are_counted() {
    let bench = Bench::new();
    let file = bench.file("rings.csv", RINGS);
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let cores = run(&bench, "kcore @");
    assert_eq!(field(&cores, "largest"), 2);
    assert_eq!(field(&cores, "distribution"), json!([{"core": 2, "vertices": 6}]));
    let out = run(&bench, "degrees @");
    assert_eq!(
        field(&out, "distribution"),
        json!([{"degree": 1, "vertices": 4}, {"degree": 2, "vertices": 2}])
    );
    let into = hedgerow("run degrees @ --in --out -", &[&bench.store()]).ok();
    assert_eq!(into, "10 2\n20 1\n30 1\n40 3\n50 1\n60 0\n");
    let clustering = hedgerow("run lcc @ --out - --csv", &[&bench.store()]).ok();
    assert!(clustering.contains("\n20,5e-1\n"), "{clustering}");
}
