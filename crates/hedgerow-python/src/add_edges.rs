//! `add_edges` of databases and of transactions.

use hedgerow::WriteTxn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::added::{Added, Found, OnConflict};
use crate::bulk::{Arguments, Edges};
use crate::database::Database;
use crate::edge_tables::{EdgeCall, EdgeForm, EdgeTable};
use crate::heap::{self, Keeping};
use crate::key::count;
use crate::schema::Label;
use crate::transaction::Transaction;

/// The number of rows in a transaction, and the number of rows of a table that are read at once.
pub(crate) const BATCH: usize = 1 << 16;

const FAILED: &str = "rolled back: add_edges failed";

#[pymethods]
impl Database {
    /// Put many edges, in transactions of ``batch`` edges each: ``add_edges(src, dst, weights)`` with a
    /// column for each, or ``add_edges(table, src="payer", dst="payee")`` with a table.
    ///
    /// A table is any object with an Arrow stream: a frame of Polars or pandas, a table or reader of PyArrow,
    /// a query of DuckDB, a table or stream of edges of this package. The call reads it once, as much as one
    /// transaction takes at a time, so it need not fit memory. Columns that no parameter names become
    /// properties, with their types. No value is converted, except whole numbers to a property of floats; a
    /// time without a zone is in UTC. The call ignores an unnamed index of pandas and columns without a type
    /// (null). pandas itself passes NaN on as null.
    ///
    /// The call checks names and types of columns before it writes. It checks the values of columns before it
    /// writes too, and the values of a table batch by batch. If a batch fails, or Ctrl-C interrupts it, the
    /// earlier batches stay, and the exception of a table has a note with their number of rows.
    /// ``Transaction.add_edges`` adds all edges or none.
    ///
    /// Parameters
    /// ----------
    /// src, dst : array_like
    ///     Vertex ids, of equal length: columns of ints, or of str for a graph with str ids. Columns are
    ///     arrays of NumPy, columns of pandas, Polars and PyArrow, and sequences. With a table: the names of
    ///     its columns, ``"src"`` and ``"dst"`` if not given. Its columns ``src_kind`` and ``dst_kind`` name
    ///     kinds, if the graph has kinds.
    /// weights : array_like of float, optional
    ///     The weights in a weighted graph; 1 if not given. ``on_conflict`` determines the weight of an
    ///     existing edge.
    /// label : str, optional
    ///     The label of all edges. Their weights become its property ``weight``.
    /// ranks : array_like of int, optional
    ///     The ranks of edges of a ``multi`` label. If not given, each row becomes a new edge: the call
    ///     counts ranks up from the label's number of edges, and replaces no edge. Edges of other labels have
    ///     rank 0.
    /// weight, rank : str, optional
    ///     The columns of a table with the weights and with the ranks. If not given, they are its columns
    ///     ``weight`` in a weighted graph and ``rank`` for a ``multi`` label, if it has them.
    /// properties : mapping, optional
    ///     With a table: the names of the columns that become properties; all others if not given. Else
    ///     columns by name, a value for each edge: bools, ints, floats, times (without a zone they are UTC),
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
    ///     count new and existing edges. If a table has more rows than ``batch``, ``repeated`` is None, and
    ///     ``existing`` includes edges of earlier rows.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     An id is negative or missing, a weight is not a number, no property can hold a value exactly, or
    ///     arrays have unequal shapes; the message names the position. A table has no column of this name, or
    ///     a column of a type that no property has.
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
    #[pyo3(signature = (*columns, src=None, dst=None, weights=None, label=None, ranks=None, properties=None, on_conflict="replace", batch=None, weight=None, rank=None), text_signature = "($self, *columns, src=None, dst=None, weights=None, label=None, ranks=None, properties=None, on_conflict='replace', batch=65536, weight=None, rank=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_edges(
        &self,
        py: Python<'_>,
        columns: &Bound<'_, PyTuple>,
        src: Option<&Bound<'_, PyAny>>,
        dst: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        on_conflict: &str,
        batch: Option<&Bound<'_, PyAny>>,
        weight: Option<&str>,
        rank: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let batch = batch.map_or(Ok(BATCH as u32), |object| count("batch", object, 1))? as usize;
        self.handle.check_usable()?;
        let conflict = OnConflict::read(on_conflict)?;
        let label = label.as_deref();
        let call = EdgeCall { given: columns, src, dst, weights, ranks, weight, rank, label, properties };
        let added = match call.form(&self.handle)? {
            EdgeForm::Columns(arguments) => self.add_edge_columns(py, &arguments, conflict, batch)?,
            EdgeForm::Table(table) => self.add_edge_table(py, table, conflict, batch)?,
        };
        added.to_object(py)
    }
}

impl Database {
    fn add_edge_columns(
        &self,
        py: Python<'_>,
        arguments: &Arguments<'_, '_>,
        conflict: OnConflict,
        batch: usize,
    ) -> PyResult<Added> {
        let edges = {
            let _keeping = Keeping::begin();
            Edges::read(&self.handle, arguments)?
        };
        let repeated = py.detach(|| edges.repeated());
        let keeping = Keeping::begin();
        let mut put = Put::default();
        self.put_edges(py, &edges, (conflict, batch), &mut put)?;
        let added = edges.added(put.rows, Some(repeated), put.found, conflict);
        drop((edges, keeping));
        py.detach(|| heap::give_back_after(added.rows));
        Ok(added)
    }

