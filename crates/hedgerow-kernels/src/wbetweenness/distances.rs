//! Which edges are on shortest paths.

use hedgerow_core::VertexId;

/// The distances of all vertices from the source.
#[derive(Clone, Copy)]
pub(super) struct Distances<'a>(pub(super) &'a [f64]);

impl Distances<'_> {
    /// Whether an edge of this weight is on a shortest path. A loop never is.
    #[inline(always)]
    pub(super) fn is_on_path(self, from: VertexId, to: VertexId, weight: f64) -> bool {
        let far = self.0[to.index()];
        self.0[from.index()] + weight == far && far < f64::INFINITY && from != to
    }
}
