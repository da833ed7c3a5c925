//! Methods of `Snapshot` that read many vertices and answer in columns.

use hedgerow::{KeyKind, Kind, KindId};
use pyo3::prelude::*;

use crate::ending::calling;
use crate::error::{DataError, raise};
use crate::key::{direction, read_names};
use crate::key_columns::{Keys, key_types, read_keys};
use crate::many::{Wanted, missing, order};
use crate::names::Kinds;
use crate::schema::Label;
use crate::selection::{self, Chosen, Labels, RankRange, Where};
use crate::snapshot::Snapshot;

impl Snapshot {
    pub(crate) fn wanted(
        &self,
        keys: &Bound<'_, PyAny>,
        chosen: Chosen,
        missing: &str,
        kind: Option<&str>,
    ) -> PyResult<Wanted> {
        let missing = self::missing(missing)?;
        let (kind, of) = self.kind_at(&chosen, kind)?;
        let _calling = calling(keys.py());
        let keys = read_keys(self, of, "keys", keys)?;
        Ok(Wanted { keys, kind, chosen, missing })
    }

    /// Returns the kind of the vertices at which edges are read, and the type of its keys. It is the named
    /// kind, or else the kind that the labels state for this direction, or else the default one.
    pub(crate) fn kind_at(&self, chosen: &Chosen, kind: Option<&str>) -> PyResult<(KindId, KeyKind)> {
        let schema = self.kind_schema()?;
        let kind = match (kind, &chosen.labels) {
            (Some(kind), _) => schema.find_kind(kind).map_err(raise)?,
            (None, Some(labels)) => {
                // An undirected edge is read at both ends.
                let direction = chosen.one_way().filter(|_| self.handle.config.directed);
                labels.kind_at(&schema, direction).unwrap_or_default()
            }
            (None, _) => KindId::DEFAULT,
        };
        Ok((kind, schema.kind_by_id(kind).map_or(self.handle.config.keys, Kind::keys)))
    }
}

#[pymethods]
impl Snapshot {
    /// The degrees of many vertices: the results of ``degree`` for each, in one call.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids, like in ``add_edges``.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    /// kind : str, optional
    ///     The kind of the vertices; if not given, the kind that the labels state, or else the default kind.
    ///     An id that is a pair states its own kind.
    /// missing : {"raise", "empty"}
    ///     The answer for a key that names no vertex: an error, or 0.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Of ``int64``, in the order of ``keys``.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex; the message names key and row.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     The type of a key differs from the graph's keys.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1, 2], [2, 3, 3])
    /// 3
    /// >>> db.snapshot().degrees([3, 1, 9], missing="empty").tolist()
    /// [0, 2, 0]
    #[pyo3(signature = (keys, direction="out", *, label=None, rank_range=None, r#where=None, missing="raise", kind=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn degrees(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        missing: &str,
        kind: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (reading, direction) = (self.reading()?, selection::direction(direction)?);
        let chosen = self.chosen(label, rank_range, r#where)?.in_direction(direction);
        let wanted = self.wanted(keys, chosen, missing, kind)?;
        reading.degrees(py, &wanted)
    }

    /// Test many edges for existence: the results of ``has_edge`` for each, in one call.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array_like
    ///     Vertex ids, like in ``add_edges``: columns of equal length. An edge with an id that names no
    ///     vertex does not exist.
    /// label : str, optional
    ///     The label of the edges; any label if not given. ``""`` is the default one.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Of ``bool``, in the order of ``sources``.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     The columns differ in length, or the type of a key differs from the graph's keys.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1, 2], [2, 3, 3])
    /// 3
    /// >>> db.snapshot().contains_edges([1, 3, 9], [3, 1, 1]).tolist()
    /// [True, False, False]
    #[pyo3(signature = (sources, destinations, *, label=None))]
    fn contains_edges(
        &self,
        py: Python<'_>,
        sources: &Bound<'_, PyAny>,
        destinations: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
    ) -> PyResult<Py<PyAny>> {
        let reading = self.reading()?;
        let ends = {
            let _calling = calling(py);
            let [of_sources, of_destinations] =
                key_types(&self.handle, self, label.as_deref().unwrap_or_default())?;
            let sources = read_keys(self, of_sources, "sources", sources)?;
            [sources, read_keys(self, of_destinations, "destinations", destinations)?]
        };
        let [sources, destinations] = [&ends[0], &ends[1]].map(Keys::len);
        if sources != destinations {
            let text = format!("sources has {sources} elements and destinations has {destinations}");
            return Err(DataError::new_err(text));
        }
        reading.contains_edges(py, label.as_deref(), ends)
    }

