//! Which edges are on shortest paths.

use hedgerow_core::VertexId;

/// Two sums of weights are the same length where they differ by no more than this part of the larger: decimal fractions are rounded, and a
/// path that is as long by hand as another may differ from it in its last bits, by which end it is added up from. 4,096 times the
/// distance of two numbers, and a millionth of what a weight of six digits tells.
pub(super) const SAME: f64 = 1.0 / (1_u64 << 40) as f64;

/// The distances of all vertices from the source.
#[derive(Clone, Copy)]
pub(super) struct Distances<'a>(pub(super) &'a [f64]);

impl Distances<'_> {
    /// True if an edge of this weight is on a shortest path: with it the way is as long as the shortest one,
    /// but for [`SAME`]. A loop never is, and of others that lead to a vertex no farther away only one that
    /// makes the way no longer, to the last bit: what rounding lets pass closes no cycle.
    #[inline(always)]
    pub(super) fn is_on_path(self, from: VertexId, to: VertexId, weight: f64) -> bool {
        let (near, far) = (self.0[from.index()], self.0[to.index()]);
        let way = near + weight;
        // The way is never shorter than the shortest one, so that it is the larger number.
        let is_same = way == far || (near < far && way - far <= way * SAME);
        is_same && way < f64::INFINITY && from != to
    }
}
