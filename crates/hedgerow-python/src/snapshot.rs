//! `Snapshot`: the graph as of one timestamp.

use std::sync::{Arc, Mutex};

use hedgerow::LabelId;
use hedgerow_kernels::PageRankConfig;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ending::released;
use crate::error::{ClosedError, raise};
use crate::handle::{Handle, Origin, lock, own};
use crate::kernels;
use crate::key::{Key, Kinds, Namer, count, direction, read_names};
use crate::neighbors::{Neighbor, Parts};
use crate::results::Reading;
use crate::schema;
use crate::value::{AnyEdge, Edge, to_dict};

/// The graph as of one timestamp: exactly the commits up to it. Made by ``Database.snapshot``.
///
/// It waits for no writer and no writer waits for it. What it sees stays in memory for as long as it is open: use it as
/// a context manager, or close it. It stays readable when the store is closed. All methods may be called from any thread.
/// Ctrl-C ends a kernel (``bfs``, ``pagerank``, ``sssp``, ``triangle_count``, ``wcc``, ``run``) within 100 milliseconds.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> db.add_edges([1, 1, 2], [2, 3, 3])
/// 3
/// >>> with db.snapshot() as g:
/// ...     g.vertex_count, g.edge_count, g.neighbors(3, "in")
/// (3, 3, [1, 2])
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Snapshot {
    /// Not the store: a snapshot that was closed keeps nothing of it.
    pub(crate) handle: Origin,
    reading: Mutex<Option<Arc<Reading>>>,
}

impl Snapshot {
    pub(crate) fn new(handle: &Arc<Handle>, snapshot: hedgerow::Snapshot) -> Snapshot {
        let reading = Reading::new(snapshot, handle.origin);
        Snapshot { handle: handle.origin, reading: Mutex::new(Some(Arc::new(reading))) }
    }

    pub(crate) fn reading(&self) -> PyResult<Arc<Reading>> {
        self.handle.check_process()?;
        let reading = lock(&self.reading).clone();
        reading.ok_or_else(|| ClosedError::new_err("the snapshot is closed"))
    }

    fn key(&self, object: &Bound<'_, PyAny>) -> PyResult<Key> {
        self.handle.check_process()?;
        Key::read(self.handle.config.keys, self, object)
    }
}

impl Kinds for Snapshot {
    fn kind_schema(&self) -> PyResult<Arc<hedgerow::Schema>> {
        self.reading()?.kind_schema()
    }
}

/// The edges at a vertex, of one label or of all.
fn neighbors(
    snapshot: &hedgerow::Snapshot,
    label: Option<&str>,
    key: &Key,
    direction: hedgerow::Direction,
    properties: bool,
) -> hedgerow::Result<Option<Vec<Neighbor>>> {
    let key = key.as_ref();
    let list = |found: Vec<_>| found.into_iter().map(Neighbor::from).collect();
    let rich_list = |found: Vec<_>| found.into_iter().map(Neighbor::from).collect();
    // Of one label the caller knows the name: any id will do.
    let of_one = |(key, rank)| Neighbor::from((key, LabelId::DEFAULT, rank));
    Ok(match (label, properties) {
        (None, false) => snapshot.neighbors_of_all(key, direction)?.map(list),
        (None, true) => snapshot.edges_of_all(key, direction)?.map(rich_list),
        (Some(label), false) => {
            let found = snapshot.neighbors_of(label, key, direction)?;
            found.map(|found| found.into_iter().map(of_one).collect())
        }
        (Some(label), true) => {
            let found = snapshot.edges_of(label, key, direction)?;
            found.map(|found| found.into_iter().map(|edge| (LabelId::DEFAULT, edge).into()).collect())
        }
    })
}

impl Drop for Snapshot {
    /// In a forked child nothing of the parent's is touched.
    fn drop(&mut self) {
        if self.handle.is_forked() {
            std::mem::forget(own(&mut self.reading).take());
        } else if let Some(reading) = own(&mut self.reading).take() {
            released(|| drop(reading));
        }
    }
}

