//! Tests of all kernels against their slow verifiers on small graphs of many shapes. The graphs have repeated
//! edges, loops, weights of 0, vertices without edges, and holes at the beginning, at the end and within the
//! range of ids.
//!
//! `make test` runs the number of rounds in `FLOOR`. With `HEDGEROW_DEEP_SECONDS` there are more rounds, each
//! with another seed.

use hedgerow_core::{Topology, VertexId};
use hedgerow_kernels::registry::{Absent, KERNELS, Outcome};
use hedgerow_kernels::{Cancel, KernelError, NO_COMPONENT, modularity};
use hedgerow_testkit::effort::{Effort, explored};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};

use crate::testing::{sources, with_threads};

/// The permitted relative difference of scores, which may differ in rounding.
const RELATIVE: f64 = 1e-9;

/// The permitted deficit of the modularity, compared with the modularity of the oracle.
const MODULARITY: f64 = 0.05;

/// The most edges of a graph for the oracle of `kpaths`. The oracle extends ways until it has found the
/// paths. If the graph has fewer paths than requested, it tries all ways, of which there may be 2^edges.
const MOST_EDGES_OF_KPATHS: u64 = 30;

/// The number of graphs on which `make test` compares.
const FLOOR: u64 = 50;

/// The edges of a graph, before some edges are repeated and some vertices are removed.
struct Shape {
    name: &'static str,
    vertices: u32,
    edges: Vec<(u32, u32)>,
}

fn pick(rng: &mut Rng, below: u32) -> u32 {
    rng.below(u64::from(below.max(1))) as u32
}

fn some_edges(rng: &mut Rng, vertices: u32, count: u32) -> Vec<(u32, u32)> {
    (0..if vertices == 0 { 0 } else { count }).map(|_| (pick(rng, vertices), pick(rng, vertices))).collect()
}

/// Returns the shape of a round.
fn shape(round: u64, rng: &mut Rng) -> Shape {
    let most = if rng.chance(0.4) { 10 } else { 90 };
    let n = 2 + pick(rng, most);
    let chain = |from: u32, to: u32| (from + 1..to).map(|v| (v - 1, v));
    let clique = |from: u32, to: u32| (from..to).flat_map(move |v| (from..v).map(move |u| (u, v)));
    let (name, vertices, edges): (_, u32, Vec<(u32, u32)>) = match round % 12 {
        0 => ("no vertices", 0, Vec::new()),
        1 => ("one vertex", 1, if rng.chance(0.5) { vec![(0, 0)] } else { Vec::new() }),
        2 => ("no edges", n, Vec::new()),
        3 => ("loops", n, (0..n).filter(|v| v % 3 != 1).map(|v| (v, v)).collect()),
        4 => ("star", n, (1..n).map(|v| if v % 2 == 0 { (0, v) } else { (v, 0) }).collect()),
        5 => ("path", n, chain(0, n).collect()),
        6 => ("ring", n, chain(0, n).chain([(n - 1, 0)]).collect()),
        7 => ("clique", n.min(24), clique(0, n.min(24)).collect()),
        8 => {
            let half = n / 2;
            let edges = clique(0, half.min(12)).chain(chain(half, n)).collect();
            ("parts apart", n, edges)
        }
        9 => {
            let (count, back) = (2 * n, n / 3);
            let edges = some_edges(rng, n, count);
            let back: Vec<(u32, u32)> = edges.iter().take(back as usize).map(|&(u, v)| (v, u)).collect();
            ("random, some both ways", n, edges.into_iter().chain(back).collect())
        }
        10 => ("sparse", n, some_edges(rng, n, n)),
        _ => {
            // Hubs and leaves.
            let edges =
                some_edges(rng, n, 6 * n).into_iter().map(|(u, v)| (u.min(pick(rng, n)), v)).collect();
            ("skewed", n, edges)
        }
    };
    Shape { name, vertices, edges }
}

