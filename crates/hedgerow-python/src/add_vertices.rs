//! `add_vertices` of databases and of transactions.

use std::ops::Range;

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::add_edges::{BATCH, note_committed};
use crate::added::{Added, OnConflict, Told};
use crate::database::Database;
use crate::heap::Keeping;
use crate::rows::{Duplicates, VertexRows};
use crate::transaction::Transaction;
use crate::vertex_tables::VertexTable;
use crate::vertices::batch_rows;

const FAILED: &str = "rolled back: add_vertices failed";

#[pymethods]
impl Database {
    /// Add many vertices of one kind with their properties, in batches.
    ///
    /// Each batch is a transaction: if a batch fails, the earlier batches stay. Arguments are checked before
    /// anything is written, the values of a table when their rows are read.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like or table
    ///     Vertex ids of one kind: a NumPy array, a list, or a column of Arrow, pandas or Polars; or pairs of
    ///     the kind and the id; or a result or a table of vertices of this package, of which the call takes
    ///     only the ids. Or a table with a vertex in each row, like in ``add_edges``: its other columns
    ///     become properties. A ``vertex_stream`` is such a table, and with ``key`` any table is.
    /// key : str, optional
    ///     The column of a table with the ids; ``"id"`` if not given.
    /// kind : str, optional
    ///     The kind; if not given, the kind of the pairs, or else the default one.
    /// properties : mapping or data frame, optional
    ///     Columns by name, each with the length of ``keys``; for a missing value no property is set. A
    ///     single value instead of a column applies to each vertex. With a table: the names of the columns
    ///     that become properties; all others if not given.
    /// duplicates : {"raise", "first", "last"}
    ///     The row that is used if an id is repeated in the call. A call with a table keeps the ids that it
    ///     has read, and refuses ``"last"``.
    /// on_conflict : {"merge", "replace", "skip", "raise"}
    ///     The treatment of an existing vertex: set the properties that its row has, replace all its
    ///     properties with the row's, leave it unchanged, or refuse the call. ``"replace"`` reads nothing,
    ///     and is the fastest; so is ``"merge"`` if rows have a value of every property of the kind.
    ///     Otherwise the call looks up each vertex.
    /// batch : int
    ///     The number of vertices in a transaction. It is halved each time that the memory limit has no room
    ///     for one.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of vertices that were written, an int. Its fields count the rows that were left out
    ///     because of a repeated id. If the call looked up ids, they also count new and existing vertices.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     The type of a value differs from its property's, columns have unequal lengths, an id is repeated,
    ///     or a vertex exists although ``on_conflict`` is ``"raise"``; the message names the position.
    /// ProgrammingError
    ///     There is no such kind.
    /// NotSupportedError
    ///     ``duplicates`` is ``"last"``, and ``keys`` is a table.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_kind("page")
    /// >>> db.add_vertices([7, 8], kind="page", properties={"title": ["Birds", "Owls"], "views": [3, None]})
    /// 2
    /// >>> pages = db.add_vertices([7, 9], kind="page", properties={"views": [4, 1]})
    /// >>> pages, pages.new, pages.existing
    /// (Added(2, existing=1), 1, 1)
    /// >>> db.snapshot().vertex_properties(("page", 7))
    /// {'title': 'Birds', 'views': 4}
    #[pyo3(signature = (keys, *, key=None, kind=None, properties=None, duplicates="raise", on_conflict="merge", batch=None), text_signature = "($self, keys, *, key=None, kind=None, properties=None, duplicates=\"raise\", on_conflict=\"merge\", batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        key: Option<&str>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
        on_conflict: &str,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let _keeping = Keeping::begin();
        let (conflict, duplicates) = (OnConflict::read(on_conflict)?, Duplicates::read(duplicates)?);
        let batch = batch_rows(batch)?;
        let Some(mut table) = VertexTable::of(&self.handle, keys, key, kind, properties, duplicates)? else {
            let rows = VertexRows::read(&self.handle, keys, kind, properties, duplicates)?;
            return self.put_vertices(py, &rows, conflict, batch)?.to_object(py);
        };
        let (mut added, mut committed) = (Added::NONE, 0);
        let mut put = || -> PyResult<()> {
            while let Some(rows) = table.next(py, &self.handle, batch)? {
                added += self.put_vertices(py, &rows, conflict, batch)?;
                committed += rows.given();
            }
            Ok(())
        };
        let all = put();
        all.inspect_err(|error| note_committed(py, error, committed))?;
        added.to_object(py)
    }
}

impl Database {
    /// Puts vertices in transactions of `batch` rows.
    fn put_vertices(
        &self,
        py: Python<'_>,
        rows: &VertexRows,
        conflict: OnConflict,
        batch: usize,
    ) -> PyResult<Added> {
        if conflict == OnConflict::Raise {
            self.detached(py, |graph| rows.check_new(&graph.snapshot()?))?;
        }
        let graph = self.handle.graph()?;
        let put = |txn: &mut WriteTxn, range: Range<usize>| {
            // The present schema decides. If another thread defines and sets a property before this batch
            // commits, its values count as set before.
            let is_full = conflict == OnConflict::Merge && rows.are_full(&graph.schema(), range.clone());
            let conflict = if is_full { OnConflict::Replace } else { conflict };
            rows.put(txn, range, conflict).map(Told)
        };
        let found: Told = self.in_batches_of(py, (rows.len(), batch), put)?;
        // If the store was closed meanwhile, this may be the last reference, whose drop frees it.
        py.detach(|| drop(graph));
        Ok(rows.added(found.0, conflict))
    }
}

#[pymethods]
impl Transaction {
    /// Add many vertices of one kind with their properties.
    ///
    /// Parameters
    /// ----------
    /// keys, key, kind, properties, duplicates, on_conflict
    ///     Like in ``Database.add_vertices``.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of vertices that were written, an int, like in ``Database.add_vertices``.
    #[pyo3(signature = (keys, *, key=None, kind=None, properties=None, duplicates="raise", on_conflict="merge"))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        key: Option<&str>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
        on_conflict: &str,
    ) -> PyResult<Py<PyAny>> {
        let (conflict, duplicates) = (OnConflict::read(on_conflict)?, Duplicates::read(duplicates)?);
        let put = |rows: &VertexRows| {
            let found = self.bulk(py, FAILED, |txn| rows.put(txn, 0..rows.len(), conflict))?;
            Ok::<_, PyErr>(rows.added(found, conflict))
        };
        let Some(mut table) = VertexTable::of(self.handle(), keys, key, kind, properties, duplicates)? else {
            return put(&VertexRows::read(self.handle(), keys, kind, properties, duplicates)?)?.to_object(py);
        };
        let (mut added, mut parts) = (Added::NONE, 0);
        let mut put_all = || -> PyResult<()> {
            while let Some(rows) = table.next(py, self.handle(), BATCH)? {
                added += put(&rows)?;
                parts += 1;
            }
            Ok(())
        };
        let all = put_all();
        if all.is_err() && parts > 0 && self.is_active() {
            self.fail(py, FAILED)?;
        }
        all?;
        added.to_object(py)
    }
}
