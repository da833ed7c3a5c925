//! Many vertices, or many edges that are there, at once: `add_vertices`, `set_vertex_properties`, `remove_vertices`, `remove_edges` and
//! `update_edges` of databases and transactions.

use std::ops::Range;

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::database::{BULK_RETRIES, Database};
use crate::heap::Keeping;
use crate::key::count;
use crate::rows::{Duplicates, EdgeRows, VertexRows};
use crate::transaction::Transaction;

#[pymethods]
impl Database {
    /// Put many vertices of one kind, each with exactly these properties, in batches.
    ///
    /// Each batch is a transaction: if the store fails in between, the batches before it stay. Arguments are checked before anything is
    /// written.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids among those of their kind: a NumPy array, a list, or a column of Arrow, pandas or Polars.
    /// kind : str, optional
    ///     The kind; the default one if not given.
    /// properties : mapping, optional
    ///     Columns by name, each as long as ``keys``; a missing value is no property.
    /// duplicates : {"raise", "first", "last"}
    ///     Which row counts where an id comes twice.
    /// batch : int
    ///     Vertices per transaction.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of vertices that were put.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     A value of another type than its property's, columns of unequal length, an id that comes twice; the message names the
    ///     position.
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
    /// >>> db.snapshot().vertex_properties(("page", 7))
    /// {'title': 'Birds', 'views': 3}
    #[pyo3(signature = (keys, *, kind=None, properties=None, duplicates="raise", batch=None), text_signature = "($self, keys, *, kind=None, properties=None, duplicates=\"raise\", batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = VertexRows::read(&self.handle, keys, kind, properties, Duplicates::read(duplicates)?)?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.put(txn, range))
    }

    /// Set properties of many vertices that exist and leave their others as they are, in batches; a missing value removes one.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, batch
    ///     As of ``add_vertices``.
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
    ///     As of ``add_vertices``; an id may come twice.
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

    /// Set properties of many edges that exist and leave their others as they are, in batches; a missing value removes one.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks, batch
    ///     As of ``add_edges``.
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
        label: Option<&str>,
        ranks: Option<&Bound<'_, PyAny>>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = EdgeRows::read(&self.handle, src, dst, label, ranks, Some(properties))?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.update(txn, range))
    }

    /// Remove many edges of one label, in batches.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks, batch
    ///     As of ``add_edges``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges that existed.
    #[pyo3(signature = (src, dst, *, label=None, ranks=None, batch=None), text_signature = "($self, src, dst, *, label=None, ranks=None, batch=65536)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn remove_edges(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&str>,
        ranks: Option<&Bound<'_, PyAny>>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let _keeping = Keeping::begin();
        let rows = EdgeRows::read(&self.handle, src, dst, label, ranks, None)?;
        self.in_batches(py, rows.len(), batch, |txn, range| rows.remove(txn, range))
    }
}

impl Database {
    /// Runs `f` on each batch of rows, each in a transaction of its own; the sum of what it returns.
    fn in_batches(
        &self,
        py: Python<'_>,
        rows: usize,
        batch: Option<&Bound<'_, PyAny>>,
        f: impl Fn(&mut WriteTxn, Range<usize>) -> hedgerow::Result<usize> + Send + Sync,
    ) -> PyResult<usize> {
        let batch = batch.map_or(Ok(1 << 16), |object| count("batch", object, 1))? as usize;
        let mut done = 0;
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
    /// Put many vertices of one kind, each with exactly these properties.
    ///
    /// Parameters
    /// ----------
    /// keys, kind, properties, duplicates
    ///     As of ``Database.add_vertices``.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of vertices that were put.
    #[pyo3(signature = (keys, *, kind=None, properties=None, duplicates="raise"))]
    fn add_vertices(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
    ) -> PyResult<usize> {
        let rows = VertexRows::read(self.handle(), keys, kind, properties, Duplicates::read(duplicates)?)?;
        self.bulk(py, "rolled back: add_vertices failed", |txn| rows.put(txn, 0..rows.len()))
    }

    /// Set properties of many vertices that exist and leave their others as they are; a missing value removes one.
    ///
    /// Parameters
    /// ----------
    /// keys, properties, kind
    ///     As of ``Database.set_vertex_properties``.
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
    ///     As of ``Database.remove_vertices``.
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

    /// Set properties of many edges that exist and leave their others as they are; a missing value removes one.
    ///
    /// Parameters
    /// ----------
    /// src, dst, properties, label, ranks
    ///     As of ``Database.update_edges``.
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
        label: Option<&str>,
        ranks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let rows = EdgeRows::read(self.handle(), src, dst, label, ranks, Some(properties))?;
        self.bulk(py, "rolled back: update_edges failed", |txn| rows.update(txn, 0..rows.len()))
    }

    /// Remove many edges of one label.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, ranks
    ///     As of ``Database.remove_edges``.
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
        label: Option<&str>,
        ranks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let rows = EdgeRows::read(self.handle(), src, dst, label, ranks, None)?;
        self.bulk(py, "rolled back: remove_edges failed", |txn| rows.remove(txn, 0..rows.len()))
    }
}
