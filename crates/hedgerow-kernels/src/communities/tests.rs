//! Tests of known communities, and of their quality compared with the order of the first paper. Communities
//! of Leiden's method are connected and as good as those of Louvain's. Weights, directions and refused input
//! are also tested.

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use crate::testing::{graphs, plain_graph, random_graph, weighted_graph};
use hedgerow_kernels::{CommunityConfig, KernelError, NO_COMPONENT, leiden, louvain, modularity, verify};

fn default() -> CommunityConfig {
    CommunityConfig::default()
}

/// Returns cliques of `size`, each joined with the next one by an edge.
fn ring_of_cliques(cliques: u32, size: u32) -> Vec<(u32, u32)> {
    let inside = |c: u32| (0..size).flat_map(move |v| (0..v).map(move |u| (c * size + u, c * size + v)));
    let next = |c: u32| (c * size, (c + 1) % cliques * size + 1);
    (0..cliques).flat_map(|c| inside(c).chain([next(c)])).collect()
}

#[test]
fn cliques_in_a_ring_are_found() {
    for directed in [false, true] {
        let g = plain_graph(60, &ring_of_cliques(10, 6), directed);
        let found = louvain(&g, &default()).expect("valid");
        assert!((0..60).all(|v| found.labels[v] == v as u32 / 6 * 6), "{:?}", found.labels);
        // For each clique, 15 of 16 edges are inside.
        assert!((found.modularity - (15.0 / 16.0 - 0.1)).abs() < 1e-12);
        assert!((modularity(&g, &found.labels, 1.0).expect("valid") - found.modularity).abs() < 1e-12);
    }
}

#[test]
fn communities_are_about_as_good_as_in_the_order_of_ids() {
    for g in graphs().into_iter().step_by(3) {
        let (found, plain) = (louvain(&g, &default()).expect("valid"), verify::louvain(&g, 1.0));
        assert!(found.modularity >= plain.modularity - 0.03, "{} for {}", found.modularity, plain.modularity);
        for (v, &label) in found.labels.iter().enumerate() {
            assert_eq!(g.contains(VertexId(v as u32)), label != NO_COMPONENT);
            assert!(label == NO_COMPONENT || found.labels[label as usize] == label && label <= v as u32);
        }
        let again = modularity(&g, &found.labels, 1.0).expect("valid");
        assert!((again - found.modularity).abs() < 1e-9);
    }
}

#[test]
fn the_definition_of_modularity_holds_for_loops_and_weights() {
    for seed in 0..20 {
        let plain = random_graph(40, 150, seed % 2 == 0, 0.0, seed);
        let _ = plain.vertex_count();
        let edges: Vec<(u32, u32)> = (0..120).map(|i| (i * 7 % 40, (i * i + seed as u32) % 40)).collect();
        let g = weighted_graph(40, &edges, seed % 2 == 0, |rng| rng.below(9) as f64 / 3.0);
        let found = verify::louvain(&g, 1.5);
        assert!((modularity(&g, &found.labels, 1.5).expect("valid") - found.modularity).abs() < 1e-9);
    }
}

#[test]
fn weights_and_resolution_count() {
    // A path of four vertices. First its outer edges have the largest weights, then its middle edge.
    let weights = |weights: [f64; 3]| {
        let mut next = weights.into_iter();
        let g = weighted_graph(4, &[(0, 1), (1, 2), (2, 3)], false, move |_| next.next().unwrap_or(0.0));
        louvain(&g, &default()).expect("valid").labels
    };
    assert_eq!(weights([9.0, 1.0, 9.0]), [0, 0, 2, 2]);
    assert_eq!(weights([1.0, 90.0, 1.0])[1..3], weights([1.0, 90.0, 1.0])[2..=2].repeat(2));
    let g = plain_graph(60, &ring_of_cliques(10, 6), false);
    let count = |resolution| {
        let config = CommunityConfig { resolution, ..default() };
        hedgerow_kernels::count_components(&louvain(&g, &config).expect("valid").labels)
    };
    assert!(count(0.05) < 10 && count(1.0) == 10 && count(40.0) > 10);
}

#[test]
fn what_cannot_be_is_refused() {
    let with = |weight: f64| louvain(&weighted_graph(3, &[(0, 1)], true, move |_| weight), &default());
    assert!(matches!(with(-1.0), Err(KernelError::Weight { .. })));
    assert!(matches!(with(f64::NAN), Err(KernelError::Weight { .. })));
    let refused = with(f64::INFINITY).expect_err("infinite").to_string();
    assert_eq!(refused, "weight must be finite and not negative, found inf");
    let config = CommunityConfig { resolution: 0.0, ..default() };
    assert!(louvain(&plain_graph(2, &[], false), &config).is_err());
    let none = louvain(&plain_graph(0, &[], false), &default()).expect("valid");
    assert!(none.labels.is_empty() && none.modularity == 0.0);
}

