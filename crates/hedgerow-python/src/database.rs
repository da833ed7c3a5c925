//! `Database`: an open store.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hedgerow::{Error, Graph, KeyKind, StorageError, Timestamp, WriteTxn};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::ending::calling;
use crate::error::{NotSupportedError, raise};
use crate::handle::Handle;
use crate::imports;
use crate::maintained::Maintained;
use crate::pipeline::Pipeline;
use crate::pool::{close_attended, parallel};
use crate::results::make;
use crate::schema::Label;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;

/// The number of attempts for transactions of this module. Blind writes conflict only under snapshot
/// isolation.
pub(crate) const BULK_RETRIES: u32 = 64;

/// An open store. Made by ``hedgerow.open``.
///
/// Any thread may call any method. Used as a context manager, it closes the store at the end of the block.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> with db.write() as tx:
/// ...     tx.put_edge(1, 2)
/// ...     tx.put_edge(1, 3)
/// >>> with db.snapshot() as g:
/// ...     g.neighbors(1)
/// [2, 3]
/// >>> db.close()
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Database {
    pub(crate) handle: Arc<Handle>,
}

impl Database {
    pub(crate) fn new(handle: Handle) -> Database {
        Database { handle: Arc::new(handle) }
    }

    /// Runs `f` on the store without the interpreter lock; refuses a closed store.
    pub(crate) fn detached<T: Send>(
        &self,
        py: Python<'_>,
        f: impl Send + FnOnce(&Graph) -> hedgerow::Result<T>,
    ) -> PyResult<T> {
        let graph = self.handle.graph()?;
        py.detach(move || f(&graph)).map_err(raise)
    }

    /// Runs `f` on each batch of rows, each as one transaction, with the result of the batch before. Then
    /// calls `done` with the result. If the memory limit has no room for a batch, goes on with batches of
    /// half as many rows, down to one.
    pub(crate) fn for_each_batch<T: Send + Sync>(
        &self,
        py: Python<'_>,
        (rows, mut batch): (usize, usize),
        f: impl Fn(&mut WriteTxn, Range<usize>, Option<&T>) -> hedgerow::Result<T> + Send + Sync,
        mut done: impl FnMut(&T),
    ) -> PyResult<()> {
        let (mut start, mut last) = (0, None::<T>);
        while start < rows {
            let range = start..rows.min(start.saturating_add(batch));
            let put = |txn: &mut WriteTxn| f(txn, range.clone(), last.as_ref());
            let run = |graph: &Graph| match graph.transact(BULK_RETRIES, put) {
                Err(error) if error.is_out_of_memory() && range.len() > 1 => Ok(None),
                made => made.map(|(made, _)| Some(made)),
            };
            match self.detached(py, run)? {
                Some(made) => {
                    done(&made);
                    (start, last) = (range.end, Some(made));
                }
                None => batch = range.len() / 2,
            }
            py.check_signals()?;
        }
        Ok(())
    }

    /// Writes a checkpoint of either kind, and returns its figures as a Python object.
    fn write_checkpoint(
        &self,
        py: Python<'_>,
        write: impl Send + FnOnce(&Graph) -> hedgerow::Result<hedgerow::Checkpoint>,
    ) -> PyResult<Py<PyAny>> {
        self.handle.check_usable()?;
        if self.handle.path.is_none() {
            return Err(NotSupportedError::new_err("a store without files has no checkpoints"));
        }
        let written = self.detached(py, write)?;
        let arguments = PyDict::new(py);
        arguments.set_item("timestamp", written.timestamp.0)?;
        arguments.set_item("bytes", written.bytes)?;
        arguments.set_item("log_segments_removed", written.log_segments_removed)?;
        arguments.set_item("subgraphs", written.subgraphs)?;
        arguments.set_item("segments", written.segments)?;
        make(py, "Checkpoint", &arguments)
    }
}

