//! Answers as objects of the package's Python half.

use std::sync::Arc;

use hedgerow::{
    EdgeSelection, KernelView, KeyColumn, KeyKind, Label, LabelId, LabelRef, Topology, VertexId, View,
};
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::ending::calling;
use crate::error::{DataError, out_of_memory, raise};
use crate::handle::Origin;
use crate::ids::{self, Ids};
use crate::imports;
use crate::names::Kinds;
use crate::pool::{attended, parallel};
use crate::result_rows::{Rows, SomeVertices, Vertices};

/// The bytes per id of the table of rows.
pub(crate) const BYTES_PER_ROW: usize = 8;

/// Makes an object of the package's class `name` with these keyword arguments.
pub(crate) fn make(py: Python<'_>, name: &str, arguments: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    let _calling = calling(py);
    Ok(imports::RESULTS.get(py)?.call_method(name, (), Some(arguments))?.unbind())
}

/// An open snapshot, and the state that its results share.
pub(crate) struct Reading {
    pub(crate) snapshot: hedgerow::Snapshot,
    pub(crate) origin: Origin,
    vertices: PyOnceLock<Arc<Vertices>>,
    /// The vertices of graphs without all vertices.
    some: SomeVertices,
}

/// True if `bytes` bytes of memory are free.
pub(crate) fn is_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

impl Kinds for Reading {
    fn kind_schema(&self) -> PyResult<Arc<hedgerow::Schema>> {
        Ok(Arc::new(self.snapshot.schema()))
    }
}

impl Reading {
    pub(crate) fn new(snapshot: hedgerow::Snapshot, origin: Origin) -> Reading {
        Reading { snapshot, origin, vertices: PyOnceLock::new(), some: SomeVertices::default() }
    }

    /// Returns the label that a kernel reads: the named one, or else the label of all edges.
    pub(crate) fn label(&self, py: Python<'_>, label: Option<&str>) -> PyResult<LabelId> {
        match label {
            Some(name) => self.snapshot.schema().find_label(name).map(Label::id).map_err(raise),
            None => py.detach(|| EdgeSelection::all().only_label(&self.snapshot)).map_err(raise),
        }
    }

    /// Builds the view of one label. Refuses if there is not enough memory for `bytes_per_id` bytes for every
    /// id in it. Kernels do not check for free memory, and without enough the process would end.
    pub(crate) fn view(&self, py: Python<'_>, label: LabelId, bytes_per_id: usize) -> PyResult<Arc<View>> {
        let snapshot = self.snapshot.clone();
        let make = move || snapshot.view(LabelRef::Id(label));
        let view = attended(py, &self.origin, || (), make)?.map_err(raise)?;
        let ids = view.vertex_bound();
        self.reserve(ids, ids.saturating_mul(bytes_per_id))?;
        Ok(view)
    }

    /// Refuses a computation for `ids` vertex ids if `bytes` bytes of memory are not available.
    pub(crate) fn reserve(&self, ids: usize, bytes: usize) -> PyResult<()> {
        if is_room(bytes) { Ok(()) } else { Err(out_of_memory("vertex ids", ids)) }
    }

    /// Refuses if there is not enough memory for `bytes_per_id` bytes for every vertex id. Before that, it
    /// makes the view with checks for signals, if the memory limit permits: reads of all vertices use the
    /// view.
    pub(crate) fn vertex_view(&self, py: Python<'_>, bytes_per_id: usize) -> PyResult<KernelView> {
        let snapshot = self.snapshot.clone();
        let make = move || KernelView::new(&snapshot, LabelId::DEFAULT);
        let view = attended(py, &self.origin, || (), make)?.map_err(raise)?;
        let ids = view.vertex_bound();
        self.reserve(ids, ids.saturating_mul(bytes_per_id))?;
        Ok(view)
    }

    pub(crate) fn vertices(&self, py: Python<'_>) -> PyResult<&Arc<Vertices>> {
        if let Some(vertices) = self.vertices.get(py) {
            return Ok(vertices);
        }
        self.vertex_view(py, BYTES_PER_ROW)?;
        self.vertices.get_or_try_init(py, || {
            let (live, keys) = parallel(py, || self.snapshot.scan_vertices()?.keys()).map_err(raise)?;
            Ok(Arc::new(self.named(py, live, keys)?))
        })
    }

