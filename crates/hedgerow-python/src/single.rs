//! Single edges: calls of `Database` that are one transaction each.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::database::Database;
use crate::edge_arguments::{Edge, Weight, edge_cells};
use crate::schema::Label;

#[pymethods]
impl Database {
    /// Make sure that an edge and its endpoints exist, as a separate transaction. The call reads nothing, so
    /// it conflicts with no other transaction.
    ///
    /// Weight and properties of an existing edge are replaced. New labels and properties are defined; the
    /// first value of a property determines its type.
    ///
    /// Parameters
    /// ----------
    /// src, dst, weight, label, rank, properties, **named
    ///     Like in ``Transaction.put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge was new.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.put_edge(1, 2, label="knows", since=2001), db.put_edge(1, 2, label="knows", since=2002)
    /// (True, False)
    /// >>> db.snapshot().edge_properties(1, 2, label="knows")
    /// {'since': 2002}
    #[pyo3(signature = (src, dst, weight=None, *, label=None, rank=None, properties=None, **named))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn put_edge(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<Weight>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.map(|label| label.0), rank)?;
        let weight = weight.map(|weight| weight.0);
        let cells = edge_cells(&self.handle, &edge, weight, properties, named)?;
        self.detached(py, |graph| match weight {
            None if edge.is_plain() && cells.is_empty() => {
                graph.put_edge((edge.src.as_ref(), edge.dst.as_ref()))
            }
            Some(weight) if edge.is_plain() && cells.len() == 1 => {
                graph.put_edge((edge.src.as_ref(), edge.dst.as_ref(), weight))
            }
            _ => graph.put_edge_with(edge.key(), cells),
        })
    }

    /// Insert one edge, and its endpoints if absent, as a separate transaction.
    ///
    /// This is the fastest way to write single edges. An existing edge is not changed.
    ///
    /// Parameters
    /// ----------
    /// src, dst, weight, label, rank, properties, **named
    ///     Like in ``Transaction.put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge was new.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.insert_edge(1, 2), db.insert_edge(1, 2), db.insert_edge(1, 2, label="knows", since=2001)
    /// (True, False, True)
    #[pyo3(signature = (src, dst, weight=None, *, label=None, rank=None, properties=None, **named))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn insert_edge(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<Weight>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.map(|label| label.0), rank)?;
        let weight = weight.map(|weight| weight.0);
        let cells = edge_cells(&self.handle, &edge, weight, properties, named)?;
        self.detached(py, |graph| match weight {
            None if edge.is_plain() && cells.is_empty() => {
                graph.insert_edge((edge.src.as_ref(), edge.dst.as_ref()))
            }
            Some(weight) if edge.is_plain() && cells.len() == 1 => {
                graph.insert_edge((edge.src.as_ref(), edge.dst.as_ref(), weight))
            }
            _ => graph.insert_edge_with(edge.key(), cells),
        })
    }

    /// Remove one edge, as a separate transaction.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, rank
    ///     Like in ``Transaction.put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge existed.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn remove_edge(
        &self,
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.as_deref(), rank)?;
        self.detached(py, |graph| match edge.is_plain() {
            true => graph.remove_edge((edge.src.as_ref(), edge.dst.as_ref())),
            false => graph.remove_edge(edge.key()),
        })
    }
}