#[pymethods]
impl Snapshot {
    /// The timestamp of the last commit that is seen.
    #[getter]
    fn timestamp(&self) -> PyResult<u64> {
        Ok(self.reading()?.snapshot.timestamp().0)
    }

    /// The number of vertices.
    #[getter]
    fn vertex_count(&self) -> PyResult<u64> {
        Ok(self.reading()?.snapshot.vertex_count())
    }

    /// The number of edges of all labels; an undirected edge counts once.
    #[getter]
    fn edge_count(&self) -> PyResult<u64> {
        self.reading()?.snapshot.edge_count().map_err(raise)
    }

    /// Whether a vertex exists.
    fn has_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.reading()?.snapshot.contains_vertex(key.as_ref()).map_err(raise)
    }

    /// The number of edges of a label; an undirected edge counts once.
    fn edge_count_of(&self, py: Python<'_>, label: &str) -> PyResult<u64> {
        let reading = self.reading()?;
        py.detach(|| reading.snapshot.edge_count_of(label)).map_err(raise)
    }

    /// The names of the labels as of this snapshot, the default one, ``""``, first.
    fn labels(&self) -> PyResult<Vec<String>> {
        Ok(schema::names(&self.reading()?.snapshot.schema()))
    }

    /// The labels and properties as of this snapshot, and their types.
    ///
    /// Returns
    /// -------
    /// Schema
    fn schema(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        schema::to_object(py, &self.reading()?.snapshot.schema())
    }

    /// Whether there is an edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids.
    /// label : str, optional
    ///     The label of the edge; any label if not given. ``""`` is the default one.
    /// rank : int, optional
    ///     Its rank; any rank if not given.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn has_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&str>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let edges = AnyEdge::read(&self.handle, self, src, dst, label, rank)?;
        self.reading()?.snapshot.contains_any_edge(edges.pattern()).map_err(raise)
    }

    /// The properties of an edge that have a value, or ``None`` if there is no such edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids.
    /// label : str, optional
    ///     The label of the edge; the default one, ``""``, if not given.
    /// rank : int, optional
    ///     Its rank in a ``multi`` label; 0 if not given.
    ///
    /// Returns
    /// -------
    /// dict or None
    ///     Timestamps are ``datetime`` objects in UTC. In a weighted graph the weight is among them.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn edge_properties<'py>(
        &self,
        py: Python<'py>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&str>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let edge = Edge::read(&self.handle, self, src, dst, label, rank)?;
        let found = self.reading()?.snapshot.edge_properties(edge.key()).map_err(raise)?;
        found.map(|found| to_dict(py, &found)).transpose()
    }

    /// The properties of a vertex that have a value, or ``None`` if there is no such vertex.
    fn vertex_properties<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let key = self.key(key)?;
        let found = self.reading()?.snapshot.vertex_properties(key.as_ref()).map_err(raise)?;
        found.map(|found| to_dict(py, &found)).transpose()
    }

    /// The weight of an edge of the default label, or ``None`` if there is no such edge; 1 in a graph without weights.
    fn weight(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.reading()?.snapshot.weight(src.as_ref(), dst.as_ref()).map_err(raise)
    }

    /// The neighbors of a vertex, sorted: one entry for each edge, so that a neighbor that several edges lead to, of several
    /// labels or ranks, comes several times.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    /// label : str, optional
    ///     The label of the edges; all labels if not given. ``""`` is the default one.
    /// ranks, properties, labels : bool
    ///     Give tuples of the neighbor and, of these, what is asked for: label, rank, dictionary of properties. Edges to one
    ///     neighbor come in the order in which their labels were defined, then by rank.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.put_edge(1, 2, label="knows", since=2001)
    /// >>> db.snapshot().neighbors(1, label="knows", properties=True)
    /// [(2, {'since': 2001})]
    #[pyo3(signature = (key, direction="out", *, label=None, ranks=false, properties=false, labels=false), text_signature = "($self, key, direction='out', *, label=None, ranks=False, properties=False, labels=False)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn neighbors(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<&str>,
        ranks: bool,
        properties: bool,
        labels: bool,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        let reading = self.reading()?;
        let (snapshot, parts) = (&reading.snapshot, Parts { labels, ranks, properties });
        if label.is_none() && parts.none() && !snapshot.has_labels() {
            let found = py.detach(|| snapshot.neighbors(key.as_ref(), direction)).map_err(raise)?;
            return Namer::new(self).list(py, &found.ok_or_else(|| key.no_such_vertex())?);
        }
        let found = py.detach(|| neighbors(snapshot, label, &key, direction, properties)).map_err(raise)?;
        let schema = if labels && label.is_none() { Some(snapshot.schema()) } else { None };
        parts.list(py, self, &found.ok_or_else(|| key.no_such_vertex())?, |id| {
            schema::name(schema.as_ref(), label, id)
        })
    }

    /// The number of edges at a vertex: the length of ``neighbors``. A self-loop counts once.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    /// label : str, optional
    ///     The label of the edges; all labels if not given. ``""`` is the default one.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (key, direction="out", *, label=None))]
    fn degree(&self, key: &Bound<'_, PyAny>, direction: &str, label: Option<&str>) -> PyResult<usize> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        let reading = self.reading()?;
        let found = match label {
            None if reading.snapshot.has_labels() => reading.snapshot.degree_of_all(key.as_ref(), direction),
            None => reading.snapshot.degree(key.as_ref(), direction),
            Some(label) => reading.snapshot.degree_of(label, key.as_ref(), direction),
        };
        found.map_err(raise)?.ok_or_else(|| key.no_such_vertex())
    }

    /// All vertex ids, in the order of every result of this snapshot.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Read-only, of ``uint64``, or of str objects for a graph with str ids.
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.reading()?.ids(py)
    }

    /// All edges of all labels, or of one; of an undirected graph each edge once.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label of the edges; all labels if not given. ``""`` is the default one.
    ///
    /// Returns
    /// -------
    /// Edges
    ///     Arrays ``src``, ``dst`` and ``weights``, the last ``None`` in a graph without weights; and, where labels are
    ///     defined, ``labels`` and ``ranks``. Label after label, in the order of their definition.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([7, 7], [8, 9])
    /// 2
    /// >>> src, dst, weights = db.snapshot().edges()
    /// >>> sorted(zip(src.tolist(), dst.tolist()))
    /// [(7, 8), (7, 9)]
    #[pyo3(signature = (*, label=None))]
    fn edges(&self, py: Python<'_>, label: Option<&str>) -> PyResult<Py<PyAny>> {
        self.reading()?.edges(py, self.handle.config.weighted, label)
    }

    /// All edges of a label with ranks and properties; of an undirected graph each edge once.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label; ``""`` is the default one. If not given, the label of all edges.
    /// properties : sequence of str, optional
    ///     Which properties; all if not given. In a weighted graph ``"weight"`` is one of the default label.
    ///
    /// Returns
    /// -------
    /// EdgeTable
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    /// DataError
    ///     The label has no such property.
    #[pyo3(signature = (label=None, *, properties=None))]
    fn edge_table(
        &self,
        py: Python<'_>,
        label: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let properties = properties.map(|names| read_names("properties", names)).transpose()?;
        self.reading()?.edge_table(py, label, properties)
    }

    /// A property of all vertices.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Values are a masked array, or of text and bytes an array of objects with None.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     Vertices have no such property.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.add_vertex(1, name="Ann")
    /// ...     tx.put_edge(1, 2)
    /// >>> db.snapshot().vertex_property("name").to_dict()
    /// {1: 'Ann', 2: None}
    fn vertex_property(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.reading()?.vertex_property(py, name)
    }

    /// Breadth-first search: the least number of edges from a source to every vertex.
    ///
    /// Parameters
    /// ----------
    /// source : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Values are ``int64``; -1 for vertices that no path reaches.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 2, 5], [2, 3, 1])
    /// 3
    /// >>> db.snapshot().bfs(1).to_dict()
    /// {1: 0, 2: 1, 3: 2, 5: -1}
    #[pyo3(signature = (source, *, direction="out", label=None))]
    fn bfs(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (source, direction) = (self.key(source)?, self::direction(direction)?);
        let reading = self.reading()?;
        let mut arguments = kernels::arguments("bfs")?;
        kernels::set(&mut arguments, "source", kernels::vertex(&reading, &source)?)?;
        kernels::set(&mut arguments, "direction", direction)?;
        kernels::run(py, &self.handle, &reading, arguments, label, None)
    }

    /// PageRank: how often a random surfer visits each vertex.
    ///
    /// Parameters
    /// ----------
    /// damping : float
    ///     The probability of following an edge rather than jumping anywhere, 0 to 1.
    /// iterations : int
    ///     The number of iterations, at most this many if there is a tolerance.
    /// tolerance : float, optional
    ///     Stop after an iteration that changed the scores by less than this in total.
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Values are ``float64`` and sum to 1. What vertices without out-edges hold is spread evenly.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 2, 3], [2, 1, 1])
    /// 3
    /// >>> [key for key, score in db.snapshot().pagerank().top(2)]
    /// [1, 2]
    #[pyo3(signature = (*, damping=PageRankConfig::DEFAULT.damping, iterations=None, tolerance=None, label=None), text_signature = "($self, *, damping=0.85, iterations=20, tolerance=None, label=None)")]
    fn pagerank(
        &self,
        py: Python<'_>,
        damping: f64,
        iterations: Option<&Bound<'_, PyAny>>,
        tolerance: Option<f64>,
        label: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let mut arguments = kernels::arguments("pagerank")?;
        kernels::set(&mut arguments, "damping", damping)?;
        if let Some(iterations) = iterations {
            kernels::set(&mut arguments, "iterations", count("iterations", iterations, 0)?)?;
        }
        if let Some(tolerance) = tolerance {
            kernels::set(&mut arguments, "tolerance", tolerance)?;
        }
        kernels::run(py, &self.handle, &*self.reading()?, arguments, label, None)
    }

    /// Shortest paths: the least sum of weights along a path from a source to every vertex.
    ///
    /// In a graph without weights every edge weighs 1; ``bfs`` gives the same answer sooner.
    ///
    /// Parameters
    /// ----------
    /// source : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; the same in an undirected graph.
    /// delta : float, optional
    ///     The width of a bucket of distances, above 0; by default chosen by a sample of the weights. It changes the
    ///     time, never the result.
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    /// weight : str, optional
    ///     The property that is the length of an edge; if not given the graph's weights, and with a label 1.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Values are ``float64``; infinite for vertices that no path reaches.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    /// DataError
    ///     A path reaches an edge with a negative weight; the property holds no numbers, or an edge has no value of it.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open(weighted=True)
    /// >>> db.add_edges([1, 2, 1, 5], [2, 3, 3, 1], [1.0, 0.5, 4.0, 1.0])
    /// 4
    /// >>> db.snapshot().sssp(1).to_dict()
    /// {1: 0.0, 2: 1.0, 3: 1.5, 5: inf}
    #[pyo3(signature = (source, *, direction="out", delta=None, label=None, weight=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn sssp(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        direction: &str,
        delta: Option<f64>,
        label: Option<&str>,
        weight: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (source, direction) = (self.key(source)?, self::direction(direction)?);
        let reading = self.reading()?;
        let mut arguments = kernels::arguments("sssp")?;
        kernels::set(&mut arguments, "source", kernels::vertex(&reading, &source)?)?;
        kernels::set(&mut arguments, "direction", direction)?;
        if let Some(delta) = delta {
            kernels::set(&mut arguments, "delta", delta)?;
        }
        kernels::run(py, &self.handle, &reading, arguments, label, weight)
    }

    /// The number of triangles: sets of three vertices, each joined to the two others, directions ignored.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 2, 3, 3], [2, 3, 1, 4])
    /// 4
    /// >>> db.snapshot().triangle_count()
    /// 1
    #[pyo3(signature = (*, label=None))]
    fn triangle_count(&self, py: Python<'_>, label: Option<&str>) -> PyResult<Py<PyAny>> {
        let reading = self.reading()?;
        kernels::run(py, &self.handle, &reading, kernels::arguments("tc")?, label, None)
    }

    /// Weakly connected components: which vertices a path joins when directions are ignored.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     The value is the id of one vertex of the component, the same for all its vertices.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or none is given and edges have several labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 8, 3], [2, 9, 2])
    /// 3
    /// >>> db.snapshot().wcc().counts()
    /// {1: 3, 8: 2}
    #[pyo3(signature = (*, label=None))]
    fn wcc(&self, py: Python<'_>, label: Option<&str>) -> PyResult<Py<PyAny>> {
        let reading = self.reading()?;
        kernels::run(py, &self.handle, &reading, kernels::arguments("wcc")?, label, None)
    }

    /// Run a kernel by its name, also one without a method of its own. ``docs/guide/kernels.md`` lists all of them.
    ///
    /// Parameters
    /// ----------
    /// kernel : str
    ///     A name as the command line has it: ``"bfs"``, ``"pagerank"``, ``"sssp"``, ``"tc"``, ``"wcc"``.
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, the label of all edges.
    /// weight : str, optional
    ///     The property that is the length of an edge, of kernels that read weights.
    /// **parameters
    ///     What the kernel is told; None leaves a parameter as it is by default.
    ///
    /// Returns
    /// -------
    /// VertexResult or int
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label; none is given and edges have several labels; or the kernel reads no weights.
    /// DataError
    ///     There is no such kernel, it has no such parameter, or a value is out of range.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 2, 5], [2, 3, 1])
    /// 3
    /// >>> db.snapshot().run("bfs", source=3, direction="in").to_dict()
    /// {1: 2, 2: 1, 3: 0, 5: 3}
    #[pyo3(signature = (kernel, *, label=None, weight=None, **parameters))]
    fn run(
        &self,
        py: Python<'_>,
        kernel: &str,
        label: Option<&str>,
        weight: Option<&str>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let reading = self.reading()?;
        let mut arguments = kernels::arguments(kernel)?;
        if let Some(parameters) = parameters {
            let vertex = |object: &Bound<'_, PyAny>| kernels::vertex(&reading, &self.key(object)?);
            kernels::set_all(&mut arguments, parameters, vertex)?;
        }
        kernels::run(py, &self.handle, &reading, arguments, label, weight)
    }

    /// Let go of what the snapshot keeps in memory. Closing again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.check_process()?;
        let reading = lock(&self.reading).take();
        py.detach(|| drop(reading));
        Ok(())
    }

    /// Whether the snapshot was closed.
    #[getter]
    fn closed(&self) -> PyResult<bool> {
        self.handle.check_process()?;
        Ok(lock(&self.reading).is_none())
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().reading()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<bool> {
        // A forked child that leaves the block has nothing to close.
        if !self.handle.is_forked() {
            self.close(py)?;
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        if self.handle.is_forked() {
            return "<hedgerow.Snapshot of another process>".to_owned();
        }
        match lock(&self.reading).as_ref().map(|reading| &reading.snapshot) {
            Some(s) => format!(
                "<hedgerow.Snapshot at {} with {} vertices and {} edges>",
                s.timestamp().0,
                s.vertex_count(),
                s.edge_count_bounds().end()
            ),
            None => "<hedgerow.Snapshot closed>".to_owned(),
        }
    }
}
