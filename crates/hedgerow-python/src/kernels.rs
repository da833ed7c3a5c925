//! Kernels of the registry on a snapshot: their arguments, their memory, and their results in Python.

use hedgerow::{Direction, EdgeDirection, VertexId};
use hedgerow_core::suggest::{did_you_mean, instead};
use hedgerow_kernels::registry::{
    self, Absent, Arguments, Kernel, Outcome, Parameter, ParameterKind, ResultKind, Size, Value,
};
use hedgerow_kernels::{Cancel, KernelError, NO_VERTEX, Pairs, Paths, UNREACHED};
use numpy::IntoPyArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::ending::calling;
use crate::error::{DataError, ProgrammingError, out_of_memory, raise, raise_kernel};
use crate::handle::Origin;
use crate::ids::{Ids, NO_ROW, keys_array};
use crate::imports;
use crate::key::{Key, count, direction, type_name};
use crate::names::raise_run;
use crate::pool::{On, cancellable, parallel, steps, telling};
use crate::result_rows::Vertices;
use crate::results::{BYTES_PER_ROW, Reading, is_room, make};
use crate::selection::Chosen;

/// Returns the names and functions of the kernels, and whether the result without arguments is a table: for
/// `sql`.
#[pyfunction]
pub(crate) fn _table_kernels() -> Vec<(&'static str, &'static str, bool)> {
    let is_table = |kernel: &Kernel| {
        let is_complete = kernel.parameters.iter().all(|parameter| parameter.absent != Absent::Refused);
        is_complete && !matches!(kernel.result.kind, ResultKind::Count | ResultKind::Paths)
    };
    registry::KERNELS.iter().map(|kernel| (kernel.name, kernel.function, is_table(kernel))).collect()
}

/// Returns the default arguments of a kernel. The name is the one on the command line, or the function's.
pub(crate) fn arguments(name: &str) -> PyResult<Arguments> {
    let found = registry::KERNELS.iter().find(|kernel| kernel.name == name || kernel.function == name);
    found.map(|kernel| kernel.arguments()).ok_or_else(|| no_such_kernel(name, registry::KERNELS))
}

/// Returns the exception for a name without a kernel.
pub(crate) fn no_such_kernel(name: &str, kernels: &[&Kernel]) -> PyErr {
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name).collect();
    let functions: Vec<&str> = kernels.iter().map(|kernel| kernel.function).collect();
    let instead = match did_you_mean(name, &[&functions[..], &names[..]].concat()) {
        near if near.is_empty() => instead(name, &names, "kernels"),
        near => near,
    };
    DataError::new_err(format!("there is no kernel {name:?}{instead}"))
}

/// Sets an argument that the caller stated.
pub(crate) fn set(arguments: &mut Arguments, name: &str, value: impl Into<Value>) -> PyResult<()> {
    arguments.set(name, value).map_err(raise_kernel)
}

