//! Tests of known coefficients, and of every way in which the kernel intersects lists.

use hedgerow_core::Topology;
use hedgerow_workload::kron;

use crate::testing::{graphs, plain_graph};
use hedgerow_kernels::lcc::{local_clustering, verify};

#[test]
fn coefficients_as_asked_for_one_by_one() {
    // The time of the slow verifier grows with the squares of the degrees.
    for g in graphs().iter().filter(|g| g.edge_count() < 50_000) {
        assert_eq!(local_clustering(g).expect("ids fit"), verify::local_clustering(g));
    }
}

/// One edge of a triangle exists in both directions. The opposite vertex has both edges between its
/// neighbors, and the other two vertices have one of two possible edges each.
#[test]
fn directions_count_between_neighbors_and_not_to_them() {
    let g = plain_graph(4, &[(0, 1), (1, 0), (1, 2), (2, 0), (3, 3), (0, 0)], true);
    assert_eq!(local_clustering(&g), Ok(vec![0.5, 0.5, 1.0, 0.0]));
    let turned = plain_graph(4, &[(1, 0), (0, 1), (2, 1), (0, 2)], true);
    assert_eq!(local_clustering(&turned), Ok(vec![0.5, 0.5, 1.0, 0.0]));
    let undirected = plain_graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3)], false);
    assert_eq!(local_clustering(&undirected), Ok(vec![1.0, 1.0, 1.0 / 3.0, 0.0]));
}

/// The graphs have hubs that are intersected by words and by pairs, and lists beyond the hubs. The expected
/// values are computed vertex by vertex.
#[test]
fn large_graphs_counted_two_ways() {
    let complete = |n: u32| (0..n).flat_map(move |v| (0..v).map(move |u| (u, v)));
    let far = 20_000;
    // Some pairs are not joined, and some edges exist in both directions.
    let keeps = |&(u, v): &(u32, u32)| (u * 7 + v * 3) % 5 != 0;
    let mut edges: Vec<(u32, u32)> = complete(200).filter(keeps).collect();
    edges.extend(complete(40).filter(keeps).map(|(u, v)| (u + far, v + far)));
    edges.extend((0..9000u32).flat_map(|v| [1, 2].map(|step| (5000 + v, 5000 + (v + step) % 9000))));
    let back: Vec<(u32, u32)> = edges.iter().filter(|e| e.0 % 3 == 0).map(|&(u, v)| (v, u)).collect();
    edges.extend(back);
    let skewed = kron(11, 16, 3);
    for directed in [false, true] {
        for (vertices, edges) in [(far as usize + 40, &edges), (skewed.vertices, &skewed.edges)] {
            let g = plain_graph(vertices, edges, directed);
            assert_eq!(local_clustering(&g).expect("ids fit"), verify::local_clustering(&g));
        }
    }
}

/// More vertices have a high degree than there are hubs. A ring of lower degrees has neighbors with a common
/// hub. Some edges exist in both directions.
#[test]
fn vertices_beyond_the_hubs_tell_hubs() {
    let (high, low) = (9000u32, 3000u32);
    let ring = |first: u32, n: u32, steps: u32| {
        (0..n).flat_map(move |v| (1..=steps).map(move |step| (first + v, first + (v + step) % n)))
    };
    let to_hubs = (0..low).flat_map(|v| [0, 1].map(|at| (high + (v + at) % low, 2 * v)));
    let edges: Vec<(u32, u32)> = ring(0, high, 6).chain(ring(high, low, 2)).chain(to_hubs).collect();
    let back = edges.iter().filter(|(u, v)| (u * 7 + v) % 3 == 0).map(|&(u, v)| (v, u));
    let both: Vec<(u32, u32)> = edges.iter().copied().chain(back).collect();
    for directed in [false, true] {
        let g = plain_graph((high + low) as usize, &both, directed);
        assert_eq!(local_clustering(&g).expect("ids fit"), verify::local_clustering(&g));
    }
}

#[test]
fn the_slow_answer_can_differ() {
    let g = plain_graph(4, &[(0, 1), (1, 2), (2, 0)], true);
    assert_eq!(verify::local_clustering(&g), [0.5, 0.5, 0.5, 0.0]);
    assert_eq!(verify::local_clustering(&plain_graph(3, &[(0, 1), (1, 2)], true)), [0.0; 3]);
}
