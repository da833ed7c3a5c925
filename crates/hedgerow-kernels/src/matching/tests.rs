//! Tests of the sizes of matchings against augmenting one path at a time, of the rules of a matching, and of
//! graphs that are not bipartite. For the maximum, polls and threads are also tested.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hedgerow_core::{Direction, Resident, Topology, VertexId};
use hedgerow_workload::rng::Rng;

use crate::testing::{graphs, plain_graph, with_threads};
use hedgerow_kernels::matching::{MatchingSize, matching, matching_until, verify};
use hedgerow_kernels::{Cancel, KernelError, NO_VERTEX};

/// True if an edge could be added.
fn has_room<G: Resident>(g: &G, mates: &[u32]) -> bool {
    let free = |v: VertexId| mates[v.index()] == NO_VERTEX;
    let all = (0..g.vertex_bound() as u32).map(VertexId);
    all.filter(|&u| free(u)).any(|u| g.neighbors(u, Direction::Out).iter().any(|v| u != v && free(v)))
}

#[test]
fn pairs_to_which_no_edge_can_be_added() {
    for g in graphs() {
        let found = matching(&g, MatchingSize::Maximal).expect("any graph");
        assert_eq!(found, verify::maximal(&g));
        assert!(verify::count_pairs(&g, &found).is_some() && !has_room(&g, &found));
    }
}

#[test]
fn maximum_matchings_have_as_many_pairs_as_by_single_ways() {
    let mut bipartite = 0;
    for g in graphs() {
        match (matching(&g, MatchingSize::Maximum), verify::maximum(&g)) {
            (Ok(found), Ok(expected)) => {
                let pairs = verify::count_pairs(&g, &found);
                assert_eq!(pairs, verify::count_pairs(&g, &expected));
                assert!(pairs.is_some() && !has_room(&g, &found));
                bipartite += 1;
            }
            (Err(KernelError::NotBipartite { .. }), Err(_)) => {}
            (found, expected) => panic!("{found:?} {expected:?}"),
        }
    }
    assert!(bipartite >= 30, "{bipartite} graphs are bipartite");
}

/// Returns a graph with edges between even and odd ids.
fn bipartite(vertices: u32, edges: usize, directed: bool, seed: u64) -> hedgerow_workload::Csr {
    let mut rng = Rng::new(seed);
    let half = u64::from(vertices / 2);
    let mut draw = |parity: u32| {
        let skewed = rng.below(half).min(rng.below(half));
        skewed as u32 * 2 + parity
    };
    let edges: Vec<(u32, u32)> = (0..edges)
        .map(|at| {
            let (u, v) = (draw(0), draw(1));
            if at % 3 == 0 { (v, u) } else { (u, v) }
        })
        .collect();
    plain_graph(vertices as usize, &edges, directed)
}

#[test]
fn random_bipartite_graphs() {
    for seed in 0..60 {
        let vertices = [4, 20, 150, 1000][seed as usize % 4];
        let edges = vertices as usize * [1, 2, 5][seed as usize % 3] / 2;
        let g = bipartite(vertices, edges, seed % 2 == 0, seed);
        let found = matching(&g, MatchingSize::Maximum).expect("bipartite");
        let expected = verify::maximum(&g).expect("bipartite");
        assert_eq!(verify::count_pairs(&g, &found), verify::count_pairs(&g, &expected), "{seed}");
        let maximal = matching(&g, MatchingSize::Maximal).expect("any graph");
        let pairs = verify::count_pairs(&g, &maximal);
        assert!(
            pairs <= verify::count_pairs(&g, &found)
                && pairs.map(|n| n * 2) >= verify::count_pairs(&g, &found)
        );
    }
}