/// Sets the arguments that the caller stated as keywords; `None` keeps a default.
pub(crate) fn set_all(
    arguments: &mut Arguments,
    given: &Bound<'_, PyDict>,
    vertex: impl Fn(&Parameter, &Bound<'_, PyAny>) -> PyResult<VertexId>,
) -> PyResult<()> {
    for (name, object) in given {
        let name: String = name.extract()?;
        match arguments.kernel().parameter(&name) {
            Some(_) if object.is_none() => {}
            Some(parameter) => set(arguments, &name, read(parameter, &object, &vertex)?)?,
            None => {
                let kernel = arguments.kernel();
                let known: Vec<&str> = kernel.parameters.iter().map(|parameter| parameter.name).collect();
                let instead = instead(&name, &known, "parameters");
                return Err(DataError::new_err(format!(
                    "{} has no parameter {name:?}{instead}",
                    kernel.name
                )));
            }
        }
    }
    Ok(())
}

fn read(
    parameter: &Parameter,
    object: &Bound<'_, PyAny>,
    vertex: &impl Fn(&Parameter, &Bound<'_, PyAny>) -> PyResult<VertexId>,
) -> PyResult<Value> {
    Ok(match parameter.kind {
        ParameterKind::Vertex => vertex(parameter, object)?.into(),
        ParameterKind::Direction => direction(object.extract()?)?.into(),
        // A str is a sequence too, but no caller means its letters as keys.
        ParameterKind::Vertices if object.is_instance_of::<PyString>() => {
            return Err(PyTypeError::new_err(format!("{} must be a sequence of vertices", parameter.name)));
        }
        ParameterKind::Vertices => {
            // Iterating a result gives pairs of id and value, so its array of ids is read instead.
            let ids = {
                let _calling = calling(object.py());
                object.getattr_opt("_vertex_ids")?.map(|ids| ids.call0()).transpose()?
            };
            let mut all = ids.as_ref().unwrap_or(object).try_iter()?;
            // The length of the iterator is not estimated. The estimate runs Python code, and PyO3 drops a
            // Ctrl-C that arrives in it.
            let vertices = std::iter::from_fn(|| all.next()).map(|one| vertex(parameter, &one?));
            vertices.collect::<PyResult<Vec<VertexId>>>()?.into()
        }
        ParameterKind::Count(range) => count(parameter.name, object, range.least)?.into(),
        ParameterKind::Number(_) => object.extract::<f64>()?.into(),
        ParameterKind::Flag => match object.cast::<PyBool>() {
            Ok(flag) => flag.is_true().into(),
            Err(_) => {
                let (name, found) = (parameter.name, type_name(object));
                return Err(PyTypeError::new_err(format!("{name} must be a bool, found {found}")));
            }
        },
    })
}

/// Sets the direction. A kernel without this parameter gets a view in the opposite direction instead.
pub(crate) fn direct(
    arguments: &mut Arguments,
    chosen: Chosen,
    direction: EdgeDirection,
) -> PyResult<Chosen> {
    let can_be_told = arguments.kernel().parameter("direction").is_some();
    if direction == EdgeDirection::In && can_be_told {
        set(arguments, "direction", Direction::In)?;
        return Ok(chosen);
    }
    Ok(chosen.in_direction(direction))
}

/// Returns the vertex with an external id. It is where a kernel begins to follow the chosen edges, or ends.
pub(crate) fn vertex(
    reading: &Reading,
    chosen: &Chosen,
    direction: EdgeDirection,
    parameter: &Parameter,
    key: &Key,
) -> PyResult<VertexId> {
    let direction = if parameter.is_end() { direction.turned() } else { direction };
    let selection = chosen.selection().direction(direction);
    let found = selection.kernel_vertex(&reading.snapshot, key.as_ref()).map_err(raise)?;
    found.ok_or_else(|| key.no_such_vertex(reading))
}

/// Runs a kernel on the chosen edges, and returns its result: a `VertexResult`, `Paths`, `Pairs`, or a
/// number.
pub(crate) fn run(
    py: Python<'_>,
    origin: &Origin,
    reading: &Reading,
    arguments: Arguments,
    chosen: Chosen,
) -> PyResult<Py<PyAny>> {
    run_telling(py, origin, reading, arguments, chosen, None)
}

/// Runs a kernel like [`run`], and calls `told` from time to time with its progress.
pub(crate) fn run_telling(
    py: Python<'_>,
    origin: &Origin,
    reading: &Reading,
    arguments: Arguments,
    chosen: Chosen,
    told: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let about = arguments.kernel();
    if chosen.weight.is_some() && !about.reads_weights {
        return Err(ProgrammingError::new_err(format!("{} reads no weights", about.name)));
    }
    let snapshot = reading.snapshot.clone();
    // The view is made on the kernel's thread. For a short kernel, a change of threads in between would take
    // much of the time.
    let compute = move |cancel: &Cancel| -> Result<Result<Found, usize>, KernelError<hedgerow::Error>> {
        let view = hedgerow_analytics::view(&snapshot, about, &chosen.selection());
        let view = view.map_err(KernelError::Topology)?;
        let (ids, edges, threads) = (view.vertex_bound(), view.edge_count(), hedgerow_par::threads());
        let size = Size { ids: ids as u64, edges, threads: threads as u64 };
        let is_per_vertex = about.result.kind.is_per_vertex();
        let rows = if is_per_vertex { ids.saturating_mul(BYTES_PER_ROW) } else { 0 };
        if !is_room((about.memory.bytes(size) as usize).saturating_add(rows)) {
            return Ok(Err(ids));
        }
        let outcome = hedgerow_analytics::run(&arguments, &view, cancel)?;
        let vertices = || some_vertices(&snapshot, view.vertex_count(), view.vertices());
        Ok(Ok(Found { outcome, vertices: if is_per_vertex { vertices() } else { None } }))
    };
    let found = match told {
        Some(told) => telling(py, origin, On::Pool, Some(told), steps, compute),
        None => cancellable(py, origin, compute),
    }?;
    let found = found.map_err(|error| raise_run(&reading.snapshot, error))?;
    let found = found.map_err(|ids| out_of_memory("vertex ids", ids))?;
    found.into_object(py, reading)
}

/// The result of a kernel.
struct Found {
    outcome: Outcome,
    /// The vertices of the kernel's graph; `None` for all vertices.
    vertices: Option<Vec<VertexId>>,
}

/// Returns the vertices of a view; `None` if it has all vertices of the snapshot.
pub(crate) fn some_vertices(
    snapshot: &hedgerow::Snapshot,
    count: usize,
    vertices: impl Iterator<Item = VertexId>,
) -> Option<Vec<VertexId>> {
    (count as u64 != snapshot.vertex_count()).then(|| vertices.collect())
}

impl Found {
    fn into_object(self, py: Python<'_>, reading: &Reading) -> PyResult<Py<PyAny>> {
        let rows = || reading.rows(py, self.vertices);
        match &self.outcome {
            Outcome::Hops(hops) => {
                let depth = |&depth: &u32| if depth == UNREACHED { -1 } else { i64::from(depth) };
                reading.per_vertex(py, &*rows()?, hops, depth)
            }
            Outcome::Distances(numbers) | Outcome::Scores(numbers) => {
                reading.per_vertex(py, &*rows()?, numbers, |&number: &f64| number)
            }
            Outcome::Estimates(numbers, estimate) => {
                let result = reading.per_vertex(py, &*rows()?, numbers, |&number: &f64| number)?;
                let arguments = PyDict::new(py);
                arguments.set_item("samples", estimate.samples)?;
                arguments.set_item("of", estimate.of)?;
                arguments.set_item("bound", estimate.bound())?;
                let estimate = make(py, "Estimate", &arguments)?;
                let _calling = calling(py);
                result.setattr(py, "estimate", estimate)?;
                Ok(result)
            }
            Outcome::Components(components) => reading.vertex_per_vertex(py, &*rows()?, components),
            Outcome::Communities(found) => {
                let result = reading.vertex_per_vertex(py, &*rows()?, &found.labels)?;
                let _calling = calling(py);
                result.setattr(py, "modularity", found.modularity)?;
                Ok(result)
            }
            Outcome::Labels(labels) => reading.vertex_per_vertex(py, &*rows()?, labels),
            Outcome::Numbers(numbers) => {
                reading.per_vertex(py, &*rows()?, numbers, |&number: &u32| i64::from(number))
            }
            Outcome::Paths(paths) => self::paths(py, reading, paths),
            Outcome::Edges(pairs) | Outcome::Pairs(pairs) => self::pairs(py, reading, pairs),
            Outcome::Vertices(vertices) | Outcome::Mates(vertices) => {
                vertex_or_none(py, reading, &*rows()?, vertices)
            }
            Outcome::Count(count) => Ok(count.into_pyobject(py)?.into_any().unbind()),
        }
    }
}

/// Returns `Paths` with external ids.
fn paths(py: Python<'_>, reading: &Reading, paths: &Paths) -> PyResult<Py<PyAny>> {
    let keys = parallel(py, || reading.snapshot.vertex_keys(paths.vertices())).map_err(raise)?;
    let offsets: Vec<i64> = std::iter::once(0).chain(paths.ends().iter().map(|&end| end as i64)).collect();
    let arguments = PyDict::new(py);
    {
        let _calling = calling(py);
        arguments.set_item("ids", keys_array(py, reading, keys)?)?;
    }
    arguments.set_item("offsets", offsets.into_pyarray(py))?;
    arguments.set_item("lengths", paths.lengths().to_vec().into_pyarray(py))?;
    arguments.set_item("count", paths.count())?;
    arguments.set_item("more", paths.more())?;
    make(py, "Paths", &arguments)
}

/// Returns `Pairs` with external ids.
fn pairs(py: Python<'_>, reading: &Reading, pairs: &Pairs) -> PyResult<Py<PyAny>> {
    let arguments = PyDict::new(py);
    for (name, vertices) in [("src", pairs.from()), ("dst", pairs.to())] {
        let keys = parallel(py, || reading.snapshot.vertex_keys(vertices)).map_err(raise)?;
        let _calling = calling(py);
        arguments.set_item(name, keys_array(py, reading, keys)?)?;
    }
    arguments.set_item("values", pairs.values().to_vec().into_pyarray(py))?;
    make(py, "Pairs", &arguments)
}

/// Returns a `VertexResult` whose values are external ids. A missing value is masked, or None among objects.
fn vertex_or_none(
    py: Python<'_>,
    reading: &Reading,
    vertices: &Vertices,
    values: &[u32],
) -> PyResult<Py<PyAny>> {
    let row = |v: &VertexId| match values[v.index()] {
        NO_VERTEX => NO_ROW,
        found => vertices.rows.of_vertex(found as usize),
    };
    let rows: Vec<i64> = py.detach(|| vertices.live.iter().map(row).collect());
    let values = match vertices.ids.bind(py).cast::<Ids>() {
        Ok(ids) => Bound::new(py, ids.get().take(rows))?.into_any(),
        Err(_) => {
            let missing: Vec<bool> = rows.iter().map(|&row| row == NO_ROW).collect();
            let named = reading.names(py, vertices, rows.into_iter().map(|row| row.max(0)).collect())?;
            let _calling = calling(py);
            imports::MASKED_ARRAYS.get(py)?.call_method1("MaskedArray", (named, missing.into_pyarray(py)))?
        }
    };
    let arguments = PyDict::new(py);
    arguments.set_item("ids", &vertices.ids)?;
    arguments.set_item("values", values)?;
    make(py, "VertexResult", &arguments)
}
