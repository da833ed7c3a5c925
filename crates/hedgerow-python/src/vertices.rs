//! Calls about many existing vertices or edges: `set_vertex_properties`, `remove_vertices`, `remove_edges`
//! and `update_edges`, of databases and of transactions.

use std::ops::{AddAssign, Range};

use hedgerow::WriteTxn;
use pyo3::prelude::*;

use crate::add_edges::BATCH;
use crate::database::Database;
use crate::heap::Keeping;
use crate::key::count;
use crate::rows::{Duplicates, EdgeRows, VertexRows};
use crate::schema::Label;
use crate::transaction::Transaction;

/// Returns the argument `batch`, or its default.
pub(crate) fn batch_rows(batch: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    Ok(batch.map_or(Ok(BATCH as u32), |object| count("batch", object, 1))? as usize)
}

#[pymethods]
impl Database {
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
        self.in_batches_of(py, (rows, batch_rows(batch)?), f)
    }

    /// Runs `f` like [`in_batches`](Self::in_batches), with batches of a known size.
    pub(crate) fn in_batches_of<T: Default + AddAssign + Copy + Send + Sync>(
        &self,
        py: Python<'_>,
        (rows, batch): (usize, usize),
        f: impl Fn(&mut WriteTxn, Range<usize>) -> hedgerow::Result<T> + Send + Sync,
    ) -> PyResult<T> {
        let mut done = T::default();
        let f = |txn: &mut WriteTxn, range, _: Option<&T>| f(txn, range);
        self.for_each_batch(py, (rows, batch), f, |made| done += *made)?;
        Ok(done)
    }
}

#[pymethods]
impl Transaction {
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
