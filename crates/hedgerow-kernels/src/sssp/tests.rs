//! Tests of shortest paths: every kind of weights and bucket widths against Dijkstra's algorithm, and refused
//! weights.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{plain_graph, random_graph, weighted_graph};
use hedgerow_kernels::sssp::{SsspConfig, sssp, verify};
use hedgerow_kernels::{BfsConfig, KernelError, UNREACHED, bfs};

fn bits(distances: &[f64]) -> Vec<u64> {
    distances.iter().map(|d| d.to_bits()).collect()
}

fn check(g: &Csr, sources: u32) {
    for source in (0..sources.min(g.vertex_bound() as u32)).map(VertexId) {
        for direction in [Direction::Out, Direction::In] {
            let expected = bits(&verify::sssp(g, source, direction));
            for delta in [None, Some(1e-300), Some(0.01), Some(3.0), Some(1e6), Some(f64::MAX)] {
                let found = sssp(g, source, &SsspConfig { direction, delta }).expect("sound weights");
                assert_eq!(bits(&found), expected, "{source:?} {direction:?} {delta:?}");
            }
        }
    }
}

fn edges(vertices: usize, count: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Rng::new(seed);
    let mut pick = || rng.below(vertices as u64).min(rng.below(vertices as u64)) as u32;
    (0..count).map(|_| (pick(), pick())).collect()
}

#[test]
fn weights_of_every_kind() {
    type Draw = fn(&mut Rng) -> f64;
    let kinds: [Draw; 8] = [
        |rng| 1.0 + rng.below(255) as f64,
        |rng| rng.below(3) as f64,
        |_| 0.0,
        |rng| rng.below(1 << 30) as f64 * 1e-9 + 0.1,
        // From 1e-308 to 1e307, so that no bucket width suits all weights.
        |rng| 10f64.powi(rng.below(616) as i32 - 308),
        |_| f64::MAX,
        |rng| if rng.chance(0.3) { f64::INFINITY } else { 2.0 },
        |rng| if rng.chance(0.5) { -0.0 } else { 5e-324 },
    ];
    for (kind, draw) in kinds.iter().enumerate() {
        for directed in [false, true] {
            let edges = edges(600, 2500, kind as u64);
            check(&weighted_graph(600, &edges, directed, draw), 2);
        }
    }
}

#[test]
fn long_paths_and_large_buckets() {
    let mut path: Vec<(u32, u32)> = (0..20_000).map(|v| (v, v + 1)).collect();
    check(&weighted_graph(20_001, &path, false, |rng| rng.below(1000) as f64), 1);
    // The distances span many more buckets than a window, and most buckets are empty.
    check(&weighted_graph(20_001, &path, true, |rng| 10f64.powi(rng.below(12) as i32)), 1);
    path.extend(edges(20_000, 150_000, 9));
    check(&weighted_graph(20_001, &path, false, |rng| 1.0 + rng.below(255) as f64), 1);
}

#[test]
fn without_weights_every_edge_weighs_one() {
    for directed in [false, true] {
        let g = random_graph(3000, 9000, directed, 0.2, 4);
        let source = (0..3000).map(VertexId).find(|&v| g.contains(v)).expect("some are live");
        let depths = bfs(&g, source, &BfsConfig::default()).expect("live");
        let expected: Vec<f64> =
            depths.into_iter().map(|d| if d == UNREACHED { f64::INFINITY } else { f64::from(d) }).collect();
        assert_eq!(sssp(&g, source, &SsspConfig::default()).expect("live"), expected);
    }
}

#[test]
fn bad_weights_sources_and_widths_are_refused() {
    let line = [(0, 1), (1, 2), (2, 3), (5, 4)];
    let with = |at: usize, bad: f64| {
        let mut weights = [1.0; 4];
        weights[at] = bad;
        let mut next = weights.into_iter();
        weighted_graph(6, &line, true, |_| next.next().expect("four"))
    };
    let default = SsspConfig::default();
    for bad in [-1.0, -1e-300, f64::NEG_INFINITY, f64::NAN] {
        let refused = sssp(&with(1, bad), VertexId(0), &default).expect_err("a bad weight on the way");
        let KernelError::Weight { from: VertexId(1), to: VertexId(2), weight } = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(weight.to_bits(), bad.to_bits());
        assert!(refused.to_string().contains("from vertex 1 to 2"));
        assert!(sssp(&with(3, bad), VertexId(0), &default).is_ok(), "no path leads to that edge");
    }
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = sssp(&g, VertexId(3), &default);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = sssp(&g, VertexId(0), &SsspConfig { delta: Some(delta), ..default });
        assert!(matches!(refused, Err(KernelError::OutOfRange { parameter: "delta", .. })), "{delta}");
    }
}

