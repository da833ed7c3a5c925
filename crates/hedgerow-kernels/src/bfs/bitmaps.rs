//! The bitmaps of bottom-up levels.

use hedgerow_core::VertexId;

use crate::par::ones;

/// The frontier as bits, the next one, and the vertices that may still be found.
pub(super) struct Bitmaps {
    pub(super) front: Vec<u64>,
    pub(super) next: Vec<u64>,
    /// The vertices that may still be found. Vertices that top-down levels reached may be among them; `adopt`
    /// clears these when it meets them.
    pub(super) open: Vec<u64>,
}

impl Bitmaps {
    pub(super) fn new(bits: usize) -> Self {
        let words = bits.div_ceil(64);
        let mut open = vec![u64::MAX; words];
        if !bits.is_multiple_of(64)
            && let Some(last) = open.last_mut()
        {
            *last = (1 << (bits % 64)) - 1;
        }
        Bitmaps { front: vec![0; words], next: vec![0; words], open }
    }

    pub(super) fn set_frontier(&mut self, frontier: &[VertexId]) {
        self.front.fill(0);
        for v in frontier {
            self.front[v.index() >> 6] |= 1 << (v.0 & 63);
        }
    }

    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.front, &mut self.next);
    }

    pub(super) fn frontier(&self) -> Vec<VertexId> {
        let words = (0..).step_by(64).zip(&self.front);
        words.flat_map(|(first, &bits)| ones(bits).map(move |at| VertexId(first + at))).collect()
    }
}
