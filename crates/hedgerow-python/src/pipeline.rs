//! `Pipeline`: single operations with several in flight.

use std::sync::{Arc, Mutex};

use hedgerow::{Ack, Error, VertexKeyRef};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::bulk::{Arguments, Edges};
use crate::edge_arguments::Weight;
use crate::ending::released;
use crate::error::{NotSupportedError, ProgrammingError, raise};
use crate::handle::{Handle, lock};
use crate::key::Key;

/// The number of operations of a column that are submitted between two checks for Ctrl-C.
const AT_ONCE: usize = 1 << 16;

/// The outcomes of the operations since the last flush.
#[derive(Default)]
struct Acks {
    /// True for each operation that changed the graph, in the order of submission.
    changed: Vec<bool>,
    /// The first failure.
    failure: Option<Error>,
}

impl Acks {
    fn take(&mut self, ack: Ack) {
        self.changed.push(ack.result.as_ref().is_ok_and(|applied| applied.edges != 0));
        self.failure = self.failure.take().or(ack.result.err());
    }
}

type Inner = hedgerow::Pipeline<Box<dyn FnMut(Ack) + Send>>;

/// Single edge operations, each as one transaction, with several in flight. Made by ``Database.pipeline``.
///
/// Operations take effect in the order of the calls. A call may return before its operation is durable,
/// visible, or even begun: ``flush`` waits for all operations, and returns the outcome of each. Used as a
/// context manager, it flushes at the end of the block. A submitted operation takes effect even if the block
/// raises.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> with db.pipeline() as p:
/// ...     p.insert_edge(1, 2)
/// ...     p.insert_edge(1, 2)
/// ...     p.remove_edge(1, 2)
/// ...     p.flush().tolist()
/// [True, False, True]
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Pipeline {
    /// The pipeline; `None` when it is closed. During a call, one thread has it locked, without the
    /// interpreter lock.
    inner: Arc<Mutex<Option<Inner>>>,
    acks: Arc<Mutex<Acks>>,
    /// This field is dropped after the pipeline, so that a forked child does not touch the store.
    handle: Arc<Handle>,
}

impl Pipeline {
    pub(crate) fn new(handle: &Arc<Handle>) -> PyResult<Pipeline> {
        let acks = Arc::<Mutex<Acks>>::default();
        let sink = acks.clone();
        let on_ack: Box<dyn FnMut(Ack) + Send> = Box::new(move |ack| lock(&sink).take(ack));
        let inner = handle.graph()?.pipeline(on_ack).map_err(raise)?;
        Ok(Pipeline { inner: Arc::new(Mutex::new(Some(inner))), acks, handle: handle.clone() })
    }

    /// Calls `f` without the interpreter lock: the submission may wait for the log, or for another thread's
    /// call.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        f: impl Send + FnOnce(&mut Inner) -> hedgerow::Result<T>,
    ) -> PyResult<T> {
        self.handle.check_usable()?;
        let outcome = py.detach(|| lock(&self.inner).as_mut().map(f));
        outcome.ok_or_else(|| ProgrammingError::new_err("the pipeline is closed"))?.map_err(raise)
    }

    /// Submits an operation for each pair of a column.
    fn submit_all(
        &self,
        py: Python<'_>,
        (src, dst, weights): (&Bound<'_, PyAny>, &Bound<'_, PyAny>, Option<&Bound<'_, PyAny>>),
        submit: impl Sync + Fn(&mut Inner, VertexKeyRef<'_>, VertexKeyRef<'_>, f64) -> hedgerow::Result<u64>,
    ) -> PyResult<usize> {
        self.handle.check_usable()?;
        let (src, dst, weights) = (src.clone(), dst.clone(), weights.cloned());
        let arguments = Arguments { src, dst, weights, label: None, ranks: None, properties: None };
        let edges = Edges::read(&self.handle, &arguments)?;
        for start in (0..edges.len()).step_by(AT_ONCE) {
            let range = start..edges.len().min(start.saturating_add(AT_ONCE));
            self.detached(py, |inner| {
                edges.each(range, |src, dst, weight| submit(inner, src, dst, weight).map(drop))
            })?;
            py.check_signals()?;
        }
        Ok(edges.len())
    }
}

