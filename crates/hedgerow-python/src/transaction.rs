//! `Transaction`: a write transaction.

use std::sync::{Arc, Mutex};

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::bulk::Edges;
use crate::error::{NotSupportedError, ProgrammingError, raise};
use crate::handle::{Handle, lock};
use crate::key::{Key, direction, to_list};

/// Where a transaction stands.
enum State {
    Active(Box<WriteTxn>),
    /// A call that released the interpreter lock has it.
    Busy,
    /// Ended, and how.
    Done(&'static str),
}

/// A write transaction. Made by ``Database.write`` and ``Database.transact``.
///
/// It gathers operations, reads its own writes over one snapshot, and takes effect wholly at its commit or not at all.
/// One thread may use it at a time: a second one gets ``ProgrammingError``.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> with db.write() as tx:
/// ...     tx.put_edge(1, 2)
/// ...     tx.has_edge(1, 2)
/// True
/// >>> tx.put_edge(2, 3)
/// Traceback (most recent call last):
///     ...
/// hedgerow.ProgrammingError: the transaction was committed
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Transaction {
    handle: Arc<Handle>,
    state: Mutex<State>,
}

impl Transaction {
    pub(crate) fn new(handle: &Arc<Handle>, txn: WriteTxn) -> Transaction {
        Transaction { handle: handle.clone(), state: Mutex::new(State::Active(Box::new(txn))) }
    }

    /// Runs `f` on the active transaction. Nothing in `f` may run Python code.
    fn with<T>(&self, f: impl FnOnce(&mut WriteTxn) -> hedgerow::Result<T>) -> PyResult<T> {
        self.handle.check_usable()?;
        let outcome = match &mut *lock(&self.state) {
            State::Active(txn) => Ok(f(txn)),
            State::Busy => Err(None),
            State::Done(how) => Err(Some(*how)),
        };
        // The lock is free again: making an exception may run Python code.
        match outcome {
            Ok(result) => result.map_err(raise),
            Err(how) => Err(refused(how)),
        }
    }

    /// Takes the active transaction away and leaves `next`.
    fn take(&self, next: State) -> PyResult<Box<WriteTxn>> {
        let outcome = {
            let mut state = lock(&self.state);
            match std::mem::replace(&mut *state, next) {
                State::Active(txn) => Ok(txn),
                other => {
                    let how = if let State::Done(how) = &other { Some(*how) } else { None };
                    *state = other;
                    Err(how)
                }
            }
        };
        outcome.map_err(refused)
    }

    /// Gives the transaction back to `transact`, which commits it.
    pub(crate) fn take_back(&self) -> PyResult<WriteTxn> {
        Ok(*self.take(State::Done("handed back by the function that transact called"))?)
    }

    fn key(&self, object: &Bound<'_, PyAny>) -> PyResult<Key> {
        Key::read(self.handle.config.keys, object)
    }

    /// Refuses a weight in a graph without weights, before the store's less specific error.
    fn check_weighted(&self, weight: Option<f64>) -> PyResult<()> {
        if weight.is_some() && !self.handle.config.weighted {
            return Err(NotSupportedError::new_err("the graph has no weights"));
        }
        Ok(())
    }

    fn is_active(&self) -> bool {
        matches!(*lock(&self.state), State::Active(_))
    }
}

fn refused(how: Option<&'static str>) -> PyErr {
    match how {
        Some(how) => ProgrammingError::new_err(format!("the transaction was {how}")),
        None => ProgrammingError::new_err("the transaction is in use by another thread"),
    }
}

impl Drop for Transaction {
    /// In a forked child nothing of the parent's is touched.
    fn drop(&mut self) {
        if self.handle.is_forked() {
            std::mem::forget(std::mem::replace(&mut *lock(&self.state), State::Busy));
        }
    }
}

#[pymethods]
impl Transaction {
    /// Make sure that an edge exists, with its endpoints. Reads nothing, so it conflicts with nobody.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids, of the graph's type.
    /// weight : float, optional
    ///     For a weighted graph; 1 if not given. The weight of an existing edge is replaced.
    #[pyo3(signature = (src, dst, weight=None))]
    fn put_edge(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>, weight: Option<f64>) -> PyResult<()> {
        self.check_weighted(weight)?;
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.with(|txn| match weight {
            None => txn.put_edge(src.as_ref(), dst.as_ref()),
            Some(weight) => txn.put_weighted_edge(src.as_ref(), dst.as_ref(), weight),
        })
    }

    /// Insert an edge, with its endpoints, unless it exists. An existing edge is left as it is.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids, of the graph's type.
    /// weight : float, optional
    ///     For a weighted graph; 1 if not given.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether the edge was new.
    #[pyo3(signature = (src, dst, weight=None))]
    fn insert_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<f64>,
    ) -> PyResult<bool> {
        self.check_weighted(weight)?;
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.with(|txn| match weight {
            None => txn.insert_edge(src.as_ref(), dst.as_ref()),
            Some(weight) => txn.insert_weighted_edge(src.as_ref(), dst.as_ref(), weight),
        })
    }

