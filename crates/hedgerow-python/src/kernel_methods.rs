//! The methods of `Snapshot` that run kernels.

use hedgerow::EdgeDirection;
use hedgerow_kernels::PageRankConfig;
use hedgerow_kernels::registry::Parameter;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::kernels;
use crate::key::count;
use crate::selection::{self, Chosen, Labels, RankRange, VertexKinds, Where};
use crate::snapshot::Snapshot;

#[pymethods]
impl Snapshot {
    /// Breadth-first search: the least number of edges from a source to every vertex.
    ///
    /// Parameters
    /// ----------
    /// source : int or str
    ///     A vertex id.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
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
    ///     There is no such label.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_edges([1, 2, 5], [2, 3, 1])
    /// 3
    /// >>> db.snapshot().bfs(1).to_dict()
    /// {1: 0, 2: 1, 3: 2, 5: -1}
    #[pyo3(signature = (source, *, direction="out", label=None, kinds=None, rank_range=None, r#where=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn bfs(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let (source, direction) = (self.key(source)?, selection::direction(direction)?);
        let chosen = self.chosen_in(label, kinds, rank_range, r#where)?;
        let reading = self.reading()?;
        let mut arguments = kernels::arguments("bfs")?;
        kernels::set(
            &mut arguments,
            "source",
            kernels::vertex(&reading, &chosen, direction, &Parameter::SOURCE, &source)?,
        )?;
        let chosen = kernels::direct(&mut arguments, chosen, direction)?;
        kernels::run(py, &self.handle, &reading, arguments, chosen)
    }

