//! Where neighbours are copied to that a list cannot lend: a buffer of each thread, which snapshots fill and
//! kernels read.

use std::cell::Cell;

use hedgerow_core::VertexId;

/// How many neighbours are copied out of a list at a time.
pub(crate) const RUN: usize = 1024;
/// How many at first: some kernels break off after few.
pub(crate) const FIRST_RUN: usize = 128;

/// Neighbours that were copied out of a list, and their weights.
#[derive(Debug)]
pub struct Run {
    pub(crate) targets: Box<[VertexId; RUN]>,
    pub(crate) weights: Box<[f64; RUN]>,
    pub(crate) len: usize,
}

impl Default for Run {
    fn default() -> Self {
        Run { targets: Box::new([VertexId(0); RUN]), weights: Box::new([0.0; RUN]), len: 0 }
    }
}

impl Run {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn targets(&self) -> &[VertexId] {
        &self.targets[..self.len]
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights[..self.len]
    }

    /// Appends neighbours; `weights` may be none, where all weigh 1.
    #[inline]
    pub(crate) fn extend(&mut self, targets: &[VertexId], weights: &[f64]) {
        self.targets[self.len..][..targets.len()].copy_from_slice(targets);
        if !weights.is_empty() {
            self.weights[self.len..][..weights.len()].copy_from_slice(weights);
        }
        self.len += targets.len();
    }

    /// As [`extend`](Self::extend), with what `id` makes of each.
    #[inline]
    pub(crate) fn extend_plain(
        &mut self,
        targets: &[VertexId],
        weights: &[f64],
        id: impl Fn(VertexId) -> u32,
    ) {
        let places = self.targets[self.len..][..targets.len()].iter_mut();
        places.zip(targets).for_each(|(place, &target)| *place = VertexId(id(target)));
        if !weights.is_empty() {
            self.weights[self.len..][..weights.len()].copy_from_slice(weights);
        }
        self.len += targets.len();
    }

    #[inline]
    pub(crate) fn push(&mut self, target: VertexId, weight: f64) {
        self.targets[self.len] = target;
        self.weights[self.len] = weight;
        self.len += 1;
    }
}

thread_local! {
    /// What a thread copies lists to, between two uses.
    static BUFFER: Cell<Option<Run>> = const { Cell::new(None) };
}

/// Calls `f` with a buffer of this thread; a use within a use gets one of its own.
pub(crate) fn with_run<T>(f: impl FnOnce(&mut Run) -> T) -> T {
    let mut run = BUFFER.take().unwrap_or_default();
    let made = f(&mut run);
    BUFFER.set(Some(run));
    made
}
