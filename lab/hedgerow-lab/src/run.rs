//! A buffer of each thread for neighbours that a list cannot lend as a slice. Snapshots fill the buffer, and
//! kernels read it.

use std::cell::Cell;

use hedgerow_core::VertexId;

/// The largest number of neighbours in one copy from a list.
pub(crate) const RUN: usize = 1024;
/// The number of neighbours in the first copy; it is small because some kernels stop after a few.
pub(crate) const FIRST_RUN: usize = 128;

/// Copied neighbours of a list, and their weights.
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

    /// Appends neighbours; `weights` is empty if all weights are 1.
    #[inline]
    pub(crate) fn extend(&mut self, targets: &[VertexId], weights: &[f64]) {
        self.targets[self.len..][..targets.len()].copy_from_slice(targets);
        if !weights.is_empty() {
            self.weights[self.len..][..weights.len()].copy_from_slice(weights);
        }
        self.len += targets.len();
    }

    /// Appends neighbours like [`extend`](Self::extend), and maps each of them with `id`.
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
    /// The buffer of a thread, between two uses.
    static BUFFER: Cell<Option<Run>> = const { Cell::new(None) };
}

/// Calls `f` with a buffer of this thread; a nested use gets a buffer of its own.
pub(crate) fn with_run<T>(f: impl FnOnce(&mut Run) -> T) -> T {
    let mut run = BUFFER.take().unwrap_or_default();
    let made = f(&mut run);
    BUFFER.set(Some(run));
    made
}