/// The first free neighbor is the wrong choice for all vertices, so each phase must undo it.
#[test]
fn first_choices_are_undone() {
    let count = 500u32;
    // Vertex i of the first side has edges to i and i + 1 of the second side. The last one has an edge only
    // to the first.
    let edges = (0..count).flat_map(|i| [(2 * i, 2 * i + 1), (2 * i, (2 * i + 3) % (2 * count))]);
    let edges: Vec<(u32, u32)> = edges.chain([(2 * count, 1)]).collect();
    let g = plain_graph(2 * count as usize + 1, &edges, false);
    let found = matching(&g, MatchingSize::Maximum).expect("bipartite");
    assert_eq!(verify::count_pairs(&g, &found), Some(count as usize));
    let path: Vec<(u32, u32)> = (0..999).map(|v| ((v * 7) % 1000, ((v + 1) * 7) % 1000)).collect();
    let g = plain_graph(1000, &path, true);
    let found = matching(&g, MatchingSize::Maximum).expect("bipartite");
    assert_eq!(verify::count_pairs(&g, &found), Some(500));
}

#[test]
fn odd_cycles_are_refused_by_an_edge_of_theirs() {
    for (edges, odd) in [
        (vec![(0, 1), (1, 2), (2, 0)], vec![(2, 0), (0, 2), (1, 2), (2, 1), (0, 1), (1, 0)]),
        (vec![(4, 3), (2, 2)], vec![(2, 2)]),
    ] {
        for directed in [false, true] {
            let g = plain_graph(5, &edges, directed);
            let Err(KernelError::NotBipartite { from, to }) = matching(&g, MatchingSize::Maximum) else {
                panic!("{edges:?}")
            };
            assert!(odd.contains(&(from.0, to.0)), "{from:?} {to:?}");
            let text = KernelError::<std::convert::Infallible>::NotBipartite { from, to }.to_string();
            assert_eq!(
                text,
                format!(
                    "the graph is not bipartite: the edge from vertex {} to {} closes a cycle of odd length",
                    from.0, to.0
                )
            );
        }
    }
    let square = plain_graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], true);
    assert_eq!(matching(&square, MatchingSize::Maximum), Ok(vec![1, 0, 3, 2]));
    assert_eq!(matching(&plain_graph(0, &[], false), MatchingSize::Maximum), Ok(Vec::new()));
}

/// A level has so many vertices that threads share it.
#[test]
fn the_maximum_is_the_same_for_any_number_of_threads() {
    let g = bipartite(60_000, 40_000, false, 3);
    let with = |threads| with_threads(threads, || matching(&g, MatchingSize::Maximum)).expect("bipartite");
    let alone = with(1);
    assert!(verify::count_pairs(&g, &alone).is_some_and(|pairs| pairs > 5000) && !has_room(&g, &alone));
    for threads in [2, 3, 8] {
        assert!(with(threads) == alone, "{threads} threads");
    }
}

/// The kernel polls during the whole search for the maximum, and ends at each poll that returns true.
#[test]
fn the_maximum_ends_when_it_is_told_to() {
    let g = bipartite(4000, 2_000_000, false, 1);
    let polls = Arc::new(AtomicUsize::new(0));
    let run = |end_at: usize| {
        let (polls, last) = (polls.clone(), end_at);
        polls.store(0, Relaxed);
        let cancel = Cancel::asking(move || polls.fetch_add(1, Relaxed) + 1 >= last);
        // One thread, because with several threads another one may poll at the same time.
        with_threads(1, || matching_until(&g, MatchingSize::Maximum, &cancel).map(drop))
    };
    assert_eq!(run(usize::MAX), Ok(()));
    let all = polls.load(Relaxed);
    assert!(all as u64 >= 3 * g.edge_count() / Cancel::EDGES_BETWEEN_POLLS as u64, "{all} polls");
    for at in [1, all / 3, all / 2, all] {
        assert_eq!(run(at), Err(KernelError::Cancelled), "poll {at} of {all}");
        assert_eq!(polls.load(Relaxed), at, "no more polls than that");
    }
}
