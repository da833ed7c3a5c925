//! The vertices within some hops of others: `Snapshot.k_hop`.

use hedgerow::{KHopOptions, KindId, MissingVertex, Neighborhood, VertexKeyRef};
use hedgerow_kernels::Cancel;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ending::calling;
use crate::error::DataError;
use crate::ids;
use crate::key::{count, long_count};
use crate::key_columns::{Keys, read_keys};
use crate::many::{missing, refused};
use crate::pool::cancellable;
use crate::results::{Reading, make};
use crate::selection::{self, Chosen, Labels, RankRange, Where};
use crate::snapshot::Snapshot;

/// The sources of a search, and its limits.
struct Search {
    sources: Keys,
    kind: KindId,
    chosen: Chosen,
    hops: u32,
    limit: Option<u64>,
    partial: bool,
    missing: MissingVertex,
}

impl Search {
    fn run(&self, snapshot: &hedgerow::Snapshot, cancel: &Cancel) -> hedgerow::Result<Neighborhood> {
        match &self.sources {
            Keys::Numbers(numbers) if self.kind == KindId::DEFAULT => self.from(snapshot, numbers, cancel),
            keys => self.from(snapshot, &keys.of_kind(self.kind), cancel),
        }
    }

    fn from<'k, K: Into<VertexKeyRef<'k>> + Copy>(
        &self,
        snapshot: &hedgerow::Snapshot,
        sources: &[K],
        cancel: &Cancel,
    ) -> hedgerow::Result<Neighborhood> {
        let until = || cancel.poll();
        let options = KHopOptions::new(self.hops).missing(self.missing).partial(self.partial).until(&until);
        let options = self.limit.map_or(options, |limit| options.limit(limit));
        snapshot.k_hop(sources, &self.chosen.selection(), options)
    }
}

#[pymethods]
impl Snapshot {
    /// The vertices within some hops of given ones (their k-hop neighborhood), with distances.
    ///
    /// The cost depends on the result, not on the size of the graph: time for the edges of all vertices that
    /// are less than ``hops`` away, and memory for the reached vertices. To reach most of a graph, ``bfs`` is
    /// faster.
    ///
    /// Parameters
    /// ----------
    /// sources : array_like
    ///     Vertex ids, like in ``add_edges``; an id may be repeated.
    /// hops : int
    ///     The maximal number of edges from a source.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several; all labels if not given. ``""`` is the default one.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    /// limit : int, optional
    ///     The maximal number of vertices, including sources. A larger neighborhood is an error, unless
    ///     ``partial`` permits it.
    /// partial : bool
    ///     Return the vertices that the search reaches first, up to the limit, instead of an error. The
    ///     result has all vertices that are closer than its last vertex, and some at that vertex's distance;
    ///     it is not specified which. Its attribute ``more`` is True if there are others.
    /// missing : {"raise", "empty"}
    ///     The treatment of a source that is no vertex: raise an error, or ignore it.
    /// kind : str, optional
    ///     The kind of the sources; if not given, the kind that the label states, or else the default kind.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     The reached vertices by ascending distance, at equal distance by ascending id. Values are
    ///     ``int64``: the least number of edges from a source, 0 for the sources.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     A source is no vertex; the message names key and row.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     There are more vertices than the limit, or the type of a key differs from the graph's keys.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 1, 3, 4], [2, 3, 4, 5])
    /// 4
    /// >>> db.snapshot().k_hop([1], 2).to_dict()
    /// {1: 0, 2: 1, 3: 1, 4: 2}
    #[pyo3(signature = (sources, hops, direction="out", *, label=None, rank_range=None, r#where=None, limit=None, partial=false, missing="raise", kind=None), text_signature = "($self, sources, hops, direction='out', *, label=None, rank_range=None, where=None, limit=None, partial=False, missing='raise', kind=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn k_hop(
        &self,
        py: Python<'_>,
        sources: &Bound<'_, PyAny>,
        hops: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        limit: Option<&Bound<'_, PyAny>>,
        partial: bool,
        missing: &str,
        kind: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (direction, missing) = (selection::direction(direction)?, self::missing(missing)?);
        let chosen = self.chosen(label, rank_range, r#where)?.in_direction(direction);
        let (kind, keys) = self.kind_at(&chosen, kind)?;
        let sources = {
            let _calling = calling(py);
            read_keys(self, keys, "sources", sources)?
        };
        let limit = limit.map(|limit| long_count("limit", limit)).transpose()?;
        if partial && limit.is_none() {
            return Err(DataError::new_err("partial=True needs limit=, the most vertices of the part"));
        }
        let search = Search { sources, kind, chosen, hops: count("hops", hops, 0)?, limit, partial, missing };
        let reading = self.reading()?;
        let snapshot = reading.snapshot.clone();
        let (search, found) = cancellable(py, &self.handle, move |cancel| {
            let found = search.run(&snapshot, cancel);
            (search, found)
        })?;
        let sources = (&search.sources, search.kind);
        neighborhood(py, &reading, found.map_err(|error| refused(&reading, "sources", sources, error))?)
    }
}

fn neighborhood(py: Python<'_>, reading: &Reading, found: Neighborhood) -> PyResult<Py<PyAny>> {
    reading.reserve(found.distances.len(), found.distances.len().saturating_mul(8))?;
    let distances: Vec<i64> = found.distances.into_iter().map(i64::from).collect();
    let arguments = PyDict::new(py);
    arguments.set_item("ids", ids::new(py, reading, found.vertices)?)?;
    arguments.set_item("values", distances.into_pyarray(py))?;
    let result = make(py, "VertexResult", &arguments)?;
    if found.more {
        let _calling = calling(py);
        result.setattr(py, "more", true)?;
    }
    Ok(result)
}
