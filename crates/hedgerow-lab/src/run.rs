//! Where neighbours are copied to that a list cannot lend: a buffer of each thread, which snapshots fill and kernels read.

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
