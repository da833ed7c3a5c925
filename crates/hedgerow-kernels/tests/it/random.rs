//! Tests of properties of every kernel.

use hedgerow_core::{Topology, VertexId};
use hedgerow_kernels::registry::{KERNELS, Kernel};
use hedgerow_kernels::{Cancel, PageRankConfig, pagerank, top_k};
use hedgerow_workload::kron;
use hedgerow_workload::rng::Rng;

use crate::testing::{close, plain_graph, random_graph, weighted_graph, with_threads};

#[test]
fn results_do_not_depend_on_threads() {
    let edges = kron(12, 16, 7);
    let plain = plain_graph(edges.vertices, &edges.edges, true);
    // Weights above 0: an undirected edge of weight 0 is a cycle, which betweenness by weights refuses.
    let weight = |rng: &mut Rng| (1 + rng.below(1000)) as f64 / 7.0;
    let weighted = weighted_graph(edges.vertices, &edges.edges, false, weight);
    let run = |threads| {
        let of = |kernel: &'static Kernel| {
            let arguments = kernel.trial(VertexId(edges.edges[0].0), VertexId(edges.edges[1].1));
            [&plain, &weighted].map(|g| arguments.run(g, &Cancel::new()).expect(kernel.name))
        };
        with_threads(threads, || KERNELS.iter().map(|kernel| of(kernel)).collect::<Vec<_>>())
    };
    // The results are equal to the last bit, because no result has a zero with a sign.
    let alone = run(1);
    for threads in [2, 3, 8] {
        assert!(alone == run(threads), "{threads} threads gave another result");
    }
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
fn the_comparison_of_scores_can_fail() {
    assert!(close(&[1.0], &[f64::NAN], 1.0).is_err());
    assert!(close(&[1.0 + 1e-6], &[1.0], 1e-9).is_err());
}
