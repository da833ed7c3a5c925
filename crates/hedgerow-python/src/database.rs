//! `Database`: an open store.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hedgerow::{Error, Graph, KeyKind, StorageError, Timestamp, WriteTxn};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::added::{Found, OnConflict};
use crate::bulk::{Arguments, Edges};
use crate::ending::calling;
use crate::error::{NotSupportedError, ProgrammingError, raise};
use crate::handle::Handle;
use crate::heap::{self, Keeping};
use crate::imports;
use crate::key::count;
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
        self.detached(py, |graph| graph.wait_for_conflict(Timestamp(timestamp), attempt))
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

    /// Put many edges, in transactions of ``batch`` edges each.
    ///
    /// All arguments are checked before anything is written. If a batch fails, or Ctrl-C interrupts it, the
    /// earlier batches stay. ``Transaction.add_edges`` adds all edges or none.
    ///
    /// Parameters
    /// ----------
    /// src, dst : array_like
    ///     Vertex ids, of equal length: columns of ints, or of str for a graph with str ids. Columns are
    ///     arrays of NumPy, columns of pandas, Polars and PyArrow, and sequences.
    /// weights : array_like of float, optional
    ///     The weights in a weighted graph; 1 if not given. ``on_conflict`` determines the weight of an
    ///     existing edge.
    /// label : str, optional
    ///     The label of all edges. Their weights become its property ``weight``.
    /// ranks : array_like of int, optional
    ///     The ranks of edges of a ``multi`` label. If not given, each row becomes a new edge: the call
    ///     counts ranks up from the label's number of edges, and replaces no edge. Edges of other labels have
    ///     rank 0.
    /// properties : mapping, optional
    ///     Columns by name, a value for each edge: bools, ints, floats, times (without a zone they are UTC),
    ///     str, bytes, or objects. Nulls of any library, masked elements, None and ``NaT`` are missing
    ///     values; NaN in a column of floats is a value.
    /// on_conflict : {"replace", "merge", "skip", "raise"}
    ///     The treatment of an existing edge: replace its weight and properties with the row's, merge them,
    ///     leave the edge unchanged, or refuse the call. ``"replace"`` reads nothing, and is the fastest.
    /// batch : int
    ///     The number of edges in a transaction. It is halved each time that the memory limit has no room for
    ///     one.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of edges written, an int: all rows, or with ``"skip"`` the new edges. Its fields count
    ///     repeated rows, of which the last one takes effect by default. Unless edges are replaced, they also
    ///     count new and existing edges.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     An id is negative or missing, a weight is not a number, no property can hold a value exactly, or
    ///     arrays have unequal shapes; the message names the position.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow, numpy as np
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges(np.array([1, 1, 2]), np.array([2, 3, 3]))
    /// 3
    /// >>> db.add_edges([1, 2], [2, 3], label="knows", properties={"since": np.array([2001, 2002])})
    /// 2
    /// >>> db.snapshot().edge_table("knows").properties["since"]
    /// masked_array(data=[2001, 2002],
    ///              mask=[False, False],
    ///        fill_value=999999)
    #[pyo3(signature = (src, dst, weights=None, *, label=None, ranks=None, properties=None, on_conflict="replace", batch=None), text_signature = "($self, src, dst, weights=None, *, label=None, ranks=None, properties=None, on_conflict='replace', batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        on_conflict: &str,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let batch = batch.map_or(Ok(1 << 16), |object| count("batch", object, 1))? as usize;
        self.handle.check_usable()?;
        let conflict = OnConflict::read(on_conflict)?;
        let edges = {
            let _keeping = Keeping::begin();
            Edges::read(
                &self.handle,
                &Arguments { src, dst, weights, label: label.as_deref(), ranks, properties },
            )?
        };
        let repeated = py.detach(|| edges.repeated());
        let keeping = Keeping::begin();
        if conflict == OnConflict::Raise {
            self.detached(py, |graph| edges.check_new(&graph.snapshot()?))?;
        }
        let first_rank = self.detached(py, |graph| edges.first_rank_in(graph))?;
        let mut found = Found::default();
        let put = |txn: &mut WriteTxn, range, last: Option<&(_, Found)>| {
            edges.put(txn, range, conflict, last.map_or(first_rank, |(next, _)| *next))
        };
        self.for_each_batch(py, (edges.len(), batch), put, |(_, put)| found += *put)?;
        let added = edges.added(repeated, found, conflict);
        drop((edges, keeping));
        py.detach(|| heap::give_back_after(added.rows));
        added.to_object(py)
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

    fn __reduce__(&self) -> PyResult<()> {
        Err(ProgrammingError::new_err("an open store cannot be pickled; open it again where it is needed"))
    }

    fn __repr__(&self) -> String {
        let path = self.handle.path.as_deref().unwrap_or(Path::new(":memory:"));
        let state = if self.handle.is_closed() { "closed" } else { "open" };
        let direction = if self.handle.config.directed { "directed" } else { "undirected" };
        format!("<hedgerow.Database {path:?} {state} {direction} keys={:?}>", self.keys())
    }
}
