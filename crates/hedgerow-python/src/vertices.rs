//! Calls about many vertices or existing edges: `add_vertices`, `set_vertex_properties`, `remove_vertices`,
//! `remove_edges` and `update_edges`, of databases and of transactions.

use std::ops::{AddAssign, Range};

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::added::{OnConflict, Told};
use crate::database::Database;
use crate::heap::Keeping;
use crate::key::count;
use crate::rows::{Duplicates, EdgeRows, VertexRows};
use crate::schema::Label;
use crate::transaction::Transaction;

#[pymethods]
impl Database {
    /// Add many vertices of one kind with their properties, in batches.
    ///
    /// Each batch is a transaction: if a batch fails, the earlier batches stay. Arguments are checked before
    /// anything is written.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids of one kind: a NumPy array, a list, or a column of Arrow, pandas or Polars; or pairs of
    ///     the kind and the id; or a result or a table of vertices.
    /// kind : str, optional
    ///     The kind; if not given, the kind of the pairs, or else the default one.
    /// properties : mapping or data frame, optional
    ///     Columns by name, each with the length of ``keys``; for a missing value no property is set. A
    ///     single value instead of a column applies to each vertex.
    /// duplicates : {"raise", "first", "last"}
    ///     The row that is used if an id is repeated in the call.
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
            // The present schema decides. If another thread defines and sets a property before this batch
            // commits, its values count as set before.
            let is_full = conflict == OnConflict::Merge && rows.are_full(&graph.schema(), range.clone());
            let conflict = if is_full { OnConflict::Replace } else { conflict };
            rows.put(txn, range, conflict).map(Told)
        };
        let found: Told = self.in_batches(py, rows.len(), batch, put)?;
        // If the store was closed meanwhile, this may be the last reference, whose drop frees it.
        py.detach(|| drop(graph));
        rows.added(found.0, conflict).to_object(py)
    }

    /// Set properties of many existing vertices, in batches, without changing their other properties. A
    /// missing value removes a property.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, batch
    ///     Like in ``add_vertices``.
    /// properties : mapping
    ///     Columns by name, each with the length of ``keys``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of the given vertices that exist.
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
    ///     Like in ``add_vertices``; an id may be repeated.
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

    /// Set properties of many existing edges, in batches, without changing their other properties. A missing
    /// value removes a property.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks, batch
    ///     Like in ``add_edges``; ``ranks`` are needed for a ``multi`` label.
    /// properties : mapping
    ///     Columns by name, each with the length of ``src``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of the given edges that exist.
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
    /// Runs `f` on each batch of rows, each as one transaction. Returns the sum of the results.
    fn in_batches<T: Default + AddAssign + Copy + Send + Sync>(
        &self,
        py: Python<'_>,
        rows: usize,
        batch: Option<&Bound<'_, PyAny>>,
        f: impl Fn(&mut WriteTxn, Range<usize>) -> hedgerow::Result<T> + Send + Sync,
    ) -> PyResult<T> {
        let batch = batch.map_or(Ok(1 << 16), |object| count("batch", object, 1))? as usize;
        let mut done = T::default();
        let f = |txn: &mut WriteTxn, range, _: Option<&T>| f(txn, range);
        self.for_each_batch(py, (rows, batch), f, |made| done += *made)?;
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

    /// Set properties of many existing vertices, without changing their other properties. A missing value
    /// removes a property.
    ///
    /// Parameters
    /// ----------
    /// keys, properties, kind
    ///     Like in ``Database.set_vertex_properties``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of the given vertices that exist.
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

    /// Set properties of many existing edges, without changing their other properties. A missing value
    /// removes a property.
    ///
    /// Parameters
    /// ----------
    /// src, dst, properties, label, ranks
    ///     Like in ``Database.update_edges``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of the given edges that exist.
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
