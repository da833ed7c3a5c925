//! Tables as streams of Arrow batches, which are made when they are pulled.

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use hedgerow::{KindId, LabelId};
use hedgerow_arrow::{EdgeBatches, VertexBatches};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::{SCHEMA, STREAM};
use crate::error::{DataError, raise};
use crate::names::Kinds;
use crate::schema::Label;
use crate::snapshot::Snapshot;

/// A table whose rows are read when another library pulls them: the result of ``Snapshot.edge_stream`` and
/// ``Snapshot.vertex_stream``.
///
/// It has no rows of its own. Any library that reads Arrow streams (``__arrow_c_stream__``) can read it, as
/// often as it wants while the snapshot is open. It shows the snapshot, and no later commits:
/// ``polars.DataFrame``, ``pyarrow.table``, a query of DuckDB.
#[pyclass(frozen, module = "hedgerow", name = "TableStream")]
pub(crate) struct TableStream {
    snapshot: Py<Snapshot>,
    rows: Rows,
}

#[derive(Clone, Copy)]
enum Rows {
    Edges(LabelId),
    Vertices(KindId),
}

impl TableStream {
    fn open(&self, py: Python<'_>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
        let reading = self.snapshot.get().reading()?;
        let rows = self.rows;
        let opened = py.detach(|| -> Result<Box<dyn RecordBatchReader + Send>, hedgerow_arrow::Error> {
            Ok(match rows {
                Rows::Edges(label) => Box::new(EdgeBatches::new(&reading.snapshot, label, true)?),
                Rows::Vertices(kind) => Box::new(VertexBatches::new(&reading.snapshot, kind, true)?),
            })
        });
        opened.map_err(|error| match error {
            hedgerow_arrow::Error::Store(error) => raise(error),
            other => DataError::new_err(other.to_string()),
        })
    }
}

#[pymethods]
impl TableStream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore the request; the consumer then casts.
        let _ = requested_schema;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(self.open(py)?), STREAM)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.open(py)?.schema());
        let schema = schema.map_err(|error| DataError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Ok(table) = self.open(py) else { return "TableStream(closed)".to_owned() };
        let schema = table.schema();
        let columns = schema.fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type()));
        format!("TableStream({})", columns.collect::<Vec<_>>().join(", "))
    }
}

#[pymethods]
impl Snapshot {
    /// All edges of one label as a stream of Arrow batches, made when they are pulled.
    ///
    /// Unlike ``edge_table`` the call reads nothing, and batches have at most 65,536 rows. The columns are
    /// ``src`` and ``dst``; ``src_kind`` and ``dst_kind`` if the graph has kinds and the label does not state
    /// those of its ends; ``rank`` of a ``multi`` label; ``weight`` of the default label of a weighted graph;
    /// and the properties. A property with the name of such a column is named ``"NAME:TYPE"``. Rows are in
    /// the order in which the store numbered the vertices; an undirected edge is one row.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label; ``""`` is the default one. If not given, all edges must have one label, and it is used.
    ///
    /// Returns
    /// -------
    /// TableStream
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or no label is given, and edges have several labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1], [2, 3], label="knows", properties={"since": [2001, 2002]})
    /// 2
    /// >>> db.snapshot().edge_stream()
    /// TableStream(src: UInt64, dst: UInt64, since: Int64)
    #[pyo3(signature = (label=None))]
    fn edge_stream(slf: &Bound<'_, Self>, label: Option<Label<'_>>) -> PyResult<TableStream> {
        let label = slf.get().reading()?.label(slf.py(), label.as_deref())?;
        Ok(TableStream { snapshot: slf.clone().unbind(), rows: Rows::Edges(label) })
    }

    /// All vertices of one kind as a stream of Arrow batches, made when they are pulled.
    ///
    /// Unlike ``vertex_table`` the call reads no rows. The columns are ``id`` and the
    /// properties of the kind; a property named ``id`` has the column ``"id:TYPE"``.
    ///
    /// Parameters
    /// ----------
    /// kind : str, optional
    ///     The kind; the default one if not given.
    ///
    /// Returns
    /// -------
    /// TableStream
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such kind.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_vertices([7, 8], properties={"name": ["Ann", None]})
    /// 2
    /// >>> db.snapshot().vertex_stream()
    /// TableStream(id: UInt64, name: LargeUtf8)
    #[pyo3(signature = (kind=None))]
    fn vertex_stream(slf: &Bound<'_, Self>, kind: Option<&str>) -> PyResult<TableStream> {
        let kind = slf.get().kind_schema()?.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        Ok(TableStream { snapshot: slf.clone().unbind(), rows: Rows::Vertices(kind) })
    }
}
