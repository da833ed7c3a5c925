//! Graphs for the tests of single kernels, and for the tests of all kernels in `tests/it`.
#![allow(dead_code, reason = "each of the two test programs uses a part")]

use hedgerow_core::{Direction, Topology, VertexId};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions, Duplicates};
use hedgerow_workload::{GraphSpec, LoadedGraph};

/// Returns a random graph; `loops` keeps self-loops, `hole_share` of the ids are not live.
pub(crate) fn random_graph(vertices: usize, edges: usize, directed: bool, hole_share: f64, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let live: Vec<bool> = (0..vertices).map(|_| !rng.chance(hole_share)).collect();
    let ids: Vec<u32> = (0..vertices as u32).filter(|&v| live[v as usize]).collect();
    // The minimum of two draws skews degrees, so that hubs and isolated vertices both occur.
    let pick = |rng: &mut Rng| {
        let count = ids.len() as u64;
        ids[rng.below(count).min(rng.below(count)) as usize]
    };
    let count = if ids.is_empty() { 0 } else { edges };
    let edges: Vec<(u32, u32)> = (0..count).map(|_| (pick(&mut rng), pick(&mut rng))).collect();
    let options = CsrOptions { directed, live: Some(live), ..CsrOptions::default() };
    Csr::from_edges(vertices, &edges, &options).expect("ends are live")
}

pub(crate) fn plain_graph(vertices: usize, edges: &[(u32, u32)], directed: bool) -> Csr {
    let options = CsrOptions { directed, duplicates: Duplicates::Merge, ..CsrOptions::default() };
    Csr::from_edges(vertices, edges, &options).expect("ends in range")
}

/// Returns a loaded graph, repeated edges merged, with weights where it has them.
pub(crate) fn csr_of(graph: &LoadedGraph) -> Csr {
    let options = CsrOptions { directed: graph.directed, ..CsrOptions::default() };
    match &graph.weights {
        None => Csr::from_edges(graph.vertices, &graph.edges, &options),
        Some(weights) => Csr::from_weighted_edges(graph.vertices, &graph.edges, weights, &options),
    }
    .expect("ids in range")
}

pub(crate) fn weighted_graph(
    vertices: usize,
    edges: &[(u32, u32)],
    directed: bool,
    mut weight: impl FnMut(&mut Rng) -> f64,
) -> Csr {
    let mut rng = Rng::new(17);
    let weights: Vec<f64> = edges.iter().map(|_| weight(&mut rng)).collect();
    let options = CsrOptions { directed, ..CsrOptions::default() };
    Csr::from_weighted_edges(vertices, edges, &weights, &options).expect("ends in range")
}

/// Returns `count` random edges, among them loops and repeated ones.
pub(crate) fn random_edges(rng: &mut Rng, vertices: usize, count: usize) -> Vec<(u32, u32)> {
    let mut any = || rng.below(vertices as u64) as u32;
    (0..count).map(|_| (any(), any())).collect()
}

/// Returns a random graph with weights; a share of the ids are not live, and `duplicates` decides about
/// repeated edges.
pub(crate) fn random_weighted_graph(
    rng: &mut Rng,
    (vertices, count): (usize, usize),
    (directed, duplicates): (bool, Duplicates),
    hole_share: f64,
    weight: impl Fn(&mut Rng) -> f64,
) -> Csr {
    let live: Vec<bool> = (0..vertices).map(|_| !rng.chance(hole_share)).collect();
    let mut edges = random_edges(rng, vertices, count);
    edges.retain(|&(u, v)| live[u as usize] && live[v as usize]);
    let weights: Vec<f64> = edges.iter().map(|_| weight(rng)).collect();
    let options = CsrOptions { directed, duplicates, live: Some(live), ..CsrOptions::default() };
    Csr::from_weighted_edges(vertices, &edges, &weights, &options).expect("ends are live")
}