    /// PageRank: the frequency with which a random surfer visits each vertex.
    ///
    /// Parameters
    /// ----------
    /// damping : float
    ///     The probability of following an edge rather than jumping anywhere, 0 to 1.
    /// iterations : int
    ///     The number of iterations; with a tolerance, the maximal number.
    /// tolerance : float, optional
    ///     Stop after an iteration in which the total change of all scores is less than this.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     Values are ``float64`` and sum to 1. The score of vertices without out-edges is spread evenly.
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
    /// >>> db.add_edges([1, 2, 3], [2, 1, 1])
    /// 3
    /// >>> [key for key, score in db.snapshot().pagerank().top(2)]
    /// [1, 2]
    #[pyo3(signature = (*, damping=PageRankConfig::DEFAULT.damping, iterations=None, tolerance=None, direction="out", label=None, kinds=None, rank_range=None, r#where=None), text_signature = "($self, *, damping=0.85, iterations=20, tolerance=None, direction='out', label=None, kinds=None, rank_range=None, where=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn pagerank(
        &self,
        py: Python<'_>,
        damping: f64,
        iterations: Option<&Bound<'_, PyAny>>,
        tolerance: Option<f64>,
        direction: &str,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let (direction, chosen) =
            (selection::direction(direction)?, self.chosen_in(label, kinds, rank_range, r#where)?);
        let mut arguments = kernels::arguments("pagerank")?;
        kernels::set(&mut arguments, "damping", damping)?;
        if let Some(iterations) = iterations {
            kernels::set(&mut arguments, "iterations", count("iterations", iterations, 0)?)?;
        }
        if let Some(tolerance) = tolerance {
            kernels::set(&mut arguments, "tolerance", tolerance)?;
        }
        let chosen = kernels::direct(&mut arguments, chosen, direction)?;
        kernels::run(py, &self.handle, &*self.reading()?, arguments, chosen)
    }

    /// Shortest paths: the least sum of weights along a path from a source to every vertex.
    ///
    /// In a graph without weights every edge has length 1; ``bfs`` computes the same distances faster.
    ///
    /// Parameters
    /// ----------
    /// source : int or str
    ///     A vertex id.
    /// direction : {"out", "in", "both"}
    ///     Along the edges, against them or both ways; in an undirected graph these are the same.
    /// delta : float, optional
    ///     The width of a bucket of distances, greater than 0; by default derived from a sample of the
    ///     weights. It affects only the time, not the result.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// weight : str, optional
    ///     The property with the length of an edge. If not given, the graph's weights are used, and for
    ///     labels other than the default one their property ``weight``. If no label has weights, each edge
    ///     has length 1.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
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
    ///     There is no such label.
    /// DataError
    ///     A path reaches an edge with a negative weight; or the property is not numeric, or an edge has no
    ///     value of it; or no property is named, and only some of the labels have weights.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open(weighted=True)
    /// >>> db.add_edges([1, 2, 1, 5], [2, 3, 3, 1], [1.0, 0.5, 4.0, 1.0])
    /// 4
    /// >>> db.snapshot().sssp(1).to_dict()
    /// {1: 0.0, 2: 1.0, 3: 1.5, 5: inf}
    #[pyo3(signature = (source, *, direction="out", delta=None, label=None, kinds=None, weight=None, rank_range=None, r#where=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn sssp(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        direction: &str,
        delta: Option<f64>,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        weight: Option<String>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let (source, direction) = (self.key(source)?, selection::direction(direction)?);
        let chosen = Chosen { weight, ..self.chosen_in(label, kinds, rank_range, r#where)? };
        let reading = self.reading()?;
        let mut arguments = kernels::arguments("sssp")?;
        kernels::set(
            &mut arguments,
            "source",
            kernels::vertex(&reading, &chosen, direction, &Parameter::SOURCE, &source)?,
        )?;
        let chosen = kernels::direct(&mut arguments, chosen, direction)?;
        if let Some(delta) = delta {
            kernels::set(&mut arguments, "delta", delta)?;
        }
        kernels::run(py, &self.handle, &reading, arguments, chosen)
    }

    /// The number of triangles: sets of three vertices that are all joined by edges in any direction.
    ///
    /// Parameters
    /// ----------
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
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
    /// >>> db.add_edges([1, 2, 3, 3], [2, 3, 1, 4])
    /// 4
    /// >>> db.snapshot().triangle_count()
    /// 1
    #[pyo3(signature = (*, label=None, kinds=None, rank_range=None, r#where=None))]
    fn triangle_count(
        &self,
        py: Python<'_>,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let (reading, chosen) = (self.reading()?, self.chosen_in(label, kinds, rank_range, r#where)?);
        kernels::run(py, &self.handle, &reading, kernels::arguments("tc")?, chosen)
    }

    /// Weakly connected components: sets of vertices that are joined by paths if directions are ignored.
    ///
    /// Parameters
    /// ----------
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    ///
    /// Returns
    /// -------
    /// VertexResult
    ///     The value is the id of one vertex of the component, the same for all its vertices.
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
    /// >>> db.add_edges([1, 8, 3], [2, 9, 2])
    /// 3
    /// >>> db.snapshot().wcc().counts()
    /// {1: 3, 8: 2}
    #[pyo3(signature = (*, label=None, kinds=None, rank_range=None, r#where=None))]
    fn wcc(
        &self,
        py: Python<'_>,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
    ) -> PyResult<Py<PyAny>> {
        let (reading, chosen) = (self.reading()?, self.chosen_in(label, kinds, rank_range, r#where)?);
        kernels::run(py, &self.handle, &reading, kernels::arguments("wcc")?, chosen)
    }

    /// Run a kernel by its name, also a kernel without a method. ``docs/guide/kernels.md`` lists all kernels.
    ///
    /// Parameters
    /// ----------
    /// kernel : str
    ///     A name from the command line: ``"bfs"``, ``"pagerank"``, ``"sssp"``, ``"tc"``, ``"wcc"``.
    /// label : str or sequence of str, optional
    ///     The label of the edges, or several, ``""`` for the default one; all labels if not given.
    /// kinds : str or sequence of str, optional
    ///     The kinds of the vertices, ``""`` for the default one. If not given, the kinds that the named
    ///     labels state for their ends. If a label states none, or no label is named, all kinds. An edge to a
    ///     vertex of another kind is an error.
    /// weight : str, optional
    ///     The property with the length of an edge, for kernels that read weights; if not given, as in
    ///     ``sssp``.
    /// direction : {"out", "in", "both"}, optional
    ///     Along the edges, against them or both ways, for any kernel.
    /// rank_range, where : optional
    ///     A choice among these edges, like in ``neighbors``.
    /// progress : callable, optional
    ///     Called with the number of steps done and the number of all steps, every 20 milliseconds and at the
    ///     end, on the thread that called ``run``. The list of kernels names the steps of each kernel. A
    ///     search that stops early has not done all its steps. An exception of the callable ends the kernel.
    /// **parameters
    ///     The parameters of the kernel; None keeps a default.
    ///
    /// Returns
    /// -------
    /// VertexResult, Paths, Pairs or int
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label; or the kernel reads no weights.
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
    #[pyo3(signature = (kernel, *, label=None, kinds=None, weight=None, direction=None, rank_range=None, r#where=None, progress=None, **parameters))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn run(
        &self,
        py: Python<'_>,
        kernel: &str,
        label: Option<Labels>,
        kinds: Option<VertexKinds>,
        weight: Option<String>,
        direction: Option<&str>,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        progress: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let direction = direction.map_or(Ok(EdgeDirection::Out), selection::direction)?;
        let reading = self.reading()?;
        let chosen = Chosen { weight, ..self.chosen_in(label, kinds, rank_range, r#where)? };
        let mut arguments = kernels::arguments(kernel)?;
        if let Some(parameters) = parameters {
            let vertex = |parameter: &Parameter, object: &Bound<'_, PyAny>| {
                kernels::vertex(&reading, &chosen, direction, parameter, &self.key(object)?)
            };
            kernels::set_all(&mut arguments, parameters, vertex)?;
        }
        let chosen = kernels::direct(&mut arguments, chosen, direction)?;
        kernels::run_telling(py, &self.handle, &reading, arguments, chosen, progress)
    }
}
