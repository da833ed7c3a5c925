//! The kernels against slow independent answers and against published ones.

mod arguments;
mod cancel;
mod corrected;
mod published;
mod random;
mod sssp;

use hedgerow_lab::{Csr, CsrOptions, Duplicates};
use hedgerow_workload::LoadedGraph;
use hedgerow_workload::rng::Rng;

/// A random graph; `loops` keeps self-loops, `hole_share` of the ids are not live.
fn random_graph(vertices: usize, edges: usize, directed: bool, hole_share: f64, seed: u64) -> Csr {
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

fn plain_graph(vertices: usize, edges: &[(u32, u32)], directed: bool) -> Csr {
    let options = CsrOptions { directed, duplicates: Duplicates::Merge, ..CsrOptions::default() };
    Csr::from_edges(vertices, edges, &options).expect("ends in range")
}

/// A loaded graph, repeated edges merged, with weights where it has them.
fn csr_of(graph: &LoadedGraph) -> Csr {
    let options = CsrOptions { directed: graph.directed, ..CsrOptions::default() };
    match &graph.weights {
        None => Csr::from_edges(graph.vertices, &graph.edges, &options),
        Some(weights) => Csr::from_weighted_edges(graph.vertices, &graph.edges, weights, &options),
    }
    .expect("ids in range")
}

fn weighted_graph(
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

/// Runs `f` in a pool of `threads`.
fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(f)
}

fn close(a: &[f64], b: &[f64], relative: f64) -> Result<(), String> {
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
