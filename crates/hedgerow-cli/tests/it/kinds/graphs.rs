//! Tests of the graphs that algorithms run on, which have the vertices of some kinds.

use super::{CUSTOMERS, EMPLOYEES, ORDERS, PRODUCTS, load};
use crate::{Bench, field, hedgerow};

/// The graph of a kernel has the vertices of the kinds that its labels state, or that the call names.
#[test]
fn algorithms_run_on_the_kinds_of_their_labels() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let wcc = |options: &str| hedgerow(&format!("run wcc @ {options} --json"), &[&store]).ok();
    let all = CUSTOMERS + EMPLOYEES + PRODUCTS + ORDERS + 3;
    for (options, vertices, components) in [
        ("--label reports", EMPLOYEES, 1),
        ("--label reports --kinds employee --kinds shipper", EMPLOYEES + 3, 4),
        ("--label reports --label took", EMPLOYEES + ORDERS, 1),
    ] {
        let result = wcc(options);
        assert_eq!(field(&result, "vertices"), vertices, "{options}");
        assert_eq!(field(&result, "components"), components, "{options}");
    }
    assert_eq!(field(&wcc(""), "vertices"), all);
    // A summary counts only the vertices of the kinds that the label joins: the employees.
    let degrees = hedgerow("run degrees @ --label reports --json", &[&store]).ok();
    let counted = field(&degrees, "distribution");
    let counted = counted.as_array().unwrap().iter().map(|row| row["vertices"].as_u64().unwrap());
    assert_eq!(counted.sum::<u64>(), EMPLOYEES);
    let ranks = hedgerow("run pagerank @ --label reports --top 50 --json", &[&store]).ok();
    let scores = field(&ranks, "top");
    let scores: Vec<f64> =
        scores.as_array().unwrap().iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert_eq!(scores.len() as u64, EMPLOYEES);
    assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{scores:?}");
    for (command, expected) in [
        (
            "run wcc @ --label took --kinds order",
            "edges of label took end at vertices of kind employee: kinds must include this kind",
        ),
        ("run wcc @ --kinds order", "end at vertices of kind customer: kinds must include this kind"),
        ("run wcc @ --label took --kinds person", "no kind person"),
        ("run bfs @ --label reports --source order:1", "vertex 1 is of kind order"),
    ] {
        let message = hedgerow(command, &[&store]).fails(1);
        assert!(message.contains(expected), "{message}");
    }
}
