//! Edges and their order.

use hedgerow_core::VertexId;

/// An edge, ordered by weight, then by its lesser end, then by its greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// The weight as a number with the same order as weights.
    order: u64,
    pub(super) low: u32,
    pub(super) high: u32,
}

const SIGN: u64 = 1 << 63;

impl Edge {
    pub(super) fn new(u: VertexId, v: VertexId, weight: f64) -> Edge {
        // The sum turns both zeros into one.
        let bits = (weight + 0.0).to_bits();
        let order = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Edge { order, low: u.0.min(v.0), high: u.0.max(v.0) }
    }

    pub(super) fn weight(&self) -> f64 {
        f64::from_bits(if self.order & SIGN == 0 { !self.order } else { self.order & !SIGN })
    }

    pub(super) fn ends(&self) -> (VertexId, VertexId) {
        (VertexId(self.low), VertexId(self.high))
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_core::VertexId;

    use super::Edge;

    #[test]
    fn edges_are_ordered_as_their_weights() {
        let weights = [f64::MIN, -2.5, -f64::MIN_POSITIVE, 0.0, 5e-324, 1.0, f64::MAX];
        let edges = weights.map(|weight| Edge::new(VertexId(5), VertexId(3), weight));
        assert!(edges.is_sorted());
        for (edge, weight) in edges.iter().zip(weights) {
            assert!(edge.weight() == weight && edge.ends() == (VertexId(3), VertexId(5)));
        }
    }
}
