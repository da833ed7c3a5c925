//! The sum of the weights of each vertex, with checks of the weights.

use std::cell::Cell;

use hedgerow_core::{Direction, VertexId, WeightedTopology};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::weight_error;
use crate::par::CHUNK_VERTICES;
use crate::sssp::for_each_neighbor;
use crate::watch::Watch;

/// An edge that is refused, with its weight.
type Refused = (VertexId, VertexId, f64);

/// Returns the sum of the weights of the edges from each vertex.
pub(super) fn of_weights<G: WeightedTopology>(
    g: &G,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    let mut sums = vec![0.0f64; g.vertex_bound()];
    let mut watch = Watch::new(cancel);
    let chunks = sums.par_chunks_mut(CHUNK_VERTICES).enumerate();
    let refused: Vec<Option<Refused>> = hedgerow_par::map(chunks, |(chunk, sums)| {
        let mut meter = watch.meter()?;
        let (first, mut refused) = (chunk * CHUNK_VERTICES, None::<Refused>);
        let is_over = Cell::new(false);
        let ids = first as u32..(first + sums.len()) as u32;
        let vertices = ids.map(VertexId).take_while(|_| !is_over.get());
        let visited = g.visit_weighted(vertices, Direction::Out, |u, run, weights| {
            for_each_neighbor(run, weights, &mut meter, |v, weight| {
                sums[u.index() - first] += weight;
                let is_less = refused.is_none_or(|(from, to, _)| (u, v) < (from, to));
                if !(0.0..f64::INFINITY).contains(&weight) && is_less {
                    refused = Some((u, v, weight));
                }
            });
            is_over.set(meter.is_over());
        });
        watch.note(visited);
        refused
    });
    watch.check()?;
    if let Some((from, to, weight)) = refused.into_iter().flatten().next() {
        return Err(weight_error(from, to, weight));
    }
    let is_refused = |sum: &f64| *sum != 0.0 && !sum.is_normal();
    match sums.iter().position(is_refused) {
        Some(at) => Err(KernelError::WeightSum { vertex: VertexId(at as u32), sum: sums[at] }),
        None => Ok(sums),
    }
}