/// The edges of W. Zachary's karate club, 1977.
#[rustfmt::skip]
const KARATE: [(u32, u32); 78] = [
    (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 10), (0, 11), (0, 12), (0, 13),
    (0, 17), (0, 19), (0, 21), (0, 31), (1, 2), (1, 3), (1, 7), (1, 13), (1, 17), (1, 19), (1, 21), (1, 30),
    (2, 3), (2, 7), (2, 8), (2, 9), (2, 13), (2, 27), (2, 28), (2, 32), (3, 7), (3, 12), (3, 13), (4, 6),
    (4, 10), (5, 6), (5, 10), (5, 16), (6, 16), (8, 30), (8, 32), (8, 33), (9, 33), (13, 33), (14, 32),
    (14, 33), (15, 32), (15, 33), (18, 32), (18, 33), (19, 33), (20, 32), (20, 33), (22, 32), (22, 33),
    (23, 25), (23, 27), (23, 29), (23, 32), (23, 33), (24, 25), (24, 27), (24, 31), (25, 31), (26, 29),
    (26, 33), (27, 33), (28, 31), (28, 33), (29, 32), (29, 33), (30, 32), (30, 33), (31, 32), (31, 33),
    (32, 33),
];

/// For each graph, the expected value is the best of five runs of NetworkX 3 (`louvain_communities`, seeds 0
/// to 4). A result may be lower by 0.01.
#[test]
fn communities_are_about_as_good_as_those_of_networkx() {
    let blocks = (0..500u32).flat_map(|v| {
        let block = v / 25 * 25;
        let near = [1, 3, 7, 11].map(|step| (v, block + (v - block + step) % 25));
        let far =
            [(v, (v * 37 + 11) % 500)].into_iter().chain((v % 2 == 0).then_some((v, (v * v + 5) % 500)));
        near.into_iter().chain(far)
    });
    let mixed = (0..1000u32).flat_map(|v| [(17, 3), (29, 7), (53, 1)].map(|(m, a)| (v, (v * m + a) % 1000)));
    let mixed = mixed.filter(|(u, v)| u != v);
    let once = |edges: Vec<(u32, u32)>| -> Vec<(u32, u32)> {
        let sorted = edges.into_iter().map(|(u, v)| (u.min(v), u.max(v)));
        sorted.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };
    for (name, vertices, edges, of_networkx) in [
        ("karate", 34, KARATE.to_vec(), 0.419_789),
        ("blocks", 500, once(blocks.collect()), 0.689_519),
        ("mixed", 1000, once(mixed.collect()), 0.416_582),
    ] {
        let g = plain_graph(vertices, &edges, false);
        for found in [louvain(&g, &default()), leiden(&g, &default())] {
            let found = found.expect("valid");
            assert!(found.modularity >= of_networkx - 0.01, "{name}: {} for {of_networkx}", found.modularity);
        }
    }
}

/// Returns the number of vertices that paths within a community reach from the vertex that names it.
fn reached<G: Resident>(g: &G, labels: &[u32], first: u32) -> usize {
    let mut seen = std::collections::BTreeSet::from([first]);
    let mut stack = vec![first];
    while let Some(u) = stack.pop() {
        for direction in [Direction::Out, Direction::In] {
            for v in g.neighbors(VertexId(u), direction).iter() {
                if labels[v.index()] == first && seen.insert(v.0) {
                    stack.push(v.0);
                }
            }
        }
    }
    seen.len()
}

#[test]
fn communities_hang_together_and_are_as_good() {
    let mut several = 0;
    for g in graphs().into_iter().step_by(3) {
        let config = default();
        let (found, other) = (leiden(&g, &config).expect("valid"), louvain(&g, &config).expect("valid"));
        assert!(found.modularity >= other.modularity - 0.01, "{} for {}", found.modularity, other.modularity);
        for first in (0..g.vertex_bound() as u32).filter(|&v| found.labels[v as usize] == v) {
            let size = found.labels.iter().filter(|&&label| label == first).count();
            several += usize::from(size > 1);
            assert_eq!(reached(&g, &found.labels, first), size, "the community of {first} falls apart");
        }
        let live = (0..g.vertex_bound() as u32).filter(|&v| g.contains(VertexId(v))).count();
        assert_eq!(found.labels.iter().filter(|&&label| label != NO_COMPONENT).count(), live);
    }
    assert!(several > 300, "only {several}");
}

#[test]
fn a_seed_always_finds_the_same() {
    let g = random_graph(400, 1600, false, 0.1, 2);
    let with = |seed| leiden(&g, &CommunityConfig { seed, ..CommunityConfig::default() }).expect("valid");
    assert!(with(5) == with(5) && with(5).labels != with(6).labels);
}

#[test]
fn two_triangles_are_two_communities() {
    let g = plain_graph(6, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], false);
    let found = leiden(&g, &CommunityConfig::default()).expect("valid");
    assert_eq!(found.labels, [0, 0, 0, 3, 3, 3]);
}
