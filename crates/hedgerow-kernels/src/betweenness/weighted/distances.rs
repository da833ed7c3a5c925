//! The edges on shortest paths.

use hedgerow_core::VertexId;

/// The greatest relative difference of two sums of weights that count as the same length. Decimal fractions
/// are rounded, so the sum of a path in its last bits depends on the end at which the addition begins. The
/// value is 4,096 times the relative distance of adjacent `f64` numbers, and a millionth of the precision of
/// a weight with six digits.
pub(super) const SAME: f64 = 1.0 / (1_u64 << 40) as f64;

/// The distances of all vertices from the source.
#[derive(Clone, Copy)]
pub(super) struct Distances<'a>(pub(super) &'a [f64]);

impl Distances<'_> {
    /// True if an edge of this weight is on a shortest path: the way over the edge is as long as the shortest
    /// one, within [`SAME`]. A loop never is. If `to` is no farther away than `from`, both lengths must be
    /// equal to the last bit: so the tolerance makes no cycle of such edges.
    #[inline(always)]
    pub(super) fn is_on_path(self, from: VertexId, to: VertexId, weight: f64) -> bool {
        let (near, far) = (self.0[from.index()], self.0[to.index()]);
        let way = near + weight;
        // The way is never shorter than the shortest one, so it is the larger number.
        let is_same = way == far || (near < far && way - far <= way * SAME);
        is_same && way < f64::INFINITY && from != to
    }
}
