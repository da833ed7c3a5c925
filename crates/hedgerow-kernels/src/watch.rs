//! The two reasons for a kernel to end early: a flag that is raised, and a read that fails.

use std::sync::OnceLock;

use crate::KernelError;
use crate::cancel::{Cancel, Meter};

/// The flag that ends a kernel, and the first error that a thread got from a read of the graph. Once the flag
/// is raised or an error is kept, threads begin no further work item.
pub(crate) struct Watch<'c, E> {
    pub(crate) cancel: &'c Cancel,
    error: OnceLock<E>,
}

impl<'c, E> Watch<'c, E> {
    pub(crate) fn new(cancel: &'c Cancel) -> Self {
        Watch { cancel, error: OnceLock::new() }
    }

    /// Keeps an error, unless there is one.
    #[inline]
    pub(crate) fn note(&self, outcome: Result<(), E>) {
        if let Err(error) = outcome {
            let _ = self.error.set(error);
        }
    }

    /// True if an error was kept.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.error.get().is_some()
    }

    /// Polls; true if the kernel must end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.poll() || self.has_failed()
    }

    /// Polls, and begins an item of work; `None` if the kernel must end.
    #[inline]
    pub(crate) fn meter(&self) -> Option<Meter<'c>> {
        self.cancel.meter().filter(|_| !self.has_failed())
    }

    /// Like [`meter`](Self::meter), but for an item that goes [from subgraph to
    /// subgraph](Cancel::meter_of_subgraphs).
    #[inline]
    pub(crate) fn meter_of_subgraphs(&self) -> Option<Meter<'c>> {
        self.cancel.meter_of_subgraphs().filter(|_| !self.has_failed())
    }

    /// Returns the error that ends the kernel, between two steps of it.
    pub(crate) fn check(&mut self) -> Result<(), KernelError<E>> {
        self.error.take().map_or(Ok(()), |error| Err(KernelError::Topology(error)))?;
        self.cancel.check()
    }
}
