//! `Snapshot`: the graph as of one timestamp.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::edge_arguments::{AnyEdge, Edge};
use crate::ending::released;
use crate::error::{ClosedError, raise};
use crate::handle::{Handle, Origin, lock, own};
use crate::key::{Key, Namer, read_limit, read_names};
use crate::names::Kinds;
use crate::neighbors::{Parts, neighbors};
use crate::results::Reading;
use crate::schema::{self, Label};
use crate::selection::{self, Chosen, Labels, RankRange, VertexKinds, Where};
use crate::value::to_dict;

/// The graph as of one timestamp: exactly the commits up to it. Made by ``Database.snapshot``.
///
/// A snapshot and writers never wait for each other. While it is open, its versions stay in memory, so use it
/// as a context manager, or close it. It stays readable after the store is closed. Any thread may call any
/// method. Ctrl-C ends a kernel (``bfs``, ``pagerank``, ``sssp``, ``triangle_count``, ``wcc``, ``run``)
/// within 100 milliseconds.
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
    /// The origin instead of the store, so that a closed snapshot keeps nothing of the store alive.
    pub(crate) handle: Origin,
    /// The directory of the store; `None` for a store without files.
    pub(crate) path: Option<PathBuf>,
    reading: Mutex<Option<Arc<Reading>>>,
}

impl Snapshot {
    pub(crate) fn new(handle: &Arc<Handle>, snapshot: hedgerow::Snapshot) -> Snapshot {
        let reading = Reading::new(snapshot, handle.origin);
        let (path, reading) = (handle.absolute.clone(), Mutex::new(Some(Arc::new(reading))));
        Snapshot { handle: handle.origin, path, reading }
    }

    pub(crate) fn reading(&self) -> PyResult<Arc<Reading>> {
        self.handle.check_process()?;
        let reading = lock(&self.reading).clone();
        reading.ok_or_else(|| ClosedError::new_err("the snapshot is closed"))
    }

    pub(crate) fn key(&self, object: &Bound<'_, PyAny>) -> PyResult<Key> {
        self.handle.check_process()?;
        Key::read(self.handle.config.keys, self, object)
    }

    /// Returns the edges that a read takes.
    pub(crate) fn chosen(
        &self,
        labels: Option<Labels>,
        ranks: Option<RankRange>,
        filter: Option<Where>,
    ) -> PyResult<Chosen> {
        Chosen::new(&self.handle, &self.reading()?.snapshot.schema(), labels, ranks, filter)
    }

    /// Returns all chosen edges at a vertex.
    fn all_neighbors(
        &self,
        py: Python<'_>,
        chosen: &Chosen,
        key: &Key,
        parts: Parts,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let reading = self.reading()?;
        let snapshot = &reading.snapshot;
        if parts.none() {
            let found = py.detach(|| chosen.with(|edges| snapshot.neighbors(key.as_ref(), edges)));
            let found = found.map_err(raise)?.ok_or_else(|| key.no_such_vertex(self))?;
            return Namer::new(self).list(py, found.iter().map(hedgerow::VertexKey::as_ref));
        }
        let found = py.detach(|| neighbors(snapshot, chosen, key, parts.properties)).map_err(raise)?;
        let found = found.ok_or_else(|| key.no_such_vertex(self))?;
        let label = chosen.plain().and_then(|(label, _)| label);
        let schema = if parts.labels && label.is_none() { Some(snapshot.schema()) } else { None };
        parts.list(py, self, &found, |id| schema::name(schema.as_ref(), label, id))
    }

    /// Returns the edges and vertices that a kernel takes.
    pub(crate) fn chosen_in(
        &self,
        labels: Option<Labels>,
        kinds: Option<VertexKinds>,
        ranks: Option<RankRange>,
        filter: Option<Where>,
    ) -> PyResult<Chosen> {
        let schema = self.reading()?.snapshot.schema();
        Chosen::new(&self.handle, &schema, labels, ranks, filter)?.in_kinds(&schema, kinds)
    }
}

impl Kinds for Snapshot {
    fn kind_schema(&self) -> PyResult<Arc<hedgerow::Schema>> {
        self.reading()?.kind_schema()
    }
}

