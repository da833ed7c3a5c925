//! Tables as streams of Arrow batches, which are made when they are pulled.

use std::ops::Range;

use arrow_array::RecordBatchReader;
use hedgerow::{KindId, Timestamp, VertexId};
use hedgerow_arrow::{EdgeBatches, TableOptions, VertexBatches};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow;
use crate::ending::calling;
use crate::error::{DataError, raise, told};
use crate::frames::read_names;
use crate::key::{count, shown};
use crate::many::{Wanted, refused};
use crate::names::Kinds;
use crate::pool::parallel;
use crate::results::Reading;
use crate::schema::Label;
use crate::selection::{self, Chosen, Labels, RankRange, Where};
use crate::snapshot::Snapshot;

/// A table whose rows are read when another library pulls them: the result of ``Snapshot.edge_stream``,
/// ``Snapshot.expand`` and ``Snapshot.vertex_stream``.
///
/// It has no rows of its own. Any library that reads Arrow streams (``__arrow_c_stream__``) can read it, as
/// often as it wants while the snapshot is open. It shows the snapshot, and no later commits:
/// ``polars.DataFrame``, ``pyarrow.table``, a query of DuckDB.
#[pyclass(frozen, module = "hedgerow", name = "TableStream")]
pub(crate) struct TableStream {
    snapshot: Py<Snapshot>,
    rows: Rows,
    options: TableOptions,
    /// The label of the edges; `None` for vertices.
    label: Option<String>,
}

enum Rows {
    Edges(Chosen),
    Vertices(KindId),
    OfVertices(Wanted),
}

/// The argument `part`: a part of the graph, as `Snapshot.partitions` returns it.
struct Part(Range<VertexId>, Timestamp);

impl<'py> FromPyObject<'_, 'py> for Part {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Part> {
        let _calling = calling(object.py());
        let wrong = || {
            let found = shown(&object);
            PyTypeError::new_err(format!("part must be one of Snapshot.partitions, found {found}"))
        };
        let read = object.extract::<(u32, u32, u64)>();
        let (start, end, timestamp) = read.map_err(|error| told(object.py(), error, |_| wrong()))?;
        if start > end {
            Err(wrong())
        } else {
            Ok(Part(VertexId(start)..VertexId(end), Timestamp(timestamp)))
        }
    }
}

/// Returns the choice of columns and rows of a table.
fn options(
    reading: &Reading,
    columns: Option<&Bound<'_, PyAny>>,
    part: Option<Part>,
) -> PyResult<TableOptions> {
    let mut options = TableOptions::new();
    if let Some(columns) = columns {
        options = options.columns(read_names("columns", columns)?);
    }
    let Some(Part(ids, timestamp)) = part else { return Ok(options) };
    // Another snapshot may have vertices in no part, or in two.
    if timestamp != reading.snapshot.timestamp() {
        return Err(DataError::new_err("part is of another snapshot: take the parts of this one"));
    }
    Ok(options.within(ids))
}