    /// Returns the rows of a result about the vertices `some`, ascending, or about all vertices.
    pub(crate) fn rows(&self, py: Python<'_>, some: Option<Vec<VertexId>>) -> PyResult<Arc<Vertices>> {
        let Some(live) = some else { return self.vertices(py).cloned() };
        if let Some(same) = self.some.find(&live) {
            return Ok(same);
        }
        let keys = parallel(py, || self.snapshot.vertex_keys(&live)).map_err(raise)?;
        let vertices = Arc::new(self.named(py, live, keys)?);
        self.some.keep(vertices.clone());
        Ok(vertices)
    }

    fn named(&self, py: Python<'_>, live: Vec<VertexId>, keys: KeyColumn) -> PyResult<Vertices> {
        let _calling = calling(py);
        let ids = ids::new(py, self, keys)?;
        let rows = Rows::of(&live);
        Ok(Vertices { live, ids: ids.unbind(), rows })
    }

    /// Returns a `VertexResult` from one value per vertex id.
    pub(crate) fn per_vertex<T, V>(
        &self,
        py: Python<'_>,
        vertices: &Vertices,
        values: &[T],
        f: impl Fn(&T) -> V + Send,
    ) -> PyResult<Py<PyAny>>
    where
        T: Sync,
        V: Element + Send,
    {
        let live = &vertices.live;
        let found: Vec<V> = py.detach(|| match values.get(..live.len()) {
            Some(values) if vertices.rows.are_ids() => values.iter().map(f).collect(),
            _ => live.iter().filter_map(|v| values.get(v.index())).map(f).collect(),
        });
        self.result(py, vertices, found.into_pyarray(py).into_any())
    }

    /// Returns a `VertexResult` from one vertex per vertex id. Its values are the external ids of these
    /// vertices.
    pub(crate) fn vertex_per_vertex(
        &self,
        py: Python<'_>,
        vertices: &Vertices,
        values: &[u32],
    ) -> PyResult<Py<PyAny>> {
        let row = |v: &VertexId| vertices.rows.of_vertex(values[v.index()] as usize);
        let ids = vertices.ids.bind(py);
        let named = if let Ok(ids) = ids.cast::<Ids>() {
            let ids = ids.get().take(py.detach(|| vertices.live.iter().map(row).collect()));
            Bound::new(py, ids)?.into_any()
        } else {
            let ids = ids.cast::<PyArray1<u64>>().map_err(PyErr::from)?.try_readonly()?;
            let ids = ids.as_slice()?;
            let named = |v: &VertexId| ids[row(v) as usize];
            let named: Vec<u64> = py.detach(|| vertices.live.iter().map(named).collect());
            named.into_pyarray(py).into_any()
        };
        self.result(py, vertices, named)
    }

    /// Returns a property of all vertices as a `VertexResult`. Vertices of kinds without it have no value.
    pub(crate) fn vertex_property(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let (_, columns) = self.vertex_columns(py, None, Some(vec![name.to_owned()]))?;
        let vertices = self.vertices(py)?;
        let Some(column) = columns.into_iter().next() else {
            return Err(DataError::new_err(format!("vertices have no property {name}")));
        };
        let arguments = PyDict::new(py);
        arguments.set_item("ids", &vertices.ids)?;
        arguments.set_item("type", column.kind().to_string())?;
        arguments.set_item("values", column.finish(py)?)?;
        make(py, "VertexResult", &arguments)
    }

    /// Returns the external ids of rows as a NumPy array.
    pub(crate) fn names<'py>(
        &self,
        py: Python<'py>,
        vertices: &Vertices,
        rows: Vec<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ids = self.id_array(py, vertices)?;
        let _calling = calling(py);
        ids.call_method1("take", (rows.into_pyarray(py),))
    }

    /// Returns the external ids of vertices as a read-only NumPy array.
    pub(crate) fn id_array<'py>(&self, py: Python<'py>, vertices: &Vertices) -> PyResult<Bound<'py, PyAny>> {
        ids::array_of(vertices.ids.bind(py))
    }

    fn result(&self, py: Python<'_>, vertices: &Vertices, values: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let arguments = PyDict::new(py);
        arguments.set_item("ids", &vertices.ids)?;
        arguments.set_item("values", values)?;
        make(py, "VertexResult", &arguments)
    }

    /// Returns the external ids of all vertices.
    pub(crate) fn ids(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.id_array(py, self.vertices(py)?)?.unbind())
    }
}

/// Returns the type of ids as `Schema` names it.
pub(crate) fn key_type(keys: KeyKind) -> &'static str {
    if keys == KeyKind::Str { "str" } else { "u64" }
}
