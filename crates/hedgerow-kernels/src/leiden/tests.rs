//! Communities hang together; they are as good as Louvain's; each seed always finds the same.

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use crate::testing::{graphs, plain_graph, random_graph};
use hedgerow_kernels::leiden::leiden;
use hedgerow_kernels::{CommunityConfig, NO_COMPONENT, louvain};

/// The vertices that paths within its community lead to from the one that names it.
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
        let config = CommunityConfig::default();
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