impl Drop for Snapshot {
    /// Does nothing in a forked child, where the state is the parent's.
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
    /// The timestamp of the last commit that the snapshot sees.
    #[getter]
    fn timestamp(&self) -> PyResult<u64> {
        Ok(self.reading()?.snapshot.timestamp().0)
    }

    /// The number of vertices.
    #[getter]
    fn vertex_count(&self) -> PyResult<u64> {
        Ok(self.reading()?.snapshot.vertex_count())
    }

    /// True if edges have a direction.
    #[getter]
    fn directed(&self) -> bool {
        self.handle.config.directed
    }

    /// The number of edges of all labels; an undirected edge counts once.
    #[getter]
    fn edge_count(&self) -> PyResult<u64> {
        self.reading()?.snapshot.edge_count().map_err(raise)
    }

    /// True if a vertex exists.
    fn has_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.reading()?.snapshot.contains_vertex(key.as_ref()).map_err(raise)
    }

    /// The number of edges of a label; an undirected edge counts once.
    fn edge_count_of(&self, py: Python<'_>, label: Label<'_>) -> PyResult<u64> {
        let reading = self.reading()?;
        py.detach(|| reading.snapshot.edge_count_of(&*label)).map_err(raise)
    }

    /// The names of the labels as of this snapshot. The first one is ``""``, the default label.
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

    /// True if there is an edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids.
    /// label : str, optional
    ///     The label of the edge; any label if not given. ``""`` is the default one.
    /// rank : int, optional
    ///     The rank of the edge; any rank if not given.
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
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let edges = AnyEdge::read(&self.handle, self, src, dst, label.as_deref(), rank)?;
        self.reading()?.snapshot.contains_edge(edges.pattern()).map_err(raise)
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
    ///     The rank of the edge: required for a ``multi`` label; edges of other labels have none.
    ///
    /// Returns
    /// -------
    /// dict or None
    ///     Values by property name. Timestamps are ``datetime`` objects in UTC. In a weighted graph the
    ///     weight is included.
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
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let edge = Edge::read(&self.handle, self, src, dst, label.as_deref(), rank)?;
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

    /// The weight of an edge of the default label, or ``None`` if there is no such edge; 1 in a graph without
    /// weights.
    fn weight(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        self.reading()?.snapshot.default_label().weight_between(src.as_ref(), dst.as_ref()).map_err(raise)
    }

    /// The neighbors of a vertex, sorted, with one entry for each edge. A neighbor is repeated if there are
    /// edges with several labels or ranks to it.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same. An edge
    ///     that is found both ways, as a self-loop is, counts once.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// ranks, properties, labels : bool
    ///     Return tuples of the neighbor and the requested attributes, in the order label, rank, dictionary
    ///     of properties. Edges to the same neighbor are sorted by the definition of their labels, then by
    ///     rank.
    /// rank_range : (int or None, int or None), optional
    ///     The first rank, and the rank after the last one: only edges with these ranks. Edges of labels that
    ///     are not ``multi`` have rank 0.
    /// where : (str, str, value) or sequence of such tuples, optional
    ///     A property, a comparison and a value: only edges that meet this condition. With several
    ///     conditions, an edge must meet all of them. The comparison is one of ``==``, ``!=``, ``<``, ``<=``,
    ///     ``>``, ``>=``; ``"in"`` or ``"not in"`` with a sequence of values, at most 2**20; ``"prefix"``
    ///     with the beginning of a ``str`` or ``bytes``; ``"is"`` or ``"is not"`` with ``None``. A time may
    ///     be a ``datetime``, a ``date`` or a text in ISO 8601; without a zone it is in UTC.
    ///
    ///     ``("or", condition, ...)`` is met by edges that meet one of the conditions, ``("not", condition)``
    ///     by those that do not meet it, ``("and", condition, ...)`` by those that meet all; the conditions
    ///     may be such tuples again. As in SQL, an edge without a value, or of a label without the property,
    ///     meets neither a comparison nor its opposite: only ``(property, "is", None)``.
    ///
    /// limit : int, optional
    ///     Return at most this many edges, the first ones of the list. The call compares the key of each
    ///     neighbor, since stored lists have another order. It takes time and memory for the returned edges,
    ///     and reads no other edge's properties.
    ///
    /// Returns
    /// -------
    /// list
    ///     With ``limit`` a ``Limited``: a list whose attribute ``more`` is True if there are other edges.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     None of the labels has the property; or its type differs from the value's; or the value is None or
    ///     NaN, which equal nothing.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.put_edge(1, 2, label="knows", since=2001)
    /// ...     tx.put_edge(3, 1, label="likes")
    /// >>> db.snapshot().neighbors(1, label="knows", properties=True)
    /// [(2, {'since': 2001})]
    /// >>> db.snapshot().neighbors(1, "both", label=["knows", "likes"], labels=True)
    /// [(2, 'knows'), (3, 'likes')]
    #[pyo3(signature = (key, direction="out", *, label=None, ranks=false, properties=false, labels=false, rank_range=None, r#where=None, limit=None), text_signature = "($self, key, direction='out', *, label=None, ranks=False, properties=False, labels=False, rank_range=None, where=None, limit=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn neighbors(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        ranks: bool,
        properties: bool,
        labels: bool,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (key, direction) = (self.key(key)?, selection::direction(direction)?);
        let chosen = self.chosen(label, rank_range, r#where)?.in_direction(direction);
        let parts = Parts { labels, ranks, properties };
        match limit {
            Some(limit) => self.first_neighbors(py, &chosen, &key, read_limit(limit)?, parts),
            None => Ok(self.all_neighbors(py, &chosen, &key, parts)?.into_pyobject(py)?.into_any().unbind()),
        }
    }

    /// The number of edges at a vertex: the length of ``neighbors``. A self-loop counts once.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     None of the labels has the property, or its type differs from the value's.
    #[pyo3(signature = (key, direction="out", *, label=None, rank_range=None, r#where=None))]
    fn degree(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<usize> {
        let (key, direction) = (self.key(key)?, selection::direction(direction)?);
        let reading = self.reading()?;
        let chosen = self.chosen(label, rank_range, r#where)?.in_direction(direction);
        let found = py.detach(|| chosen.with(|edges| reading.snapshot.degree(key.as_ref(), edges)));
        found.map_err(raise)?.ok_or_else(|| key.no_such_vertex(self))
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

    /// All edges of all labels, or of some labels. In an undirected graph each edge is returned once.
    ///
    /// Parameters
    /// ----------
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    ///
    /// Returns
    /// -------
    /// Edges
    ///     Arrays ``src``, ``dst`` and ``weights``, which is ``None`` if none of the labels has weights. If
    ///     labels are defined, also ``labels`` and ``ranks``. Edges are sorted by the definition of their
    ///     labels.
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
    #[pyo3(signature = (*, label=None, rank_range=None, r#where=None))]
    fn edges(
        &self,
        py: Python<'_>,
        label: Option<Labels>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let chosen = self.chosen(label, rank_range, r#where)?;
        self.reading()?.edges(py, self.handle.config.weighted, &chosen)
    }

    /// All edges of one label or several, with ranks and properties. In an undirected graph each edge is
    /// returned once.
    ///
    /// Parameters
    /// ----------
    /// label : str or sequence of str, optional
    ///     The label, or several, whose edges are returned label after label, in the order in which labels
    ///     were defined; ``""`` is the default one. If not given, all edges must have one label, and it is
    ///     used.
    /// properties : sequence of str, optional
    ///     The properties to return; all if not given. In a weighted graph the default label has the property
    ///     ``"weight"``. If the label of an edge lacks a property, the edge has no value of it.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    ///
    /// Returns
    /// -------
    /// EdgeTable
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or no label is given, and edges have several labels.
    /// DataError
    ///     No label has such a property, or its types in several labels differ.
    #[pyo3(signature = (label=None, *, properties=None, rank_range=None, r#where=None))]
    fn edge_table(
        &self,
        py: Python<'_>,
        label: Option<Labels>,
        properties: Option<&Bound<'_, PyAny>>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let properties = properties.map(|names| read_names("properties", names)).transpose()?;
        let chosen = self.chosen(label, rank_range, r#where)?;
        self.reading()?.edge_table(py, &chosen, properties)
    }

    /// A property of all vertices.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Its values are a masked array; for text and bytes, an array of objects in which a missing value is
    ///     None.
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

    /// Release the memory that the snapshot keeps. A second close does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.check_process()?;
        let reading = lock(&self.reading).take();
        py.detach(|| drop(reading));
        Ok(())
    }

    /// True if the snapshot was closed.
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
        // In a forked child there is nothing to close when the block ends.
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
