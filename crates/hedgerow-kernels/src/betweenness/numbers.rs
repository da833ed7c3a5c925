//! Numbers of vertices that threads write in parallel.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::VertexId;

/// A number for each vertex, as bits. Accesses are relaxed: within a step at most one thread writes each
/// number, and the joins between steps order the accesses.
pub(crate) struct Numbers(Vec<AtomicU64>);

impl Numbers {
    pub(crate) fn zeros(count: usize) -> Numbers {
        Numbers((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline(always)]
    pub(crate) fn of(&self, v: VertexId) -> f64 {
        f64::from_bits(self.0[v.index()].load(Relaxed))
    }

    #[inline(always)]
    pub(crate) fn set(&self, v: VertexId, number: f64) {
        self.0[v.index()].store(number.to_bits(), Relaxed);
    }

    /// Returns the sum of the numbers of the vertices in `list`.
    #[inline]
    pub(super) fn sum(&self, list: &[VertexId]) -> f64 {
        // Four sums: each addition to one sum waits for the addition before it.
        let (fours, rest) = list.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for four in fours {
            for (sum, &v) in sums.iter_mut().zip(four) {
                *sum += self.of(v);
            }
        }
        rest.iter().fold((sums[0] + sums[1]) + (sums[2] + sums[3]), |sum, &v| sum + self.of(v))
    }

    /// Returns the numbers, each times `scale`.
    pub(crate) fn into_plain(self, scale: f64) -> Vec<f64> {
        self.0.into_iter().map(|bits| f64::from_bits(bits.into_inner()) * scale).collect()
    }
}
