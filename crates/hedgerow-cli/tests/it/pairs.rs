//! Tests of results that are pairs of vertices.

use serde_json::json;

use crate::{Bench, field, hedgerow};

#[test]
fn a_spanning_forest_is_printed_and_written() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "src,dst,weight\n1,2,5\n1,3,1.5\n3,2,-2\n7,8,0\n");
    hedgerow("load @ @ --weighted", &[&bench.store(), &file]).ok();
    let store = bench.store();
    let full = hedgerow("run msf @ --out -", &[&store]).ok();
    assert_eq!(full, "2 3 -2e0\n7 8 0e0\n1 3 1.5e0\n");
    assert_eq!(hedgerow("run msf @ --out - --memory-limit 64MiB", &[&store]).ok(), full);
    let csv = hedgerow("run msf @ --out - --csv", &[&store]).ok();
    assert_eq!(csv, "from,to,value\n2,3,-2e0\n7,8,0e0\n1,3,1.5e0\n");
    let summary = hedgerow("run msf @ --top 1 --json", &[&store]).ok();
    assert_eq!((field(&summary, "pairs"), field(&summary, "total")), (json!(3), json!(-0.5)));
    assert_eq!(field(&summary, "first"), json!([{"from": 2, "to": 3, "weight": -2.0}]));
    let infinite = bench.file("b.csv", "src,dst,weight\n4,5,inf\n");
    hedgerow("load @ @ --weighted", &[&store, &infinite]).ok();
    let error = hedgerow("run msf @", &[&store]).fails(1);
    assert!(error.contains("the edge between 4 and 5 weighs inf, expected a finite number"), "{error}");
}

#[test]
fn vertices_are_compared() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "a,x\na,y\nb,x\nb,y\nb,z\nc,y\n");
    hedgerow("load @ @ --keys str --no-header", &[&bench.store(), &file]).ok();
    let store = bench.store();
    let nearest = hedgerow("run jaccard @ --sources a --k 5 --out -", &[&store]).ok();
    assert_eq!(nearest, format!("a b {:e}\na c 5e-1\n", 2.0 / 3.0));
    let command = "run jaccard @ --sources x --targets y --sources a --targets x --in --out - --csv";
    let expected = format!("from,to,value\nx,y,{:e}\na,x,0e0\n", 2.0 / 3.0);
    assert_eq!(hedgerow(command, &[&store]).ok(), expected);
    let summary = hedgerow("run adamic_adar @ --sources c --top 1 --json", &[&store]).ok();
    assert_eq!(field(&summary, "pairs"), json!(2));
    let first = &field(&summary, "first")[0];
    assert_eq!((&first["from"], &first["to"]), (&json!("c"), &json!("a")));
    let score = first["score"].as_f64().expect("a number");
    assert!((score - 1.0 / 3.0f64.ln()).abs() < 1e-12, "{score}");
    let error = hedgerow("run jaccard @ --sources a --targets b --targets c", &[&store]).fails(2);
    assert!(error.contains("targets must be as many vertices as sources, found 2"), "{error}");
    let error = hedgerow("run jaccard @ --sources nobody", &[&store]).fails(1);
    assert!(error.contains("--sources: no vertex nobody in the store"), "{error}");
    let error = hedgerow("run jaccard @ --sources a --k 0", &[&store]).fails(2);
    assert!(error.contains("k must be 1 to 4294967295, found 0"), "{error}");
}

#[test]
fn mates_and_parents() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "a,x\na,y\nb,x\nc,d\nc,x\n");
    let alone = bench.file("a.v", "alone\n");
    hedgerow("load @ @ @ --keys str --no-header", &[&bench.store(), &file, &alone]).ok();
    let store = bench.store();
    // Of the three vertices with an edge to x, only b has no other edge.
    let mates = hedgerow("run matching @ --out -", &[&store]).ok();
    assert_eq!(mates, "a y\nx b\ny a\nb x\nc d\nd c\n");
    let maximal = hedgerow("run matching @ --maximum 0 --json --top 1", &[&store]).ok();
    assert_eq!((field(&maximal, "found"), field(&maximal, "maximum")), (json!(4), json!(0)));
    assert_eq!(field(&maximal, "first"), json!([{"key": "a", "mate": "x"}]));
    let parents = hedgerow("run bfs_parents @ --source a --out - --csv", &[&store]).ok();
    assert_eq!(parents, "key,value\na,a\nx,a\ny,a\n");
    let parents = hedgerow("run bfs_parents @ --source x --in --out -", &[&store]).ok();
    assert_eq!(parents, "a x\nx x\nb x\nc x\n");
    let error = hedgerow("run matching @ --maximum 2", &[&store]).fails(2);
    assert!(error.contains("maximum must be 0 or 1, found 2"), "{error}");
    let odd = bench.file("b.csv", "x,y\n");
    hedgerow("load @ @ --keys str --no-header", &[&store, &odd]).ok();
    let error = hedgerow("run matching @", &[&store]).fails(1);
    assert!(error.contains("the graph is not bipartite: the edge between x and y closes"), "{error}");
    hedgerow("run matching @ --maximum 0", &[&store]).ok();
}

#[test]
fn closeness_of_all_and_of_some() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n7,8\n");
    hedgerow("load @ @ --undirected --no-header", &[&bench.store(), &file]).ok();
    let store = bench.store();
    let all = hedgerow("run closeness @ --out -", &[&store]).ok();
    assert_eq!(all, format!("1 {0:e}\n2 5e-1\n3 {0:e}\n7 2.5e-1\n8 2.5e-1\n", 1.0 / 3.0));
    let some = hedgerow("run closeness @ --sources 7 --sources 2 --top 1 --csv", &[&store]).ok();
    assert_eq!(some, "key,score\n2,0.5\n");
    let error = hedgerow("run closeness @ --samples 0", &[&store]).fails(2);
    assert!(error.contains("samples must be 1 to 4294967295, found 0"), "{error}");
}
