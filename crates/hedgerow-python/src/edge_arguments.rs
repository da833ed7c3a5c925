//! Edges in the arguments of a method, and the values of edges.

use hedgerow::{EdgeKey, EdgePattern, Label, PropertyType, Value};
use hedgerow_core::faults::{self, PlantedFault};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat};

use crate::ending::calling;
use crate::error::{DataError, NotSupportedError, text_of, told};
use crate::handle::{Handle, Origin};
use crate::key::{Key, type_name};
use crate::names::Kinds;
use crate::value::{Cells, Owner, WEIGHT, add, read, read_cells};

/// An edge that the arguments of a method name.
pub(crate) struct Edge<'a> {
    pub(crate) src: Key,
    pub(crate) dst: Key,
    pub(crate) label: &'a str,
    pub(crate) rank: u64,
}

impl<'a> Edge<'a> {
    pub(crate) fn read(
        origin: &Origin,
        kinds: &impl Kinds,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&'a str>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Edge<'a>> {
        let (src, dst) = read_ends(origin, kinds, src, dst)?;
        let label = label.unwrap_or("");
        let rank = match rank {
            Some(rank) => read_rank(rank)?,
            None if !label.is_empty() && has_ranks(kinds, label)? => {
                let what = format!(
                    "label {label:?} is multi: name its edge by rank= too; add_edges without ranks= gives each row one"
                );
                return Err(DataError::new_err(what));
            }
            None => 0,
        };
        Ok(Edge { src, dst, label, rank })
    }

    pub(crate) fn key(&self) -> EdgeKey<'_> {
        EdgeKey::new(self.label, self.src.as_ref(), self.dst.as_ref()).rank(self.rank)
    }

    /// True for an edge of the default label without a rank.
    pub(crate) fn is_plain(&self) -> bool {
        self.label.is_empty() && self.rank == 0
    }
}

/// The edges between two vertices that the arguments of a method name. If label or rank is left out, it may
/// be any.
pub(crate) struct AnyEdge<'a> {
    src: Key,
    dst: Key,
    label: Option<&'a str>,
    rank: Option<u64>,
}

impl<'a> AnyEdge<'a> {
    pub(crate) fn read(
        origin: &Origin,
        kinds: &impl Kinds,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<&'a str>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<AnyEdge<'a>> {
        let (src, dst) = read_ends(origin, kinds, src, dst)?;
        Ok(AnyEdge { src, dst, label, rank: rank.map(read_rank).transpose()? })
    }

    pub(crate) fn pattern(&self) -> EdgePattern<'_> {
        let edges = EdgePattern::between(self.src.as_ref(), self.dst.as_ref());
        let edges = self.label.map_or(edges, |label| edges.label(label));
        self.rank.map_or(edges, |rank| edges.rank(rank))
    }
}

fn read_ends(
    origin: &Origin,
    kinds: &impl Kinds,
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
) -> PyResult<(Key, Key)> {
    origin.check_process()?;
    let keys = origin.config.keys;
    Ok((Key::read(keys, kinds, src)?, Key::read(keys, kinds, dst)?))
}

pub(crate) fn read_rank(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    if object.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a rank is an int, found bool"));
    }
    let py = object.py();
    let wrong = |error: &PyErr| match error.is_instance_of::<PyOverflowError>(py) {
        true => {
            let rank = text_of(object);
            DataError::new_err(format!("rank {rank} is out of range: ranks are 0 to 2**64 - 1"))
        }
        false => PyTypeError::new_err(format!("a rank is an int, found {}", type_name(object))),
    };
    object.extract().map_err(|error| told(py, error, wrong))
}

/// Reads the values that the arguments give an edge: properties, and the argument `weight`. With a label,
/// `weight` is the property of this name, otherwise the edge's weight in a weighted graph.
pub(crate) fn edge_cells(
    handle: &Handle,
    edge: &Edge<'_>,
    weight: Option<f64>,
    mapping: Option<&Bound<'_, PyAny>>,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Cells> {
    let mut cells = read_cells(handle, Owner::Edges(edge.label), mapping, named)?;
    if let Some(weight) = weight {
        if edge.label.is_empty() && !handle.config.weighted {
            return Err(NotSupportedError::new_err("the graph has no weights"));
        }
        add(&mut cells, WEIGHT.to_owned(), Value::F64(weight))?;
    }
    Ok(cells)
}

/// The argument `weight`: a number that is exactly a float.
pub(crate) struct Weight(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Weight {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Weight> {
        if let Ok(number) = object.cast::<PyFloat>() {
            return Ok(Weight(number.value()));
        }
        let _calling = calling(object.py());
        match read(&"weight", &object, Some(PropertyType::F64))? {
            Value::F64(weight) => Ok(Weight(weight)),
            _ => Err(PyTypeError::new_err(format!("a weight is a number, found {}", type_name(&object)))),
        }
    }
}

/// Returns the number of edges of a label in a snapshot; 0 if the label was defined later.
pub(crate) fn edges_so_far(snapshot: &hedgerow::Snapshot, label: &str) -> hedgerow::Result<u64> {
    match snapshot.edge_count_of(label) {
        Err(hedgerow::Error::Argument(hedgerow::ArgumentError::NoSuchLabel { .. })) => Ok(0),
        counted => counted,
    }
}

/// True if the label is `multi`, so that an edge is named by its ends and its rank.
pub(crate) fn has_ranks(kinds: &impl Kinds, label: &str) -> PyResult<bool> {
    let is_multi = kinds.kind_schema()?.label(label).is_some_and(Label::is_multi);
    Ok(is_multi && !faults::is_on(PlantedFault::ParallelEdgesMerged))
}
