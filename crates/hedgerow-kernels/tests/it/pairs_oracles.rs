//! Tests of kernels that compare and join vertices against their verifiers, on random graphs of many shapes,
//! with random arguments.

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_kernels::registry::{Arguments, find};
use hedgerow_kernels::{Cancel, KernelError};
use hedgerow_testkit::{Effort, explored};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

use crate::testing::with_threads;

const ROUNDS: u64 = 400;

/// Returns the edges of a shape among `ids` ids.
fn edges(shape: u64, ids: u32, rng: &mut Rng) -> Vec<(u32, u32)> {
    let (last, any) = (ids.saturating_sub(1), |rng: &mut Rng| rng.below(u64::from(ids)) as u32);
    let count = u64::from(ids) * [1, 2, 6][rng.below(3) as usize];
    match shape {
        0 => Vec::new(),
        1 => (0..ids).map(|v| (v, v)).collect(),
        2 => (0..ids).map(|v| (last / 2, v)).collect(),
        3 => (0..last).map(|v| (v, v + 1)).collect(),
        4 => (0..ids.min(30)).flat_map(|v| (0..v).map(move |u| (u, v))).collect(),
        // Components of ten vertices.
        5 => {
            let mut near = |v: u32| (v / 10 * 10 + rng.below(10) as u32).min(last);
            (0..count as u32).map(|at| at % ids).map(|v| (v, near(v))).collect()
        }
        // A bipartite graph.
        6 => (0..count)
            .map(|_| (any(rng) / 2 * 2, (any(rng) / 2 * 2 + 1).min(last)))
            .filter(|(u, v)| u != v)
            .collect(),
        // A few edges, each repeated many times.
        7 => (0..count).map(|_| (any(rng) % 7, any(rng) % 5)).filter(|(u, v)| u.max(v) < &ids).collect(),
        _ => (0..count).map(|_| (any(rng).min(any(rng)), any(rng))).collect(),
    }
}

fn graph(rng: &mut Rng) -> Csr {
    let ids = [0, 1, 2, 9, 64, 65, 150, 400][rng.below(8) as usize];
    let mut edges = if ids == 0 { Vec::new() } else { edges(rng.below(10), ids, rng) };
    let live: Vec<bool> = match rng.below(3) {
        0 => (0..ids).map(|_| !rng.chance(0.3)).collect(),
        _ => vec![true; ids as usize],
    };
    edges.retain(|&(u, v)| live[u as usize] && live[v as usize]);
    let duplicates = if rng.chance(0.5) { Duplicates::Keep } else { Duplicates::Merge };
    let options =
        CsrOptions { directed: rng.chance(0.5), duplicates, live: Some(live), ..CsrOptions::default() };
    let weight: fn(&mut Rng) -> f64 = match rng.below(4) {
        0 => return Csr::from_edges(ids as usize, &edges, &options).expect("live ends"),
        1 => |_| 0.0,
        2 => |rng| rng.below(4) as f64 - 2.0,
        _ => |rng| rng.below(1 << 40) as f64 / 3.0 - 1e9,
    };
    let weights: Vec<f64> = edges.iter().map(|_| weight(rng)).collect();
    Csr::from_weighted_edges(ids as usize, &edges, &weights, &options).expect("live ends")
}

/// Returns random arguments, or `None` if a vertex is required and the graph has none.
fn arguments(name: &str, live: &[VertexId], rng: &mut Rng) -> Option<Arguments> {
    let mut arguments = find(name).expect("listed").arguments();
    let vertex =
        |rng: &mut Rng| Some(live[rng.below(live.len() as u64) as usize]).filter(|_| !live.is_empty());
    let mut set = |name: &str, value: hedgerow_kernels::registry::Value| {
        arguments.set(name, value).expect("in range");
    };
    if name != "msf" && name != "matching" && rng.chance(0.5) {
        set("direction", Direction::In.into());
    }
    match name {
        "matching" => set("maximum", (rng.below(2) as u32).into()),
        "bfs_parents" | "closeness" | "jaccard" | "adamic_adar" if live.is_empty() => {
            return (name == "closeness").then_some(arguments);
        }
        "bfs_parents" => set("source", vertex(rng)?.into()),
        "closeness" if rng.chance(0.5) => set("samples", (1 + rng.below(500) as u32).into()),
        "closeness" => {
            set("sources", (0..rng.below(80)).filter_map(|_| vertex(rng)).collect::<Vec<_>>().into())
        }
        "jaccard" | "adamic_adar" => {
            let count = rng.below(20);
            let mut some = || (0..count).filter_map(|_| vertex(rng)).collect::<Vec<_>>();
            let (sources, targets) = (some(), some());
            set("sources", sources.into());
            if rng.chance(0.5) {
                set("targets", targets.into());
            }
            set("k", (1 + rng.below(20) as u32).into());
        }
        _ => {}
    }
    Some(arguments)
}

#[test]
fn random_graphs_of_many_shapes() {
    let effort = Effort::rounds(ROUNDS);
    let (mut graphs, mut refused, mut matched) = (0, 0u64, 0u64);
    while let Some(seed) = effort.next_seed_while(refused == 0 || matched == 0) {
        let mut rng = Rng::new(seed);
        let g = graph(&mut rng);
        let live: Vec<VertexId> =
            (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).collect();
        for name in ["msf", "closeness", "jaccard", "adamic_adar", "matching", "bfs_parents"] {
            let Some(arguments) = arguments(name, &live, &mut rng) else { continue };
            let threads = 1 + rng.below(3) as usize;
            let found = with_threads(threads, || arguments.run(&g, &Cancel::new()));
            match (found, arguments.verify(&g)) {
                (Ok(found), Ok(expected)) => {
                    assert!(
                        found.agrees_with(&expected, 1e-11),
                        "seed {seed}, {name}: {found:?} {expected:?}"
                    );
                    matched += u64::from(name == "matching");
                }
                (Err(KernelError::NotBipartite { .. }), Err(KernelError::NotBipartite { .. })) => {
                    refused += 1
                }
                (found, expected) => panic!("seed {seed}, {name}: {found:?} {expected:?}"),
            }
        }
        graphs += 1;
    }
    explored("random graphs of kernels that compare and join", graphs, ROUNDS);
}