    /// The neighbors of many vertices: the results of ``neighbors`` for each, in one call.
    ///
    /// Parameters
    /// ----------
    /// keys : array_like
    ///     Vertex ids, like in ``add_edges``.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    /// kind : str, optional
    ///     The kind of the vertices; if not given, the kind that the labels state, or else the default kind.
    ///     An id that is a pair states its own kind.
    /// missing : {"raise", "empty"}
    ///     The answer for a key that names no vertex: an error, or an empty list.
    ///
    /// Returns
    /// -------
    /// NeighborLists
    ///     Offsets and neighbors, in the order of ``keys``.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex; the message names key and row.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     The type of a key differs from the graph's keys.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1, 2], [3, 2, 3])
    /// 3
    /// >>> lists = db.snapshot().neighbors_of([2, 1])
    /// >>> lists.offsets.tolist(), lists.neighbors.tolist(), lists[1].tolist()
    /// ([0, 1, 3], [3, 2, 3], [2, 3])
    #[pyo3(signature = (keys, direction="out", *, label=None, rank_range=None, r#where=None, missing="raise", kind=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn neighbors_of(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        missing: &str,
        kind: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (reading, direction) = (self.reading()?, selection::direction(direction)?);
        let chosen = self.chosen(label, rank_range, r#where)?.in_direction(direction);
        let wanted = self.wanted(keys, chosen, missing, kind)?;
        reading.neighbors_of(py, wanted)
    }

    /// All edges of a label as compressed rows, a row for each vertex, in arrays that other libraries can
    /// use. If the label states the kinds of its ends, vertices of other kinds have no row.
    ///
    /// The arrays are read-only. While they are in use, an equal call for the same timestamp returns the same
    /// arrays.
    ///
    /// Parameters
    /// ----------
    /// label : str, optional
    ///     The label of the edges, ``""`` for the default one. If not given, all edges must have one label,
    ///     and it is used.
    /// direction : {"out", "in"}
    ///     Along the edges or against them. In an undirected graph these are the same, and each edge is in
    ///     the rows of both ends.
    /// weight : str, optional
    ///     The property with the weight of an edge; if not given, the graph's weights, or for a label its
    ///     property ``weight``.
    /// order : {"id", "key"}
    ///     The order of rows: ``"id"`` is the order of ``vertices()``, and the fastest; ``"key"`` is by
    ///     ascending key.
    ///
    /// Returns
    /// -------
    /// Csr
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label; or no label is given, and edges have several labels.
    /// DataError
    ///     The property is not numeric, or an edge has no value of it.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open(weighted=True)
    /// >>> db.add_edges([9, 9], [5, 7], [0.5, 2.0])
    /// 2
    /// >>> csr = db.snapshot().csr(order="key")
    /// >>> csr.ids.tolist(), csr.offsets.tolist(), csr.targets.tolist(), csr.weights.tolist()
    /// ([5, 7, 9], [0, 0, 0, 2], [0, 1], [0.5, 2.0])
    #[pyo3(signature = (label=None, *, direction="out", weight=None, order="id"))]
    fn csr(
        &self,
        py: Python<'_>,
        label: Option<Label<'_>>,
        direction: &str,
        weight: Option<&str>,
        order: &str,
    ) -> PyResult<Py<PyAny>> {
        let (direction, order) = (self::direction(direction)?, self::order(order)?);
        self.reading()?.csr(py, label.as_deref(), direction, order, weight)
    }

    /// All vertices of a kind with their properties.
    ///
    /// Parameters
    /// ----------
    /// kind : str, optional
    ///     The kind; the default one if not given.
    /// properties : sequence of str, optional
    ///     The properties to return; all if not given.
    ///
    /// Returns
    /// -------
    /// VertexTable
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
    /// ...     tx.add_vertex(1, name="Ann", age=30)
    /// ...     tx.add_vertex(2, name="Bob")
    /// >>> table = db.snapshot().vertex_table()
    /// >>> table.ids.tolist(), table.properties["name"].tolist(), table.properties["age"].tolist()
    /// ([1, 2], ['Ann', 'Bob'], [30, None])
    #[pyo3(signature = (kind=None, *, properties=None))]
    fn vertex_table(
        &self,
        py: Python<'_>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let properties = properties.map(|names| read_names("properties", names)).transpose()?;
        self.reading()?.vertex_table(py, kind, properties)
    }
}