#[pymethods]
impl Database {
    /// Begin a write transaction.
    ///
    /// Parameters
    /// ----------
    /// create_endpoints : bool
    ///     True if an edge creates its missing endpoints. Otherwise a missing endpoint makes the commit raise
    ///     ``IntegrityError``.
    ///
    /// Returns
    /// -------
    /// Transaction
    ///     Used as a context manager, it commits at the end of the block, and rolls back if the block raises.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write(create_endpoints=False) as tx:
    /// ...     tx.put_edge(1, 2)
    /// Traceback (most recent call last):
    ///     ...
    /// hedgerow.IntegrityError: no vertex 1
    #[pyo3(signature = (*, create_endpoints=true))]
    fn write(&self, create_endpoints: bool) -> PyResult<Transaction> {
        let mut txn = self.handle.graph()?.write().map_err(raise)?;
        txn.create_endpoints(create_endpoints).map_err(raise)?;
        Ok(Transaction::new(&self.handle, txn))
    }

    /// A snapshot of everything committed so far.
    ///
    /// Costs the same for any size of the graph, and never waits for writers.
    ///
    /// Returns
    /// -------
    /// Snapshot
    fn snapshot(&self) -> PyResult<Snapshot> {
        let snapshot = self.handle.graph()?.snapshot().map_err(raise)?;
        Ok(Snapshot::new(&self.handle, snapshot))
    }

    /// An answer about the edges of one label, which is updated as the graph changes.
    ///
    /// The first call of ``Maintained.at`` computes it.
    ///
    /// Parameters
    /// ----------
    /// name : {"wcc", "tc", "pagerank", "degrees"}
    ///     The kernel.
    /// label : str, optional
    ///     The label whose edges are followed; edges without a label if not given. All vertices have an
    ///     answer; if the label states the kinds of its ends, all vertices of these kinds.
    ///
    /// Returns
    /// -------
    /// Maintained
    ///
    /// Raises
    /// ------
    /// hedgerow.ProgrammingError
    ///     For another kernel, or a label that is not defined.
    #[pyo3(signature = (name, *, label=None))]
    fn maintain(&self, name: &str, label: Option<Label<'_>>) -> PyResult<Maintained> {
        let schema = self.handle.graph()?.schema();
        let label = schema.find_label(label.as_deref().unwrap_or_default()).map_err(raise)?;
        Maintained::new(self.handle.origin, name, label)
    }

    /// Waits after a conflict of a transaction, until another attempt is likely to succeed.
    fn _wait_for_conflict(&self, py: Python<'_>, timestamp: u64, attempt: u32) -> PyResult<()> {
        self.detached(py, |graph| graph.internals().wait_for_conflict(Timestamp(timestamp), attempt))
    }

    /// Begin a pipeline: single edge operations, each as one transaction, with several in flight.
    ///
    /// This is faster than waiting for each operation, above all if commits wait for the disk, because one
    /// sync serves many operations.
    ///
    /// Returns
    /// -------
    /// Pipeline
    ///     Used as a context manager, it waits at the end of the block for all submitted operations.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.pipeline() as p:
    /// ...     p.insert_edges([1, 1, 2], [2, 3, 3])
    /// 3
    fn pipeline(&self) -> PyResult<Pipeline> {
        self.handle.check_usable()?;
        Pipeline::new(&self.handle)
    }