/// Returns a graph for which the results of NetworkX are known: nine ids, one of them (4) a hole; most edges
/// have the same weight as another edge.
pub(crate) fn known_graph(directed: bool) -> Csr {
    #[rustfmt::skip]
    let undirected = [
        (0, 1, 1.0), (0, 5, 0.5), (0, 2, 3.0), (1, 5, 3.0), (2, 5, 3.0), (2, 6, 0.5), (2, 8, 2.0),
        (2, 7, 0.5), (3, 5, 2.0), (5, 8, 0.5), (5, 6, 0.5), (5, 7, 0.5), (6, 7, 3.0), (7, 8, 2.0),
    ];
    #[rustfmt::skip]
    let with_directions = [
        (0, 7, 3.0), (0, 1, 2.0), (1, 0, 2.0), (2, 8, 0.5), (3, 8, 2.0), (3, 5, 1.0), (5, 7, 1.0),
        (6, 2, 2.0), (7, 8, 0.5), (7, 2, 3.0), (7, 3, 3.0), (8, 3, 2.0), (8, 6, 3.0), (8, 1, 2.0),
    ];
    let edges = if directed { with_directions } else { undirected };
    let (ends, weights): (Vec<_>, Vec<_>) = edges.map(|(u, v, weight)| ((u, v), weight)).into_iter().unzip();
    let live = Some((0..9).map(|v| v != 4).collect());
    let options = CsrOptions { directed, live, ..CsrOptions::default() };
    Csr::from_weighted_edges(9, &ends, &weights, &options).expect("ends are live")
}

/// Returns random graphs of many sizes and densities, directed or not, with and without holes.
fn random_graphs() -> Vec<Csr> {
    let mut graphs = Vec::new();
    for seed in 0..40 {
        for directed in [false, true] {
            for holes in [0.0, 0.3] {
                let vertices = [1, 3, 63, 64, 65, 200, 1500][seed as usize % 7];
                let edges = vertices * [0, 1, 2, 8][seed as usize % 4];
                graphs.push(random_graph(vertices, edges, directed, holes, seed));
            }
        }
    }
    graphs
}

/// Returns graphs without vertices or edges, of loops, holes, a path, a star, and components whose least
/// vertex is met last.
fn special_graphs() -> Vec<Csr> {
    let path: Vec<(u32, u32)> = (0..9999).map(|v| (v, v + 1)).collect();
    let star: Vec<(u32, u32)> = (1..5000).map(|v| (777, v)).collect();
    // Components whose least vertex is met last, and whose edges run from high to low.
    let down: Vec<(u32, u32)> = (1..3000).map(|v| (v, v - 1)).filter(|e| e.0 % 10 != 0).collect();
    vec![
        plain_graph(0, &[], false),
        plain_graph(0, &[], true),
        plain_graph(5, &[], true),
        plain_graph(3, &[(0, 0), (1, 1)], false),
        random_graph(100, 0, false, 1.0, 1),
        plain_graph(10_000, &path, true),
        plain_graph(10_000, &path, false),
        plain_graph(5000, &star, false),
        plain_graph(3000, &down, true),
    ]
}

/// Returns a skewed graph large enough for all steps of a kernel.
fn skewed_graph() -> Csr {
    csr_of(
        &GraphSpec::Kron { scale: 13, edge_factor: 16 }.load().expect("generated").expect("no data needed"),
    )
}

/// Returns all those graphs.
pub(crate) fn graphs() -> Vec<Csr> {
    let mut graphs = random_graphs();
    assert_eq!(graphs.len(), 160);
    graphs.extend(special_graphs());
    graphs.push(skewed_graph());
    graphs
}

/// Returns the first live vertices, as sources of searches.
pub(crate) fn sources(g: &impl Topology, count: usize) -> Vec<VertexId> {
    (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v)).take(count).collect()
}

/// Runs `f` in a pool of `threads`.
pub(crate) fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(f)
}

/// Returns the chi-square statistic that one of 10,000 draws exceeds. `freedom` is the number of choices less
/// one.
pub(crate) fn most_chi_square(freedom: usize) -> f64 {
    // Wilson and Hilferty's approximation; 3.719 is the point of the normal distribution.
    let n = freedom as f64;
    n * (1.0 - 2.0 / (9.0 * n) + 3.719 * (2.0 / (9.0 * n)).sqrt()).powi(3)
}

pub(crate) fn close(a: &[f64], b: &[f64], relative: f64) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{} scores against {}", a.len(), b.len()));
    }
    for (v, (x, y)) in a.iter().zip(b).enumerate() {
        let error = (x - y).abs();
        if error.is_nan() || error > relative * y.abs() {
            return Err(format!("vertex {v}: {x} against {y}"));
        }
    }
    Ok(())
}

/// Returns the least weight of the edges between two vertices, infinite if there is none.
pub(crate) fn lightest(g: &Csr, from: VertexId, to: VertexId, direction: Direction) -> f64 {
    let mut least = f64::INFINITY;
    g.weighted_neighbors(from, direction).for_each(|v, weight| {
        if v == to {
            least = least.min(weight);
        }
    });
    least
}
