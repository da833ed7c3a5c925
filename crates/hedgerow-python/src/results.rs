//! Answers as objects of the Python half of the package.

use hedgerow::{KeyKind, Topology, VertexId, VertexKey, View};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::error::out_of_memory;
use crate::pool::parallel;

/// The Python module that defines the classes of results.
const MODULE: &str = "hedgerow._result";

/// Bytes that finding the row of a vertex id takes.
pub(crate) const BYTES_PER_ROW: usize = 8;

/// Makes an object of the class `name` with these keyword arguments.
pub(crate) fn make(py: Python<'_>, name: &str, arguments: &Bound<'_, PyDict>) -> PyResult<Py<PyAny>> {
    Ok(py.import(MODULE)?.getattr(name)?.call((), Some(arguments))?.unbind())
}

/// An open snapshot and what its results share.
pub(crate) struct Reading {
    pub(crate) snapshot: hedgerow::Snapshot,
    kind: KeyKind,
    vertices: PyOnceLock<Vertices>,
}

/// The live vertices: row `i` of every result is about `live[i]`, whose external id is `keys[i]`.
struct Vertices {
    live: Vec<VertexId>,
    /// A read-only NumPy array.
    keys: Py<PyAny>,
}

impl Reading {
    pub(crate) fn new(snapshot: hedgerow::Snapshot, kind: KeyKind) -> Reading {
        Reading { snapshot, kind, vertices: PyOnceLock::new() }
    }

    /// Builds the view of the whole graph, and refuses if there is not enough memory for `bytes_per_id` bytes for every
    /// id of its domain. Kernels take the memory they need for granted: without it the process would end.
    pub(crate) fn prepare(&self, py: Python<'_>, bytes_per_id: usize) -> PyResult<&View> {
        let view = parallel(py, || self.snapshot.view())?;
        let ids = view.vertex_bound();
        Vec::<u8>::new()
            .try_reserve_exact(ids.saturating_mul(bytes_per_id))
            .map_err(|_| out_of_memory("vertex ids", ids))?;
        Ok(view)
    }

    fn vertices(&self, py: Python<'_>) -> PyResult<&Vertices> {
        self.prepare(py, 0)?;
        self.vertices.get_or_try_init(py, || {
            let (live, keys): (Vec<VertexId>, Vec<VertexKey>) =
                py.detach(|| self.snapshot.vertices().unzip());
            let keys = keys_array(py, self.kind, &keys)?;
            keys.getattr("flags")?.setattr("writeable", false)?;
            Ok(Vertices { live, keys: keys.unbind() })
        })
    }

    /// A `VertexResult` from one value per vertex id.
    pub(crate) fn per_vertex<T, V>(
        &self,
        py: Python<'_>,
        values: &[T],
        f: impl Fn(&T) -> V + Send,
    ) -> PyResult<Py<PyAny>>
    where
        T: Sync,
        V: Element + Send,
    {
        let vertices = self.vertices(py)?;
        let live = &vertices.live;
        let rows: Vec<V> = py.detach(|| live.iter().filter_map(|v| values.get(v.index())).map(f).collect());
        self.result(py, vertices, rows.into_pyarray(py).into_any())
    }

    /// A `VertexResult` from one vertex per vertex id; the values are their external ids.
    pub(crate) fn vertex_per_vertex(&self, py: Python<'_>, values: &[u32]) -> PyResult<Py<PyAny>> {
        let vertices = self.vertices(py)?;
        let rows: Vec<i64> = py.detach(|| {
            let row_of = self.rows(&vertices.live);
            vertices.live.iter().map(|v| row_of[values[v.index()] as usize]).collect()
        });
        let named = self.names(py, vertices, rows)?;
        self.result(py, vertices, named)
    }

    /// All edges as `Edges`.
    pub(crate) fn edges(&self, py: Python<'_>, weighted: bool) -> PyResult<Py<PyAny>> {
        self.prepare(py, BYTES_PER_ROW)?;
        let vertices = self.vertices(py)?;
        let edges = self.snapshot.edge_count() as usize;
        // Rows, weights and ids of both ends.
        Vec::<u8>::new()
            .try_reserve_exact(edges.saturating_mul(40))
            .map_err(|_| out_of_memory("edges", edges))?;
        let (src, dst, weights) = py.detach(|| {
            let row_of = self.rows(&vertices.live);
            let (mut src, mut dst) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
            let mut weights = Vec::with_capacity(if weighted { edges } else { 0 });
            self.snapshot.for_each_edge(|v, u, weight| {
                src.push(row_of[v.index()]);
                dst.push(row_of[u.index()]);
                if weighted {
                    weights.push(weight);
                }
            });
            (src, dst, weights)
        });
        let arguments = PyDict::new(py);
        arguments.set_item("src", self.names(py, vertices, src)?)?;
        arguments.set_item("dst", self.names(py, vertices, dst)?)?;
        arguments.set_item("weights", weighted.then(|| weights.into_pyarray(py)))?;
        make(py, "Edges", &arguments)
    }

    /// The row of every vertex id; of ids without a vertex, anything.
    fn rows(&self, live: &[VertexId]) -> Vec<i64> {
        let mut row_of = vec![0; self.snapshot.view().vertex_bound()];
        for (row, v) in live.iter().enumerate() {
            row_of[v.index()] = row as i64;
        }
        row_of
    }

    /// The external ids of rows.
    fn names<'py>(
        &self,
        py: Python<'py>,
        vertices: &Vertices,
        rows: Vec<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        vertices.keys.bind(py).call_method1("take", (rows.into_pyarray(py),))
    }

    fn result(&self, py: Python<'_>, vertices: &Vertices, values: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let arguments = PyDict::new(py);
        arguments.set_item("ids", &vertices.keys)?;
        arguments.set_item("values", values)?;
        make(py, "VertexResult", &arguments)
    }

    /// The external ids of all vertices.
    pub(crate) fn ids(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.vertices(py)?.keys.clone_ref(py))
    }
}

/// Vertex ids as a NumPy array: of `uint64`, or of Python strings.
fn keys_array<'py>(py: Python<'py>, kind: KeyKind, keys: &[VertexKey]) -> PyResult<Bound<'py, PyAny>> {
    if kind != KeyKind::Str {
        let number = |key: &VertexKey| if let VertexKey::U64(number) = key { Some(*number) } else { None };
        return Ok(keys.iter().filter_map(number).collect::<Vec<u64>>().into_pyarray(py).into_any());
    }
    let text =
        |key: &VertexKey| if let VertexKey::Str(text) = key { Some(PyString::new(py, text)) } else { None };
    let list = PyList::new(py, keys.iter().filter_map(text).collect::<Vec<_>>())?;
    py.import("numpy")?.call_method1("array", (list, "O"))
}
