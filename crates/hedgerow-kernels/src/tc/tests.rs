//! Tests of every way in which the kernel intersects lists, and of known counts.

use crate::testing::{graphs, plain_graph};
use hedgerow_core::Topology;
use hedgerow_kernels::tc::{triangle_count, verify};
use hedgerow_workload::kron;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

#[test]
fn counts_as_asked_for_one_by_one() {
    // The time of the slow verifier grows with the squares of the degrees.
    for g in graphs().iter().filter(|g| g.edge_count() < 50_000) {
        assert_eq!(triangle_count(g).expect("ids fit"), verify::triangle_count(g));
    }
}

/// The kernel intersects lists with hubs as bits, bit by bit and by words, and lists beyond the hubs.
#[test]
fn triangles_of_large_graphs_counted_two_ways() {
    let complete = |n: u32| (0..n).flat_map(move |v| (0..v).map(move |u| (u, v)));
    // There are more vertices than hubs, so the last vertices meet lists that are not stored as bits.
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
    // A directed graph in which some edges exist in both directions has the same triangles.
    let back = graph.edges.iter().filter(|e| e.0 % 3 == 0).map(|&(u, v)| (v, u));
    let both: Vec<(u32, u32)> = graph.edges.iter().copied().chain(back).collect();
    let directed = plain_graph(graph.vertices, &both, true);
    let counted = triangle_count(&undirected).expect("ids fit");
    assert_eq!(triangle_count(&directed).expect("ids fit"), counted);
    assert_eq!(counted, verify::triangle_count(&undirected));
}

/// If no vertex has many neighbors, the kernel intersects lists in their stored form. The lists have
/// repetitions and loops, in large and in small graphs.
#[test]
fn triangles_of_flat_graphs_are_those_of_the_slow_count() {
    let mut rng = hedgerow_workload::rng::Rng::new(5);
    for (vertices, edges, near) in [(40, 120, 40), (3000, 9000, 8), (3000, 16_000, 12), (3000, 15_000, 3000)]
    {
        let edges: Vec<(u32, u32)> = (0..edges)
            .map(|_| {
                let u = rng.below(vertices) as u32;
                (u, (u + rng.below(near) as u32) % vertices as u32)
            })
            .collect();
        let g = plain_graph(vertices as usize, &edges, false);
        let expected = verify::triangle_count(&g);
        assert!(expected > 0);
        assert_eq!(triangle_count(&g).expect("ids fit"), expected, "{vertices} {near}");
        // A third of the edges is repeated, and the graph keeps the repetitions.
        let repeated: Vec<(u32, u32)> = edges.iter().chain(edges.iter().step_by(3)).copied().collect();
        let options = CsrOptions { directed: false, duplicates: Duplicates::Keep, ..CsrOptions::default() };
        let g = Csr::from_edges(vertices as usize, &repeated, &options).expect("ends in range");
        assert_eq!(triangle_count(&g).expect("ids fit"), expected, "{vertices} {near}, with repetitions");
    }
}

#[test]
fn the_slow_count_can_differ() {
    let joined = plain_graph(4, &[(0, 1), (1, 2), (2, 3)], false);
    assert_eq!(verify::triangle_count(&joined), 0);
    assert_eq!(verify::triangle_count(&plain_graph(4, &[(0, 1), (2, 1), (2, 0), (2, 2)], true)), 1);
}
