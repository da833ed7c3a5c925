//! Groups of vertices, as kernels give them.

use hedgerow_core::{Topology, VertexId};
use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::par::CHUNK_VERTICES;

/// The component or community of an id without a vertex.
pub const NO_COMPONENT: u32 = u32::MAX;

/// A community for every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Communities {
    /// The least vertex of the community of each vertex; [`NO_COMPONENT`](crate::NO_COMPONENT) for holes.
    pub labels: Vec<u32>,
    /// The modularity: the share of the weight that is inside communities, less the share that random edges
    /// would have there.
    pub modularity: f64,
}

/// Gives [`NO_COMPONENT`] to holes.
pub(crate) fn mark_holes<G: Topology>(g: &G, labels: &mut [u32], cancel: &Cancel) {
    if g.vertex_count() == labels.len() {
        return;
    }
    hedgerow_par::for_each(labels.par_chunks_mut(CHUNK_VERTICES).enumerate(), |(chunk, labels)| {
        if !cancel.poll() {
            let ids = ((chunk * CHUNK_VERTICES) as u32..).map(VertexId);
            let holes = ids.zip(labels).filter(|(v, _)| !g.contains(*v));
            holes.for_each(|(_, label)| *label = NO_COMPONENT);
        }
    });
}