impl TableStream {
    fn open(&self, py: Python<'_>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
        let reading = self.snapshot.get().reading()?;
        let (rows, options) = (&self.rows, &self.options);
        let opened = parallel(py, || -> Result<Box<dyn RecordBatchReader + Send>, hedgerow_arrow::Error> {
            Ok(match rows {
                Rows::Edges(chosen) => {
                    Box::new(EdgeBatches::new(&reading.snapshot, &chosen.selection(), options)?)
                }
                Rows::OfVertices(wanted) => {
                    let edges = wanted.expand(&reading.snapshot)?;
                    Box::new(EdgeBatches::expand(edges, options)?)
                }
                Rows::Vertices(kind) => Box::new(VertexBatches::new(&reading.snapshot, *kind, options)?),
            })
        });
        opened.map_err(|error| match (error, rows) {
            (hedgerow_arrow::Error::Store(error), Rows::OfVertices(wanted)) => {
                refused(&reading, "keys", (&wanted.keys, wanted.kind), error)
            }
            (hedgerow_arrow::Error::Store(error), _) => raise(error),
            (other, _) => DataError::new_err(other.to_string()),
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
        arrow::capsule(py, self.open(py)?, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.open(py)?.schema())
    }

    /// The label of the edges, also if the call did not name it.
    #[getter]
    fn _label(&self) -> Option<&str> {
        self.label.as_deref()
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
    /// Edges of one label as a lazy stream: the store is read when a library asks for the next Arrow batch.
    ///
    /// Unlike ``edge_table`` the call reads no rows, and batches have at most 65,536 rows. The columns are
    /// ``src`` and ``dst``; ``src_kind`` and ``dst_kind`` if the graph has kinds and the label does not state
    /// those of its ends; ``rank`` of a ``multi`` label; ``weight`` of the default label of a weighted graph;
    /// and the properties. A property with the name of such a column is named ``"NAME:TYPE"``. Rows are in
    /// the order in which the store numbered the vertices; an undirected edge is one row.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label; ``""`` is the default one. If not given, all edges must have one label, and it is used.
    /// columns : sequence of str, optional
    ///     The columns of the table, in this order; all if not given. A column that is not named costs
    ///     nothing.
    /// rank_range, where : optional
    ///     Only these edges, like in ``neighbors``. Other edges are read, but no row is made of them.
    /// part : tuple, optional
    ///     Only edges whose source is in this part of the graph, one of ``partitions``.
    ///
    /// Returns
    /// -------
    /// TableStream
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or no label is given, and edges have several labels.
    /// DataError
    ///     The table has no such column; or a condition does not fit its property.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1], [2, 3], label="knows", properties={"since": [2001, 2002]})
    /// 2
    /// >>> db.snapshot().edge_stream()
    /// TableStream(src: UInt64, dst: UInt64, since: Int64)
    #[pyo3(signature = (label=None, *, columns=None, rank_range=None, r#where=None, part=None))]
    fn edge_stream(
        slf: &Bound<'_, Self>,
        label: Option<Label<'_>>,
        columns: Option<&Bound<'_, PyAny>>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        part: Option<Part>,
    ) -> PyResult<TableStream> {
        let (reading, schema) = (slf.get().reading()?, slf.get().kind_schema()?);
        // Names the labels if there are several, and refuses an unknown one.
        let label = reading.label(slf.py(), label.as_deref())?;
        let name = schema.label_by_id(label).map_or("", |label| label.name());
        let labels = Some(Labels::of(name));
        let chosen = Chosen::new(&reading.origin, &schema, labels, rank_range, r#where)?;
        let (snapshot, options) = (slf.clone().unbind(), options(&reading, columns, part)?);
        let label = Some(name.to_owned());
        let table = TableStream { snapshot, rows: Rows::Edges(chosen), options, label };
        // A column or a condition that does not fit is refused now, and not when rows are pulled.
        table.open(slf.py())?;
        Ok(table)
    }

    /// Edges of given vertices as a lazy stream: the edges of one label with their properties, vertex by
    /// vertex in the order of ``keys``.
    ///
    /// The call looks the vertices up, and reads no edges. The columns are those of ``edge_stream``. In an
    /// undirected graph ``src`` is the given vertex, unless the label states the kinds of its ends, whose
    /// order the columns then have. An edge between two given vertices is a row for each of them whose edges
    /// in this direction have it.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids, as a column like in ``add_edges``. A repeated vertex is read again.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them, or both ways; in an undirected graph these are the same.
    /// label : str, optional
    ///     The label; ``""`` is the default one. If not given, all edges must have one label, and it is used.
    /// columns : sequence of str, optional
    ///     The columns of the table, in this order; all if not given.
    /// rank_range, where : optional
    ///     Only these edges, like in ``neighbors``.
    /// missing : {"raise", "empty"}
    ///     What to do with an id that names no vertex: raise an error, or take it as a vertex without edges.
    /// kind : str, optional
    ///     The kind of the vertices; if not given, the kind that the label states, or else the default kind.
    ///     An id that is a pair states its own kind.
    ///
    /// Returns
    /// -------
    /// TableStream
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex, and ``missing`` is ``"raise"``.
    /// ProgrammingError
    ///     There is no such label; or no label is given, and edges have several labels.
    /// DataError
    ///     The table has no such column; or a condition does not fit its property.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow, polars
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1, 2], [2, 3, 1], label="pays", properties={"amount": [5, 20, 7]})
    /// 3
    /// >>> polars.DataFrame(db.snapshot().expand([1], columns=["dst", "amount"])).rows()
    /// [(2, 5), (3, 20)]
    /// >>> polars.DataFrame(db.snapshot().expand([1], "both", where=("amount", ">", 5))).rows()
    /// [(1, 3, 20), (2, 1, 7)]
    #[pyo3(signature = (keys, direction="out", *, label=None, columns=None, rank_range=None, r#where=None, missing="raise", kind=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn expand(
        slf: &Bound<'_, Self>,
        keys: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Label<'_>>,
        columns: Option<&Bound<'_, PyAny>>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        missing: &str,
        kind: Option<&str>,
    ) -> PyResult<TableStream> {
        let (reading, schema) = (slf.get().reading()?, slf.get().kind_schema()?);
        let direction = selection::direction(direction)?;
        let label = reading.label(slf.py(), label.as_deref())?;
        let name = schema.label_by_id(label).map_or("", |label| label.name());
        let labels = Some(Labels::of(name));
        let chosen = Chosen::new(&reading.origin, &schema, labels, rank_range, r#where)?;
        let wanted = slf.get().wanted(keys, chosen.in_direction(direction), missing, kind)?;
        let rows = Rows::OfVertices(wanted);
        let (options, label) = (options(&reading, columns, None)?, Some(name.to_owned()));
        let table = TableStream { snapshot: slf.clone().unbind(), rows, options, label };
        // A missing vertex, and what edge_stream refuses, is refused now.
        table.open(slf.py())?;
        Ok(table)
    }

    /// Divide the vertices into parts with about equally many vertices and edges.
    ///
    /// Each part can become a stream, for another thread or another file. All parts are of this snapshot, and
    /// only its streams take them; together they have every row once.
    ///
    /// Parameters
    /// ----------
    /// parts : int
    ///     The maximal number of parts, at least 1. A part has at least 64 consecutive vertices of the store.
    ///
    /// Returns
    /// -------
    /// list of tuple
    ///     For the argument ``part`` of ``edge_stream`` and ``vertex_stream``.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     ``parts`` is less than 1.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow, polars
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges(range(1000), range(1, 1001))
    /// 1000
    /// >>> snapshot = db.snapshot()
    /// >>> parts = [polars.DataFrame(snapshot.edge_stream(part=part)) for part in snapshot.partitions(2)]
    /// >>> len(parts), sum(part.height for part in parts)
    /// (2, 1000)
    fn partitions(&self, py: Python<'_>, parts: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32, u64)>> {
        let parts = count("parts", parts, 1)? as usize;
        let reading = self.reading()?;
        let ranges = py.detach(|| reading.snapshot.partitions(parts)).map_err(raise)?;
        let timestamp = reading.snapshot.timestamp().0;
        Ok(ranges.into_iter().map(|range| (range.start.0, range.end.0, timestamp)).collect())
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
    /// columns : sequence of str, optional
    ///     The columns of the table, in this order; all if not given.
    /// part : tuple, optional
    ///     Only vertices in this part of the graph, one of ``partitions``.
    ///
    /// Returns
    /// -------
    /// TableStream
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such kind.
    /// DataError
    ///     The table has no such column.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_vertices([7, 8], properties={"name": ["Ann", None]})
    /// 2
    /// >>> db.snapshot().vertex_stream()
    /// TableStream(id: UInt64, name: LargeUtf8)
    #[pyo3(signature = (kind=None, *, columns=None, part=None))]
    fn vertex_stream(
        slf: &Bound<'_, Self>,
        kind: Option<&str>,
        columns: Option<&Bound<'_, PyAny>>,
        part: Option<Part>,
    ) -> PyResult<TableStream> {
        let kind = slf.get().kind_schema()?.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        let options = options(&*slf.get().reading()?, columns, part)?;
        let (snapshot, rows) = (slf.clone().unbind(), Rows::Vertices(kind));
        let table = TableStream { snapshot, rows, options, label: None };
        table.open(slf.py())?;
        Ok(table)
    }
}
