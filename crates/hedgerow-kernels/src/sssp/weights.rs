//! Reads of weights: the neighbours of a run with their weights, and the width of buckets from a sample.

use std::cell::Cell;

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use crate::cancel::{Cancel, Meter};

/// The number of vertices whose edges are read to choose a bucket width.
const SAMPLES: usize = 1024;

/// Returns a width from the weights of evenly spaced vertices. The shorter the lists, the more edges a path
/// crosses, and the wider a bucket must be to hold work for all threads.
pub(super) fn choose_width<G: WeightedTopology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
) -> Result<f64, G::Error> {
    let Some(mut meter) = cancel.meter().filter(|_| g.has_weights()) else { return Ok(1.0) };
    let step = (g.vertex_bound() / SAMPLES).max(1);
    let samples = (0..g.vertex_bound()).step_by(step).map(|v| VertexId(v as u32));
    let (mut sum, mut edges, mut vertices, mut last) = (0.0, 0.0, 0.0, None);
    visit_edges(g, samples, direction, &mut meter, |v, _, weight| {
        if weight > 0.0 && weight.is_finite() {
            sum += weight;
            edges += 1.0;
            vertices += f64::from(last != Some(v));
            last = Some(v);
        }
    })?;
    let width: f64 = sum / edges / (edges / vertices) * WIDTH_FACTOR;
    Ok(if width > 0.0 && width.is_finite() { width } else { 1.0 })
}

/// Calls `f` with each neighbour of a run and its weight, until the flag is raised.
#[inline]
pub(crate) fn for_each_neighbor(
    run: &[VertexId],
    weights: &[f64],
    meter: &mut Meter<'_>,
    mut f: impl FnMut(VertexId, f64),
) {
    let mut before = 0;
    meter.parts(run, |part| {
        // A missing weight is 1.
        let weights = weights.get(before..).unwrap_or(&[]);
        before += part.len();
        for (i, &v) in part.iter().enumerate() {
            f(v, weights.get(i).copied().unwrap_or(1.0));
        }
    });
}

/// Calls `f` with each edge of some vertices: the vertex, the other end, the weight. Ends soon once the flag
/// is raised.
#[inline]
pub(crate) fn visit_edges<G: WeightedTopology>(
    g: &G,
    vertices: impl IntoIterator<Item = VertexId>,
    direction: Direction,
    meter: &mut Meter<'_>,
    mut f: impl FnMut(VertexId, VertexId, f64),
) -> Result<(), G::Error> {
    let is_over = Cell::new(false);
    let vertices = vertices.into_iter().take_while(|_| !is_over.get());
    g.visit_weighted(vertices, direction, |v, run, weights| {
        for_each_neighbor(run, weights, meter, |other, weight| f(v, other, weight));
        is_over.set(meter.is_over());
    })
}

/// The chosen width as a multiple of mean weight / mean degree: the best of the powers of two on Kronecker
/// and uniform graphs and on road networks.
const WIDTH_FACTOR: f64 = 1.0;
