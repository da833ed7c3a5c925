//! Many vertices, or many existing edges, at once: `add_vertices`, `set_vertex_properties`,
//! `remove_vertices`, `remove_edges` and `update_edges` of databases and transactions.

use std::ops::{AddAssign, Range};

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::added::{OnConflict, Told};
use crate::database::{BULK_RETRIES, Database};
use crate::heap::Keeping;
use crate::key::count;
use crate::rows::{Duplicates, EdgeRows, VertexRows};
use crate::schema::Label;
use crate::transaction::Transaction;

#[pymethods]
impl Database {
    /// Add many vertices of one kind with their properties, in batches.
    ///
    /// Each batch is a transaction: if the store fails in between, the batches before it stay. Arguments are
    /// checked before anything is written.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids among those of their kind: a NumPy array, a list, or a column of Arrow, pandas or
    ///     Polars; or pairs of the kind and the id, a result or a table of vertices.
    /// kind : str, optional
    ///     The kind; if not given, that of the pairs, or else the default one.
    /// properties : mapping or data frame, optional
    ///     Columns by name, each as long as ``keys``; a missing value is no property. A value alone is one
    ///     for each vertex.
    /// duplicates : {"raise", "first", "last"}
    ///     The row that counts if an id is repeated in the call.
    /// on_conflict : {"merge", "replace", "skip", "raise"}
    ///     The treatment of a vertex that exists: set the properties that its row has, replace all by those
    ///     of the row, leave the vertex as it is, or refuse the call. ``"replace"`` reads nothing, and is the
    ///     fastest, as is ``"merge"`` if rows have a value of every property of the kind; the others read if
    ///     each vertex exists.
    /// batch : int
    ///     Vertices per transaction.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of vertices that were written, an int. Its fields count the rows that were left out
    ///     because of a repeated id and, if the call looked ids up, the new and the existing vertices.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     A value of another type than its property's, columns of unequal length, a repeated id, a vertex
    ///     that exists although ``on_conflict`` is ``"raise"``; the message names the position.
    /// ProgrammingError
    ///     There is no such kind.
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
    #[pyo3(signature = (keys, *, kind=None, properties=None, duplicates="raise", on_conflict="merge", batch=None), text_signature = "($self, keys, *, kind=None, properties=None, duplicates=\"raise\", on_conflict=\"merge\", batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
        on_conflict: &str,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let _keeping = Keeping::begin();
        let conflict = OnConflict::read(on_conflict)?;
        let rows = VertexRows::read(&self.handle, keys, kind, properties, Duplicates::read(duplicates)?)?;
        if conflict == OnConflict::Raise {
            self.detached(py, |graph| rows.check_new(&graph.snapshot()?))?;
        }
        let graph = self.handle.graph()?;
        let put = |txn: &mut WriteTxn, range: Range<usize>| {
            // By the present schema: a property that others define and set until this batch commits counts as
            // set before.
            let is_full = conflict == OnConflict::Merge && rows.are_full(&graph.schema(), range.clone());
            let conflict = if is_full { OnConflict::Replace } else { conflict };
            rows.put(txn, range, conflict).map(Told)
        };
        let found: Told = self.in_batches(py, rows.len(), batch, put)?;
        // This may be the last reference to a store that is closed meanwhile, and then frees it.
        py.detach(|| drop(graph));
        rows.added(found.0, conflict).to_object(py)
    }

    /// Set properties of many vertices that exist and leave their others as they are, in batches; a missing
    /// value removes one.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, batch
    ///     Like in ``add_vertices``.
    /// properties : mapping
    ///     Columns by name, each as long as ``keys``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of these vertices that exist.
    #[pyo3(signature = (keys, properties, *, kind=None, batch=None), text_signature = "($self, keys, properties, *, kind=None, batch=65536)")]
    fn set_vertex_properties(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        properties: &Bound<'_, PyAny>,
        kind: Option<&str>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = VertexRows::read(&self.handle, keys, kind, Some(properties), Duplicates::Raise)?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.update(txn, range))
    }

    /// Remove many vertices of one kind with all their edges, in batches.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, batch
    ///     Like in ``add_vertices``; an id may come twice.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of vertices that existed.
    #[pyo3(signature = (keys, *, kind=None, batch=None), text_signature = "($self, keys, *, kind=None, batch=65536)")]
    fn remove_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = VertexRows::read(&self.handle, keys, kind, None, Duplicates::First)?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.remove(txn, range))
    }

    /// Set properties of many edges that exist and leave their others as they are, in batches; a missing
    /// value removes one.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks, batch
    ///     Like in ``add_edges``; ``ranks`` are needed for a ``multi`` label.
    /// properties : mapping
    ///     Columns by name, each as long as ``src``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of these edges that exist.
    #[pyo3(signature = (src, dst, properties, *, label=None, ranks=None, batch=None), text_signature = "($self, src, dst, properties, *, label=None, ranks=None, batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn update_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        properties: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = EdgeRows::read(&self.handle, src, dst, label.as_deref(), ranks, Some(properties))?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.update(txn, range))
    }

    /// Remove many edges of one label, in batches.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks, batch
    ///     Like in ``add_edges``; a ``multi`` label requires ``ranks``. ``remove_edges_where`` removes by
    ///     ranks or by properties.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges that existed.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     The label is ``multi``, and ``ranks`` are missing.
    #[pyo3(signature = (src, dst, *, label=None, ranks=None, batch=None), text_signature = "($self, src, dst, *, label=None, ranks=None, batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn remove_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = EdgeRows::read(&self.handle, src, dst, label.as_deref(), ranks, None)?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.remove(txn, range))
    }
}

