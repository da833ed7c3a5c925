//! Results that are pairs of vertices.

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
