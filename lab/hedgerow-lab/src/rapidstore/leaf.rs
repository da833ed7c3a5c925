//! Leaves: short, sorted, immutable arrays that versions share.

use std::ops::Range;
use std::sync::Arc;

use hedgerow_core::VertexId;

use crate::merged::Merged;

/// Neighbours, ascending within one list, and their weights. A leaf has no room to grow, because a write
/// copies it in any case.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) targets: Arc<[VertexId]>,
    /// The weights; none if all weights are 1.
    weights: Option<Arc<[f64]>>,
}

impl Leaf {
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn weights(&self) -> &[f64] {
        self.weights.as_deref().unwrap_or(&[])
    }

    /// Returns the neighbours in a range, and their weights.
    #[inline]
    pub(super) fn part(&self, range: Range<usize>) -> (&[VertexId], &[f64]) {
        let weights = self.weights.as_ref().map_or(&[][..], |weights| &weights[range.clone()]);
        (&self.targets[range], weights)
    }

    #[inline]
    pub(super) fn whole(&self) -> (&[VertexId], &[f64]) {
        (&self.targets, self.weights())
    }

    /// Returns the number of bytes on the heap: the arrays and their reference counts.
    pub(super) fn bytes(&self) -> usize {
        let counts = 16;
        let weights = self.weights.as_ref().map_or(0, |weights| counts + weights.len() * 8);
        counts + self.targets.len() * 4 + weights
    }
}

/// Returns the weight of one neighbour in a sorted part, if it is there.
#[inline]
pub(super) fn find((targets, weights): (&[VertexId], &[f64]), target: VertexId) -> Option<f64> {
    let i = targets.binary_search(&target).ok()?;
    Some(weights.get(i).copied().unwrap_or(1.0))
}

impl Merged {
    /// Returns a leaf with a range of the list.
    pub(super) fn leaf(&self, range: Range<usize>) -> Leaf {
        let weights = self.weights.get(range.clone()).filter(|weights| !weights.is_empty());
        Leaf { targets: Arc::from(&self.targets[range]), weights: weights.map(Arc::from) }
    }
}

/// Returns the number of neighbours in each leaf but the last, for a list of `len` neighbours. The list is
/// one leaf if it fits. Else its leaves are about three quarters full, so that the next writes do not split
/// them again.
pub(super) fn cut(len: usize, segment: usize) -> usize {
    if len <= segment {
        return len.max(1);
    }
    let parts = len.div_ceil((segment * 3 / 4).max(1)).max(2);
    len.div_ceil(parts)
}
