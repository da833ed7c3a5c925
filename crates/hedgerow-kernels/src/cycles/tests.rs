//! Tests of cycles against a search of all ways, of known numbers of cycles, and of refused input.

use hedgerow_core::{Direction, VertexId};

use crate::testing::{plain_graph, random_graph, sources, with_threads};
use hedgerow_kernels::cycles::{CycleConfig, cycles_through, cycles_through_until, verify};
use hedgerow_kernels::{Cancel, KernelError};

#[test]
fn cycles_are_those_of_all_ways() {
    let mut cycles = 0;
    for seed in 0..50u64 {
        let vertices = [1, 3, 8, 20, 70][seed as usize % 5];
        let edges = vertices * [1, 2, 4][seed as usize % 3];
        let g = random_graph(vertices, edges, seed % 2 == 0, [0.0, 0.2][seed as usize / 2 % 2], seed);
        for source in sources(&g, 4) {
            for (length, limit) in [(1, 9), (2, 9), (3, 5), (4, usize::MAX), (5, 1)] {
                for direction in [Direction::Out, Direction::In] {
                    let config = CycleConfig { length, limit, count: true, direction };
                    let expected = verify::cycles_through(&g, source, length, limit, direction);
                    assert_eq!(cycles_through(&g, source, &config).expect("live"), expected, "{config:?}");
                    let config = CycleConfig { count: false, ..config };
                    let stopped = cycles_through(&g, source, &config).expect("live");
                    assert_eq!(stopped.vertices(), expected.vertices(), "{config:?}");
                    assert_eq!(stopped.more(), expected.more(), "{config:?}");
                    assert_eq!(stopped.count().or(expected.count()), expected.count(), "{config:?}");
                    assert_eq!(stopped.count().is_none(), expected.more(), "{config:?}");
                    cycles += expected.count().expect("counted");
                }
            }
        }
    }
    assert!(cycles > 5000, "only {cycles}");
}

#[test]
fn a_clique_has_as_many_as_can_be_told() {
    let clique: Vec<(u32, u32)> = (0..12).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let config = CycleConfig { length: 5, limit: 7, count: true, ..CycleConfig::default() };
    // Ordered choices from 11 other vertices, with each cycle counted once: 11·10/2, 11·10·9/2, 11·10·9·8/2.
    let found = cycles_through(&plain_graph(12, &clique, false), VertexId(3), &config).expect("live");
    assert_eq!((found.count(), found.len(), found.more()), (Some(55 + 495 + 3960), 7, true));
    let both: Vec<(u32, u32)> = clique.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
    let g = plain_graph(12, &both, true);
    let found = cycles_through(&g, VertexId(3), &config).expect("live");
    assert_eq!(found.count(), Some(11 + 110 + 990 + 7920));
    let alone = with_threads(1, || cycles_through(&g, VertexId(3), &config));
    assert_eq!(with_threads(4, || cycles_through(&g, VertexId(3), &config)), alone);
}

/// The graph has triangles around a hub. Each triangle is one cycle.
#[test]
fn the_search_ends_at_its_limit_and_says_whether_there_are_more() {
    let edges: Vec<(u32, u32)> =
        (0..1000).flat_map(|i| [(0, 2 * i + 1), (2 * i + 1, 2 * i + 2), (2 * i + 2, 0)]).collect();
    let g = plain_graph(2001, &edges, true);
    let search = |limit, count| {
        let (cancel, config) = (Cancel::new(), CycleConfig { limit, count, ..CycleConfig::default() });
        let found = cycles_through_until(&g, VertexId(0), &config, &cancel).expect("live");
        ((found.len(), found.more(), found.count()), cancel.progress().done)
    };
    assert_eq!(search(100, true), ((100, true, Some(1000)), 1001));
    // The search reads two rounds of 64 neighbors, and the hub.
    assert_eq!(search(100, false), ((100, true, None), 129));
    assert_eq!(search(0, false), ((0, true, None), 65));
    assert_eq!(search(999, false).0, (999, true, None));
    assert_eq!(search(1000, false), ((1000, false, Some(1000)), 1001));
}

#[test]
fn loops_and_pairs_of_edges() {
    let of = |edges: &[(u32, u32)], directed| {
        let found = cycles_through(&plain_graph(4, edges, directed), VertexId(1), &CycleConfig::default());
        found.expect("live").lengths().to_vec()
    };
    let edges = [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1)];
    assert_eq!(of(&edges, true), [1.0, 2.0, 3.0]);
    assert_eq!(of(&edges, false), [1.0, 3.0]);
}

#[test]
fn what_cannot_be_is_refused() {
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = cycles_through(&g, VertexId(3), &CycleConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    for length in [0, 256] {
        let config = CycleConfig { length, ..CycleConfig::default() };
        let refused = cycles_through(&g, VertexId(0), &config).expect_err("out of range").to_string();
        assert_eq!(refused, format!("length must be 1 to 255, found {length}"));
    }
}
