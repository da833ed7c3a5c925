//! `Ticket`: a transaction that was submitted.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::raise;
use crate::handle::Handle;

/// A submitted transaction. Made by ``Transaction.submit``.
///
/// The transaction becomes durable and visible even if the ticket is dropped.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> tickets = []
/// >>> for v in range(3):
/// ...     tx = db.write()
/// ...     tx.put_edge(v, v + 1)
/// ...     tickets.append(tx.submit())
/// >>> [ticket.wait() for ticket in tickets]
/// [1, 2, 3]
/// >>> tickets[0].done()
/// True
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Ticket {
    ticket: hedgerow::Ticket,
    /// This field is dropped after the ticket, so that a forked child does not touch the store.
    handle: Arc<Handle>,
}

impl Ticket {
    pub(crate) fn new(handle: &Arc<Handle>, ticket: hedgerow::Ticket) -> Ticket {
        Ticket { ticket, handle: handle.clone() }
    }
}

#[pymethods]
impl Ticket {
    /// The position of the transaction in the order of commits.
    #[getter]
    fn timestamp(&self) -> PyResult<u64> {
        self.handle.check_process()?;
        Ok(self.ticket.timestamp().0)
    }

    /// True if the transaction is acknowledged: every snapshot opened from now on sees it, and it is as
    /// durable as the store's durability mode promises. Never waits.
    fn done(&self) -> PyResult<bool> {
        self.handle.check_process()?;
        Ok(self.ticket.is_done())
    }

    /// Wait until the transaction is acknowledged.
    ///
    /// Returns
    /// -------
    /// int
    ///     The commit timestamp.
    ///
    /// Raises
    /// ------
    /// OutcomeUnknownError
    ///     The log failed. Only opening the store again shows the outcome.
    fn wait(&self, py: Python<'_>) -> PyResult<u64> {
        self.handle.check_process()?;
        let ticket = self.ticket.clone();
        Ok(py.detach(|| ticket.wait()).map_err(raise)?.0)
    }

    fn __repr__(&self) -> String {
        let state = if self.ticket.is_done() { "done" } else { "under way" };
        format!("<hedgerow.Ticket of {} {state}>", self.ticket.timestamp().0)
    }
}