/// Returns a graph of a shape. Some ids are holes without edges, some edges are repeated, and some weights
/// are 0.
fn graph(shape: &Shape, rng: &mut Rng) -> Csr {
    let (before, after) = (pick(rng, 70), pick(rng, 70));
    let bound = before + shape.vertices + after;
    let hole_share = [0.0, 0.0, 0.2][pick(rng, 3) as usize];
    let is_live =
        |v: u32, rng: &mut Rng| (before..before + shape.vertices).contains(&v) && !rng.chance(hole_share);
    let live: Vec<bool> = (0..bound).map(|v| is_live(v, rng)).collect();
    let shifted = shape.edges.iter().map(|&(u, v)| (u + before, v + before));
    let mut edges: Vec<(u32, u32)> = shifted.filter(|&(u, v)| live[u as usize] && live[v as usize]).collect();
    let duplicates = if rng.chance(0.3) { Duplicates::Keep } else { Duplicates::Merge };
    for at in 0..edges.len() {
        if rng.chance(0.1) {
            edges.push(edges[at]);
        }
    }
    let options =
        CsrOptions { directed: rng.chance(0.5), duplicates, live: Some(live), ..CsrOptions::default() };
    let made = if rng.chance(0.5) {
        // Betweenness by weights refuses cycles of edges of weight 0. So in half of the graphs no edge has
        // weight 0.
        let least = pick(rng, 2);
        let weights: Vec<f64> = edges.iter().map(|_| (least + pick(rng, 4)) as f64).collect();
        Csr::from_weighted_edges(bound as usize, &edges, &weights, &options)
    } else {
        Csr::from_edges(bound as usize, &edges, &options)
    };
    made.expect("ends are live")
}

/// True if a result is as good as that of the oracle. Communities may be better, because both methods are
/// heuristics.
fn agrees(g: &Csr, found: &Outcome, expected: &Outcome) -> bool {
    let (Outcome::Communities(a), Outcome::Communities(b)) = (found, expected) else {
        return found.agrees_with(expected, RELATIVE);
    };
    let live = (0..g.vertex_bound() as u32).map(|v| g.contains(VertexId(v)));
    let named = a.labels.iter().map(|&label| label != NO_COMPONENT);
    let is_stated = modularity(g, &a.labels, 1.0).is_ok_and(|counted| (a.modularity - counted).abs() < 1e-9);
    named.eq(live) && is_stated && a.modularity >= b.modularity - MODULARITY
}

/// Compares every kernel on one graph. Returns the number of kernels that returned an answer.
fn compare(seed: u64) -> u64 {
    let mut compared = 0;
    let mut rng = Rng::new(seed);
    let shape = shape(seed, &mut rng);
    let g = graph(&shape, &mut rng);
    let ends = sources(&g, usize::MAX);
    let end = |rng: &mut Rng| ends.get(pick(rng, ends.len() as u32) as usize).copied();
    // Without a live vertex, the test skips kernels that search.
    let (source, target) = (end(&mut rng), end(&mut rng));
    let threads = 1 + pick(&mut rng, 3) as usize;
    let is_small = g.edge_count() <= MOST_EDGES_OF_KPATHS;
    for kernel in KERNELS.iter().filter(|kernel| is_small || kernel.name != "kpaths") {
        let asks = kernel.parameters.iter().any(|parameter| parameter.absent == Absent::Refused);
        let (source, target) = match (source, target) {
            (Some(source), Some(target)) => (source, target),
            _ if asks => continue,
            _ => (VertexId(0), VertexId(0)),
        };
        let arguments = kernel.trial(source, target);
        let about = || {
            let (name, shape) = (kernel.name, shape.name);
            format!("{name}, {shape}, seed {seed}, {} ids, directed {}", g.vertex_bound(), g.is_directed())
        };
        match (with_threads(threads, || arguments.run(&g, &Cancel::new())), arguments.verify(&g)) {
            (Ok(found), Ok(expected)) => {
                assert!(agrees(&g, &found, &expected), "{}: {found:?}, not {expected:?}", about());
                compared += 1;
            }
            // There may be several cycles of edges of weight 0.
            (Err(KernelError::Endless { weight: 0.0, .. }), Err(KernelError::Endless { .. })) => {}
            (found, expected) => panic!("{}: {found:?}, not {expected:?}", about()),
        }
    }
    compared
}

#[test]
fn kernels_agree_with_their_oracles_on_graphs_of_many_shapes() {
    let (effort, mut compared) = (Effort::rounds(FLOOR), 0);
    let mut graphs = 0;
    while let Some(seed) = effort.next_seed() {
        compared += compare(seed);
        graphs += 1;
    }
    explored("graphs of many shapes", graphs, FLOOR);
    // Without live vertices, half of the kernels have no vertex to begin at.
    explored("answers compared with oracles", compared, FLOOR * KERNELS.len() as u64 * 3 / 4);
}