#[pymethods]
impl Pipeline {
    /// Submit: insert the edge, and its endpoints if absent. An existing edge stays as it is.
    fn insert_edge(&self, py: Python<'_>, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<()> {
        let kind = self.handle.config.keys;
        let (src, dst) = (Key::read(kind, &*self.handle, src)?, Key::read(kind, &*self.handle, dst)?);
        self.detached(py, |inner| inner.insert_edge(src.as_ref(), dst.as_ref()).map(drop))
    }

    /// Submit: make sure that the edge exists, and has this weight.
    ///
    /// Parameters
    /// ----------
    /// src, dst
    ///     The ends.
    /// weight : float, optional
    ///     For a weighted graph; 1 if not given.
    #[pyo3(signature = (src, dst, weight=None))]
    fn put_edge(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<Weight>,
    ) -> PyResult<()> {
        let config = &self.handle.config;
        if weight.is_some() && !config.weighted {
            return Err(NotSupportedError::new_err("the graph has no weights"));
        }
        let (src, dst) =
            (Key::read(config.keys, &*self.handle, src)?, Key::read(config.keys, &*self.handle, dst)?);
        self.detached(py, |inner| match weight.map(|weight| weight.0) {
            Some(weight) => inner.put_weighted_edge(src.as_ref(), dst.as_ref(), weight).map(drop),
            None => inner.put_edge(src.as_ref(), dst.as_ref()).map(drop),
        })
    }

    /// Submit: remove the edge if it exists.
    fn remove_edge(&self, py: Python<'_>, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<()> {
        let kind = self.handle.config.keys;
        let (src, dst) = (Key::read(kind, &*self.handle, src)?, Key::read(kind, &*self.handle, dst)?);
        self.detached(py, |inner| inner.remove_edge(src.as_ref(), dst.as_ref()).map(drop))
    }

    /// Submit ``insert_edge`` for each pair, as one transaction each. It avoids Python's cost per call.
    ///
    /// Parameters
    /// ----------
    /// src, dst : array_like
    ///     Like in ``Database.add_edges``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges given.
    fn insert_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        self.submit_all(py, (src, dst, None), |inner, src, dst, _| inner.insert_edge(src, dst))
    }

    /// Submit ``put_edge`` for each pair, with weights in a weighted graph. Otherwise like ``insert_edges``.
    #[pyo3(signature = (src, dst, weights=None))]
    fn put_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let weighted = weights.is_some();
        self.submit_all(py, (src, dst, weights), |inner, src, dst, weight| match weighted {
            true => inner.put_weighted_edge(src, dst, weight),
            false => inner.put_edge(src, dst),
        })
    }

    /// Submit ``remove_edge`` for each pair. Otherwise like ``insert_edges``.
    fn remove_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        self.submit_all(py, (src, dst, None), |inner, src, dst, _| inner.remove_edge(src, dst))
    }

    /// Wait until all submitted operations are visible, and as durable as the store's durability mode
    /// promises.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray of bool
    ///     An element for each operation since the last flush, in the order of the calls: True if it added or
    ///     removed an edge.
    ///
    /// Raises
    /// ------
    /// Error
    ///     The error of the first operation that failed; the others were executed nevertheless.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        self.handle.check_usable()?;
        let flushed = self.detached(py, Inner::flush);
        let Acks { changed, failure } = std::mem::take(&mut *lock(&self.acks));
        match failure {
            Some(error) => Err(raise(error)),
            None => flushed.map(|()| changed.into_pyarray(py)),
        }
    }

    /// Flush, and accept no more operations. A second close does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.check_process()?;
        if py.detach(|| lock(&self.inner).is_none()) {
            return Ok(());
        }
        let flushed = self.flush(py).map(drop);
        let inner = py.detach(|| lock(&self.inner).take());
        py.detach(|| drop(inner));
        flushed
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Flushes and closes; an exception of the block passes through.
    #[pyo3(signature = (kind, value, traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let _ = (value, traceback);
        match self.close(py) {
            Err(error) if kind.is_none() => Err(error),
            _ => Ok(false),
        }
    }
}

impl Drop for Pipeline {
    /// Does nothing in a forked child, since a thread of the parent may have been in any call of the
    /// pipeline. An additional reference to each field prevents its drop.
    fn drop(&mut self) {
        if self.handle.is_forked() {
            std::mem::forget((self.inner.clone(), self.acks.clone()));
        } else if let Some(inner) = lock(&self.inner).take() {
            // Dropping the pipeline executes the submitted operations.
            released(|| drop(inner));
        }
    }
}