    fn add_edge_table(
        &self,
        py: Python<'_>,
        mut table: EdgeTable<'_>,
        conflict: OnConflict,
        batch: usize,
    ) -> PyResult<Added> {
        let _keeping = Keeping::begin();
        let mut put = Put::default();
        let added = add_table(py, (&self.handle, &mut table, batch), conflict, &mut put, |edges, put| {
            self.put_edges(py, edges, (conflict, batch), put)
        });
        added.inspect_err(|error| note_committed(py, error, put.rows))
    }

    /// Puts edges in transactions of `batch` rows.
    fn put_edges(
        &self,
        py: Python<'_>,
        edges: &Edges,
        (conflict, batch): (OnConflict, usize),
        put: &mut Put,
    ) -> PyResult<()> {
        if conflict == OnConflict::Raise {
            self.detached(py, |graph| edges.check_new(&graph.snapshot()?))?;
        }
        let first = match put.next_rank {
            Some(rank) => rank,
            None => self.detached(py, |graph| edges.first_rank_in(graph))?,
        };
        let one = |txn: &mut WriteTxn, range: std::ops::Range<usize>, last: Option<&(u64, Found, usize)>| {
            let rows = range.len();
            let (next, found) = edges.put(txn, range, conflict, last.map_or(first, |(next, ..)| *next))?;
            Ok((next, found, rows))
        };
        self.for_each_batch(py, (edges.len(), batch), one, |&(next, found, rows)| {
            put.next_rank = Some(next);
            put.found += found;
            put.rows += rows;
        })
    }
}

/// Adds a note to an exception: the number of rows of a table that were committed before.
pub(crate) fn note_committed(py: Python<'_>, error: &PyErr, rows: usize) {
    if rows > 0 {
        let note = format!("At least the first {rows} rows of the table are committed.");
        // A note is only a help: an error without it is an error too.
        let _ = error.value(py).call_method1("add_note", (note,));
    }
}

/// The rows that a call has put.
#[derive(Default)]
struct Put {
    rows: usize,
    found: Found,
    /// The rank of the next row, if the call assigns ranks.
    next_rank: Option<u64>,
}

/// Puts the rows of a table by `put_some`, some at a time.
fn add_table(
    py: Python<'_>,
    (handle, table, batch): (&crate::handle::Handle, &mut EdgeTable<'_>, usize),
    conflict: OnConflict,
    put: &mut Put,
    mut put_some: impl FnMut(&Edges, &mut Put) -> PyResult<()>,
) -> PyResult<Added> {
    let (mut added, mut parts) = (Added { rows: 0, repeated: Some(0), found: None }, 0);
    while let Some(edges) = table.next(py, handle, batch)? {
        parts += 1;
        // A row may repeat one of an earlier part, which is gone.
        let repeated = if parts == 1 { Some(py.detach(|| edges.repeated())) } else { None };
        put_some(&edges, put)?;
        added = edges.added(put.rows, repeated, put.found, conflict);
    }
    Ok(added)
}

#[pymethods]
impl Transaction {
    /// Put many edges.
    ///
    /// Parameters
    /// ----------
    /// src, dst : array_like
    ///     Vertex ids, of equal length: columns of ints, or of str for a graph with str ids; or the names of
    ///     the columns of a table, which is given before them.
    /// weights : array_like of float, optional
    ///     The weights in a weighted graph; 1 if not given. The weight of an existing edge is replaced.
    /// label, ranks, weight, rank, properties, on_conflict
    ///     Like in ``Database.add_edges``.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of rows given, an int, like in ``Database.add_edges``.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     An id is negative or missing, a weight is not a number, no property can hold a value exactly, or
    ///     arrays have unequal shapes; the message names the position. Nothing was added. A transaction with
    ///     more operations than permitted is rolled back, and so is one to which a part of a table was added.
    #[pyo3(signature = (*columns, src=None, dst=None, weights=None, label=None, ranks=None, properties=None, on_conflict="replace", weight=None, rank=None), text_signature = "($self, *columns, src=None, dst=None, weights=None, label=None, ranks=None, properties=None, on_conflict='replace', weight=None, rank=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_edges(
        &self,
        py: Python<'_>,
        columns: &Bound<'_, PyTuple>,
        src: Option<&Bound<'_, PyAny>>,
        dst: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        on_conflict: &str,
        weight: Option<&str>,
        rank: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        self.handle().check_usable()?;
        let conflict = OnConflict::read(on_conflict)?;
        let label = label.as_deref();
        let call = EdgeCall { given: columns, src, dst, weights, ranks, weight, rank, label, properties };
        let mut put = Put::default();
        let put_some = |edges: &Edges, put: &mut Put| {
            let (next, found) = self.bulk(py, FAILED, |txn| {
                let rank = match put.next_rank {
                    Some(rank) => rank,
                    None => edges.first_rank(|| txn.snapshot())?,
                };
                edges.put(txn, 0..edges.len(), conflict, rank)
            })?;
            put.next_rank = Some(next);
            put.found += found;
            put.rows += edges.len();
            Ok(())
        };
        let added = match call.form(self.handle())? {
            EdgeForm::Columns(arguments) => {
                let edges = Edges::read(self.handle(), &arguments)?;
                let repeated = py.detach(|| edges.repeated());
                put_some(&edges, &mut put)?;
                edges.added(put.rows, Some(repeated), put.found, conflict)
            }
            EdgeForm::Table(mut table) => {
                let added = add_table(py, (self.handle(), &mut table, BATCH), conflict, &mut put, put_some);
                if added.is_err() && put.rows > 0 && self.is_active() {
                    self.fail(py, FAILED)?;
                }
                added?
            }
        };
        added.to_object(py)
    }
}