    /// Remove an edge.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether it existed: removing what is not there is not an error.
    fn remove_edge(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.with(|txn| txn.remove_edge(src.as_ref(), dst.as_ref()))
    }

    /// Insert a vertex.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether it was new.
    fn insert_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.insert_vertex(key.as_ref()))
    }

    /// Remove a vertex with all its edges.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether it existed.
    fn remove_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.remove_vertex(key.as_ref()))
    }

    /// Put many edges.
    ///
    /// Parameters
    /// ----------
    /// src, dst : array_like
    ///     Vertex ids, of equal length: integer arrays, or sequences of str for a graph with str ids.
    /// weights : array_like of float, optional
    ///     For a weighted graph; 1 if not given. The weight of an existing edge is replaced.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges given.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     A negative id, a weight that is not a number, arrays of other shapes; the message names the position.
    ///     Nothing was added. If there are more operations than a transaction may hold, it is rolled back.
    #[pyo3(signature = (src, dst, weights=None))]
    fn add_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        self.handle.check_usable()?;
        let edges = Edges::read(&self.handle, src, dst, weights)?;
        let mut txn = self.take(State::Busy)?;
        let (outcome, next) = py.detach(|| match edges.put(&mut txn, 0..edges.len()) {
            Ok(()) => (Ok(()), State::Active(txn)),
            Err(error) => {
                txn.rollback();
                (Err(error), State::Done("rolled back: add_edges failed"))
            }
        });
        *lock(&self.state) = next;
        outcome.map_err(raise)?;
        Ok(edges.len())
    }

    /// Whether a vertex exists.
    fn has_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.contains_vertex(key.as_ref()))
    }

    /// Whether an edge exists.
    fn has_edge(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.with(|txn| txn.contains_edge(src.as_ref(), dst.as_ref()))
    }

    /// The weight of an edge, or ``None`` if there is no such edge; 1 in a graph without weights.
    fn weight(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.with(|txn| txn.weight(src.as_ref(), dst.as_ref()))
    }

    /// The neighbors of a vertex, sorted.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    #[pyo3(signature = (key, direction="out"))]
    fn neighbors(&self, py: Python<'_>, key: &Bound<'_, PyAny>, direction: &str) -> PyResult<Vec<Py<PyAny>>> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        let found = self.with(|txn| txn.neighbors(key.as_ref(), direction))?;
        to_list(py, &found.ok_or_else(|| key.no_such_vertex())?)
    }

    /// The number of neighbors of a vertex; a self-loop counts once.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    #[pyo3(signature = (key, direction="out"))]
    fn degree(&self, key: &Bound<'_, PyAny>, direction: &str) -> PyResult<usize> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        self.with(|txn| txn.degree(key.as_ref(), direction))?.ok_or_else(|| key.no_such_vertex())
    }

    /// Commit.
    ///
    /// Returns
    /// -------
    /// int
    ///     The commit timestamp. The commit is visible to every snapshot opened from now on, and durable as the store's
    ///     durability mode says.
    ///
    /// Raises
    /// ------
    /// ConflictError
    ///     Something that the transaction read was changed meanwhile. Run it again; ``Database.transact`` does.
    /// IntegrityError
    ///     An edge lacks an endpoint and ``create_endpoints`` is false.
    /// DiskFullError
    ///     No space is left.
    /// OutcomeUnknownError
    ///     The log failed; only opening the store again tells. After all other errors there is no effect.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        self.handle.check_usable()?;
        let txn = self.take(State::Busy)?;
        let outcome = py.detach(|| txn.commit());
        let how = if outcome.is_ok() { "committed" } else { "rolled back: its commit failed" };
        *lock(&self.state) = State::Done(how);
        Ok(outcome.map_err(raise)?.0)
    }

    /// Drop all operations and end the transaction.
    fn rollback(&self) -> PyResult<()> {
        self.handle.check_process()?;
        self.take(State::Done("rolled back"))?.rollback();
        Ok(())
    }

    /// Whether the transaction is neither committed nor rolled back.
    #[getter]
    fn active(&self) -> bool {
        self.is_active()
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().with(|_| Ok(()))?;
        Ok(slf)
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        // The block may have ended the transaction itself.
        if !matches!(*lock(&self.state), State::Done(_)) {
            if kind.is_none() {
                self.commit(py)?;
            } else if self.is_active() && !self.handle.is_forked() {
                self.rollback()?;
            }
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        let state = match &*lock(&self.state) {
            State::Active(txn) => format!("active with {} operations", txn.len()),
            State::Busy => "in use".to_owned(),
            State::Done(how) => (*how).to_owned(),
        };
        format!("<hedgerow.Transaction {state}>")
    }
}