impl Database {
    /// Runs `f` on each batch of rows, each in a transaction of its own; returns the sum of its results.
    fn in_batches<T: Default + AddAssign + Send>(
        &self,
        py: Python<'_>,
        rows: usize,
        batch: Option<&Bound<'_, PyAny>>,
        f: impl Fn(&mut WriteTxn, Range<usize>) -> hedgerow::Result<T> + Send + Sync,
    ) -> PyResult<T> {
        let batch = batch.map_or(Ok(1 << 16), |object| count("batch", object, 1))? as usize;
        let mut done = T::default();
        for start in (0..rows).step_by(batch) {
            let range = start..rows.min(start.saturating_add(batch));
            let run = |graph: &hedgerow::Graph| graph.transact(BULK_RETRIES, |txn| f(txn, range.clone()));
            done += self.detached(py, run)?.0;
            py.check_signals()?;
        }
        Ok(done)
    }
}

#[pymethods]
impl Transaction {
    /// Add many vertices of one kind with their properties.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, properties, duplicates, on_conflict
    ///     Like in ``Database.add_vertices``.
    ///
    /// Returns
    /// -------
    /// Added
    ///     The number of vertices that were written, an int, like in ``Database.add_vertices``.
    #[pyo3(signature = (keys, *, kind=None, properties=None, duplicates="raise", on_conflict="merge"))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
        on_conflict: &str,
    ) -> PyResult<Py<PyAny>> {
        let conflict = OnConflict::read(on_conflict)?;
        let rows = VertexRows::read(self.handle(), keys, kind, properties, Duplicates::read(duplicates)?)?;
        let found =
            self.bulk(py, "rolled back: add_vertices failed", |txn| rows.put(txn, 0..rows.len(), conflict))?;
        rows.added(found, conflict).to_object(py)
    }

    /// Set properties of many vertices that exist and leave their others as they are; a missing value removes
    /// one.
    ///
    /// Parameters
    /// ----------
    /// keys, properties, kind
    ///     Like in ``Database.set_vertex_properties``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of these vertices that exist.
    #[pyo3(signature = (keys, properties, *, kind=None))]
    fn set_vertex_properties(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        properties: &Bound<'_, PyAny>,
        kind: Option<&str>,
    ) -> PyResult<usize> {
        let rows = VertexRows::read(self.handle(), keys, kind, Some(properties), Duplicates::Raise)?;
        let what = "rolled back: set_vertex_properties failed";
        self.bulk(py, what, |txn| rows.update(txn, 0..rows.len()))
    }

    /// Remove many vertices of one kind with all their edges.
    ///
    /// Parameters
    /// ----------
    /// keys, kind
    ///     Like in ``Database.remove_vertices``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of vertices that existed.
    #[pyo3(signature = (keys, *, kind=None))]
    fn remove_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
    ) -> PyResult<usize> {
        let rows = VertexRows::read(self.handle(), keys, kind, None, Duplicates::First)?;
        self.bulk(py, "rolled back: remove_vertices failed", |txn| rows.remove(txn, 0..rows.len()))
    }

    /// Set properties of many edges that exist and leave their others as they are; a missing value removes
    /// one.
    ///
    /// Parameters
    /// ----------
    /// src, dst, properties, label, ranks
    ///     Like in ``Database.update_edges``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of these edges that exist.
    #[pyo3(signature = (src, dst, properties, *, label=None, ranks=None))]
    fn update_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        properties: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let rows = EdgeRows::read(self.handle(), src, dst, label.as_deref(), ranks, Some(properties))?;
        self.bulk(py, "rolled back: update_edges failed", |txn| rows.update(txn, 0..rows.len()))
    }

    /// Remove many edges of one label.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks
    ///     Like in ``Database.remove_edges``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges that existed.
    #[pyo3(signature = (src, dst, *, label=None, ranks=None))]
    fn remove_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        ranks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let rows = EdgeRows::read(self.handle(), src, dst, label.as_deref(), ranks, None)?;
        self.bulk(py, "rolled back: remove_edges failed", |txn| rows.remove(txn, 0..rows.len()))
    }
}