/// Returns the result of `search`. Panics if it takes longer than any of these searches may take.
fn in_time<T: Send + 'static>(search: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, returned) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(search()));
    returned.recv_timeout(std::time::Duration::from_secs(180)).expect("the search goes round a cycle")
}

#[test]
fn a_cycle_of_negative_sum_is_refused_soon() {
    // An edge of length `first` leads from 0 to the cycle of 1 and 2. Each turn reduces a distance by 1, or
    // does not change it if it is too large.
    for (first, turn) in [(1.0, 1.0), (1e8, 1.0), (1e12, 1.0), (1e17, 1.0), (f64::MAX, 1.0), (1e12, 1e-3)] {
        for delta in [None, Some(1e-300), Some(1.0), Some(1e6), Some(f64::MAX)] {
            let refused = in_time(move || {
                let mut weights = [first, turn, -2.0 * turn].into_iter();
                let g =
                    weighted_graph(3, &[(0, 1), (1, 2), (2, 1)], true, |_| weights.next().expect("three"));
                sssp(&g, VertexId(0), &SsspConfig { delta, ..SsspConfig::default() })
            });
            let expected = KernelError::Weight { from: VertexId(2), to: VertexId(1), weight: -2.0 * turn };
            assert_eq!(refused, Err(expected), "{first} {turn} {delta:?}");
        }
    }
}

#[test]
fn the_refused_edge_is_the_same_for_any_number_of_threads_and_any_width() {
    for seed in 0..6 {
        let mut found = Vec::new();
        for threads in [1, 2, 5] {
            for delta in [None, Some(1e-300), Some(0.5), Some(1e6)] {
                found.push(in_time(move || {
                    let draw = |rng: &mut Rng| {
                        let weight = 10f64.powi(rng.below(30) as i32 - 10);
                        if rng.chance(0.002) { -weight } else { weight }
                    };
                    let g = weighted_graph(4_000, &edges(4_000, 40_000, seed), true, draw);
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                    pool.install(|| sssp(&g, VertexId(0), &SsspConfig { delta, ..SsspConfig::default() }))
                }));
            }
        }
        assert!(
            matches!(found[0], Err(KernelError::Weight { weight, .. }) if weight < 0.0),
            "{:?}",
            found[0]
        );
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    }
}

/// Bucket numbers overflow, and sums stop growing. The search must end, and must not try every order.
#[test]
fn widths_and_weights_far_apart_end_soon() {
    let grid = |side: u32| {
        let at = move |x: u32, y: u32| y * side + x;
        let right = (0..side).flat_map(move |y| (1..side).map(move |x| (at(x - 1, y), at(x, y))));
        let down = (1..side).flat_map(move |y| (0..side).map(move |x| (at(x, y - 1), at(x, y))));
        right.chain(down).collect::<Vec<_>>()
    };
    let kinds: [(f64, f64); 4] = [(1.0, 1000.0), (1e15, 1.0), (1e300, 1e280), (1e200, 1e-300)];
    for (first, rest) in kinds {
        for delta in [None, Some(1e-300), Some(5e-324), Some(1e-12), Some(1.0), Some(1e290)] {
            let started = std::time::Instant::now();
            in_time(move || {
                let mut edges = grid(150);
                edges.push((22_500, 0));
                let mut left = edges.len();
                let g = weighted_graph(22_501, &edges, false, |rng| {
                    left -= 1;
                    if left == 0 { first } else { rest * (1.0 + rng.below(1000) as f64 / 10.0) }
                });
                let source = VertexId(22_500);
                let found = sssp(&g, source, &SsspConfig { delta, ..SsspConfig::default() }).expect("valid");
                assert_eq!(
                    bits(&found),
                    bits(&verify::sssp(&g, source, Direction::Out)),
                    "{first} {rest} {delta:?}"
                );
            });
            println!("{first:e} {rest:e} {delta:?}: {:?}", started.elapsed());
        }
    }
}
