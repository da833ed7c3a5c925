//! Edges as they are ordered.

use hedgerow_core::VertexId;

/// An edge, ordered by weight, then by its lesser end, then by its greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// The weight as a number that is ordered as weights are.
    order: u64,
    pub(super) low: u32,
    pub(super) high: u32,
}

const SIGN: u64 = 1 << 63;

impl Edge {
    pub(super) fn new(u: VertexId, v: VertexId, weight: f64) -> Edge {
        // The sum makes one zero of both.
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
