//! Tests of forests against Prim's algorithm, with ties, negative weights and batches, and of refused input.

use hedgerow_core::{Topology, VertexId};
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

use crate::testing::{graphs, plain_graph, weighted_graph, with_threads};
use hedgerow_kernels::msf::{minimum_spanning_forest, minimum_spanning_forest_until, verify};
use hedgerow_kernels::{Cancel, KernelError, count_components, wcc};

fn edges_of(found: &hedgerow_kernels::Pairs) -> Vec<(u32, u32, f64)> {
    found.iter().map(|(u, v, weight)| (u.0, v.0, weight)).collect()
}

#[test]
fn forests_as_by_prim() {
    for g in graphs() {
        let found = minimum_spanning_forest(&g).expect("no weights");
        assert_eq!(found, verify::minimum_spanning_forest(&g));
        let components = count_components(&wcc(&g).expect("valid"));
        assert_eq!(found.len() + components, g.vertex_count());
    }
}

#[test]
fn few_weights_make_ties_and_signs_count() {
    assert_eq!(
        edges_of(&minimum_spanning_forest(&triangle([-1.0, 2.0, -3.5])).expect("valid")),
        [(0, 2, -3.5), (0, 1, -1.0)]
    );
    // All three edges have the same weight, so their ends decide.
    assert_eq!(
        edges_of(&minimum_spanning_forest(&triangle([0.0, -0.0, 0.0])).expect("valid")),
        [(0, 1, 0.0), (0, 2, 0.0)]
    );
    for (at, kinds) in [1, 2, 5, 1000].into_iter().enumerate() {
        for directed in [false, true] {
            let edges: Vec<(u32, u32)> = (0..3000u32).map(|i| (i * 7 % 400, i * i % 371)).collect();
            let g = weighted_graph(450, &edges, directed, |rng| rng.below(kinds) as f64 - at as f64);
            let found = minimum_spanning_forest(&g).expect("valid");
            assert_eq!(found, verify::minimum_spanning_forest(&g));
            let least: f64 = verify::minimum_spanning_forest(&g).values().iter().sum();
            assert_eq!(found.total(), least);
        }
    }
}

fn triangle(weights: [f64; 3]) -> Csr {
    let mut next = weights.into_iter();
    weighted_graph(3, &[(0, 1), (2, 1), (2, 0)], true, move |_| next.next().unwrap_or(0.0))
}

#[test]
fn of_repeated_edges_the_lightest_counts_and_loops_do_not() {
    let edges = [(0, 1), (0, 1), (1, 0), (1, 1), (2, 1)];
    let weights = [4.0, 2.0, 3.0, -9.0, 1.0];
    let options = CsrOptions { directed: true, duplicates: Duplicates::Keep, ..CsrOptions::default() };
    let g = Csr::from_weighted_edges(3, &edges, &weights, &options).expect("valid");
    let found = minimum_spanning_forest(&g).expect("valid");
    assert_eq!(edges_of(&found), [(1, 2, 1.0), (0, 1, 2.0)]);
}

/// The graph has more edges than a batch takes, and more than are sorted together. In the second graph, one
/// edge occurs more often than both numbers.
#[test]
fn many_edges_come_in_batches() {
    let edges: Vec<(u32, u32)> = (0..400_000u32).map(|i| (i % 997, (i / 997 * 31 + i * 3) % 1000)).collect();
    let g = weighted_graph(1000, &edges, true, |rng| rng.below(1 << 30) as f64);
    let found = minimum_spanning_forest(&g).expect("valid");
    assert_eq!(found, verify::minimum_spanning_forest(&g));
    for threads in [1, 2, 3, 8] {
        assert!(
            with_threads(threads, || minimum_spanning_forest(&g)).as_ref() == Ok(&found),
            "{threads} threads"
        );
    }
    let repeated: Vec<(u32, u32)> =
        (0..200_000u32).map(|i| if i % 100 == 0 { (i / 100, 3) } else { (7, 9) }).collect();
    let weights: Vec<f64> =
        (0..200_000).map(|i| if i % 100 == 0 { f64::from(i % 700) } else { 0.0 }).collect();
    let options = CsrOptions { directed: true, duplicates: Duplicates::Keep, ..CsrOptions::default() };
    let g = Csr::from_weighted_edges(100_000, &repeated, &weights, &options).expect("valid");
    let found = minimum_spanning_forest(&g).expect("valid");
    assert_eq!(found, verify::minimum_spanning_forest(&g));
}

#[test]
fn what_cannot_be_is_refused() {
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = minimum_spanning_forest(&triangle([1.0, weight, 2.0])).expect_err("no number");
        assert!(matches!(refused, KernelError::NotFinite { from: VertexId(2), to: VertexId(1), .. }));
        let text = format!("the edge from vertex 2 to 1 weighs {weight}, expected a finite number");
        assert_eq!(refused.to_string(), text);
    }
    // The error names the first such edge, whichever thread reads it.
    let edges: Vec<(u32, u32)> = (0..60_000).map(|v| (v, v + 1)).collect();
    let mut next = 0;
    let g = weighted_graph(60_001, &edges, true, |_| {
        next += 1;
        if next > 5000 && next % 1000 == 3 { f64::NAN } else { 1.0 }
    });
    for threads in [1, 2, 3, 8] {
        let refused = with_threads(threads, || minimum_spanning_forest(&g)).expect_err("no number");
        assert!(matches!(refused, KernelError::NotFinite { from: VertexId(5002), .. }), "{refused}");
    }
    assert!(minimum_spanning_forest(&plain_graph(0, &[], false)).expect("valid").is_empty());
    let cancel = Cancel::new();
    cancel.cancel();
    let ended = minimum_spanning_forest_until(&triangle([1.0; 3]), &cancel);
    assert_eq!(ended, Err(KernelError::Cancelled));
}