    /// Write the changes since the last checkpoint into a segment, and remove the log with these changes, so
    /// that the next opening reads less.
    ///
    /// Commits and snapshots continue meanwhile.
    ///
    /// Returns
    /// -------
    /// Checkpoint
    ///
    /// Raises
    /// ------
    /// NotSupportedError
    ///     The store has no files.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.write_checkpoint(py, Graph::checkpoint)
    }

    /// Write everything into one segment, and remove all files that it replaces.
    ///
    /// Commits and snapshots continue meanwhile.
    ///
    /// Returns
    /// -------
    /// Checkpoint
    ///
    /// Raises
    /// ------
    /// NotSupportedError
    ///     The store has no files.
    fn compact(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.write_checkpoint(py, Graph::compact)
    }

    /// Write everything committed so far into a new store, and verify it.
    ///
    /// Commits and snapshots continue meanwhile. To restore a backup, open the new store. The call also backs
    /// up a store without files.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     The directory of the new store, which must not exist or be empty.
    ///
    /// Returns
    /// -------
    /// Backup
    ///
    /// Raises
    /// ------
    /// DataError
    ///     `path` exists and is not an empty directory.
    fn backup(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<Py<PyAny>> {
        let done = self.detached(py, |graph| graph.backup(path))?;
        let arguments = PyDict::new(py);
        arguments.set_item("timestamp", done.timestamp.0)?;
        arguments.set_item("vertices", done.vertices)?;
        arguments.set_item("bytes", done.bytes)?;
        make(py, "Backup", &arguments)
    }

    /// The error of the last checkpoint that ran in the background or in ``close``; None if it succeeded.
    #[getter]
    fn checkpoint_error(&self) -> PyResult<Option<String>> {
        self.handle.known(Graph::checkpoint_error, |closed| closed.checkpoint_error.clone())
    }

    /// Make everything committed before the call durable, in every durability mode.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, Graph::flush)
    }

    /// Merge all recent changes into the main part of the graph, which makes reads fastest.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, Graph::settle)
    }

    /// The content of the store, and the memory and files that it takes.
    ///
    /// Returns
    /// -------
    /// Stats
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut stats = self.detached(py, Graph::stats)?;
        if let Some(path) = self.handle.path.as_ref().filter(|_| self.handle.read_only) {
            // A store opened for reading only does not keep its files open, so their sizes are read here.
            let _calling = calling(py);
            let sizes = imports::RESULTS.get(py)?.call_method1("_file_bytes", (path.as_os_str(),))?;
            (stats.log_bytes, stats.segment_bytes, stats.segments) = sizes.extract()?;
        }
        let arguments = PyDict::new(py);
        for (name, value) in [
            ("vertices", stats.vertices),
            ("edges", stats.edges),
            ("published_ts", stats.published.0),
            ("durable_ts", stats.durable.0),
            ("versions", stats.versions),
            ("delta_entries", stats.delta_entries),
            ("main_bytes", stats.main_bytes),
            ("patch_bytes", stats.patch_bytes),
            ("property_bytes", stats.property_bytes),
            ("delta_bytes", stats.delta_bytes),
            ("old_version_bytes", stats.old_version_bytes),
            ("arena_free_bytes", stats.arena_free_bytes),
            ("view_bytes", stats.view_bytes),
            ("table_bytes", stats.table_bytes),
            ("id_map_bytes", stats.id_map_bytes),
            ("coordination_bytes", stats.coordination_bytes),
            ("log_buffer_bytes", stats.log_buffer_bytes),
            ("file_buffer_bytes", stats.file_buffer_bytes),
            ("arena_bytes", stats.arena_bytes),
            ("version_bytes", stats.version_bytes),
            ("inbox_bytes", stats.inbox_bytes),
            ("memory_limit", stats.memory_limit),
            ("memory_bytes", stats.memory_bytes()),
            ("commit_waits", stats.commit_waits),
            ("log_bytes", stats.log_bytes),
            ("segment_bytes", stats.segment_bytes),
            ("segments", stats.segments),
            ("background_checkpoints", stats.background_checkpoints),
            ("failed_checkpoints", stats.failed_checkpoints),
            ("failed_settlings", stats.failed_settlings),
        ] {
            arguments.set_item(name, value)?;
        }
        make(py, "Stats", &arguments)
    }

    /// Check that the parts of the store agree, and the checksum of every segment file.
    ///
    /// Damage is a finding, not an error.
    ///
    /// Returns
    /// -------
    /// CheckReport
    ///     Its ``problems`` are empty for a sound store. If damage stops the check, that damage is the last
    ///     problem, and the numbers are None.
    ///
    /// Raises
    /// ------
    /// OperationalError
    ///     A file cannot be read.
    fn check(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let graph = self.handle.graph()?;
        // If the store was closed meanwhile, this may be the last reference, whose drop frees it.
        let arguments = PyDict::new(py);
        match parallel(py, move || graph.check()) {
            Ok(report) => {
                arguments.set_item("vertices", report.vertices)?;
                arguments.set_item("edges", report.edges)?;
                arguments.set_item("segments", report.segments)?;
                arguments.set_item("problems", report.problems)?;
                arguments.set_item("more", report.more)?;
            }
            Err(Error::Storage(StorageError::Corruption(damage))) => {
                for number in ["vertices", "edges", "segments"] {
                    arguments.set_item(number, py.None())?;
                }
                arguments.set_item("problems", [damage.to_string()])?;
            }
            Err(error) => return Err(raise(error)),
        }
        make(py, "CheckReport", &arguments)
    }

    /// Close the store: wait for running commits, sync the log, and release the directory.
    ///
    /// Before it syncs the log, the call writes a checkpoint if that takes less time than replaying the log
    /// in the next opening. The end of a ``with`` block does the same, unless ``KeyboardInterrupt`` ends the
    /// block. No checkpoint is written for a dropped store, at the exit of the interpreter, or with
    /// ``checkpoint_log_bytes=0``. If the checkpoint fails, on a full disk for instance, the store closes
    /// nevertheless: ``checkpoint_error`` has the reason, and the next opening replays the log. Ctrl-C stops
    /// the checkpoint, but not the close; ``KeyboardInterrupt`` is raised when the store is closed.
    ///
    /// Open snapshots stay readable; all other calls raise ``ClosedError``. A second close does nothing.
    ///
    /// Raises
    /// ------
    /// PoisonedError
    ///     The log failed, now or earlier. The directory is released nevertheless.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.check_process()?;
        self.handle.close(py, close_attended)
    }

    /// True if the store was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The path of the directory, decoded by ``os.fsdecode``; ``None`` for a store without files.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.handle.path.as_ref().map(|path| path.as_os_str())
    }

    /// True if the store was opened for reading only.
    #[getter]
    fn read_only(&self) -> bool {
        self.handle.read_only
    }

    /// True if edges have a direction.
    #[getter]
    fn directed(&self) -> bool {
        self.handle.config.directed
    }

    /// True if edges have a weight.
    #[getter]
    fn weighted(&self) -> bool {
        self.handle.config.weighted
    }

    /// The type of vertex ids: ``"u64"``, ``"str"`` or ``"dense"``.
    #[getter]
    fn keys(&self) -> &'static str {
        match self.handle.config.keys {
            KeyKind::Dense => "dense",
            KeyKind::U64 => "u64",
            KeyKind::Str => "str",
        }
    }

    /// The timestamp of the last commit that a new snapshot would see.
    #[getter]
    fn published_ts(&self) -> PyResult<u64> {
        self.handle.known(|graph| graph.published_ts().0, |closed| closed.published_ts)
    }

    /// The timestamp of the last commit known to be on stable media; without files, ``published_ts``.
    #[getter]
    fn durable_ts(&self) -> PyResult<u64> {
        self.handle.known(|graph| graph.durable_ts().0, |closed| closed.durable_ts)
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().handle.check_usable()?;
        Ok(slf)
    }

    #[pyo3(signature = (exception=None, *_of_it))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exception: Option<&Bound<'_, PyAny>>,
        _of_it: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        // In a forked child there is nothing to close when the block ends.
        if self.handle.check_process().is_ok() {
            let kind = exception.and_then(|exception| exception.cast::<PyType>().ok());
            // A user who presses Ctrl-C should not have to wait for a checkpoint.
            let interrupted =
                kind.is_some_and(|kind| kind.is_subclass_of::<PyKeyboardInterrupt>().unwrap_or(false));
            if interrupted && !self.handle.is_closed() {
                self.handle.skip_checkpoint_at_close()?;
            }
            self.close(py)?;
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        let path = self.handle.path.as_deref().unwrap_or(Path::new(":memory:"));
        let state = if self.handle.is_closed() { "closed" } else { "open" };
        let direction = if self.handle.config.directed { "directed" } else { "undirected" };
        format!("<hedgerow.Database {path:?} {state} {direction} keys={:?}>", self.keys())
    }
}
