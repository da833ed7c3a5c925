//! Which edges a read takes, as keyword arguments say it: `label`, `direction`, `rank_range`, `where`; and `kinds`, over which vertices a kernel runs.

use hedgerow::{
    Comparison, Direction, EdgeDirection, EdgeSelection, KindId, Label, PropertyType, Schema, Value, ValueRef,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDict, PyString, PyTuple, PyTzInfo};

use crate::arrays::{exact, not_exact};
use crate::edge_arguments;
use crate::ending::calling;
use crate::error::{DataError, raise, told};
use crate::handle::Origin;
use crate::key::{shown, type_name};
use crate::value::{self, WEIGHT};

/// The argument `label`: a name, or several.
pub(crate) struct Labels(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for Labels {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Labels> {
        names("label", object).map(Labels)
    }
}

/// The argument `kinds`: a name, or several.
pub(crate) struct VertexKinds(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for VertexKinds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<VertexKinds> {
        names("kinds", object).map(VertexKinds)
    }
}

/// A name, or several.
fn names(argument: &str, object: Borrowed<'_, '_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(name) = object.cast::<PyString>() {
        return Ok(vec![name.to_str()?.to_owned()]);
    }
    let _calling = calling(object.py());
    let wrong = |object: &Bound<'_, PyAny>| {
        let found = shown(object);
        PyTypeError::new_err(format!("{argument} must be a str or a sequence of str, found {found}"))
    };
    let mut names = object.try_iter().map_err(|error| told(object.py(), error, |_| wrong(&object)))?;
    let name = |name: PyResult<Bound<'_, PyAny>>| {
        let name = name?;
        name.extract::<String>().map_err(|error| told(name.py(), error, |_| wrong(&name)))
    };
    // Without the estimate of the length: PyO3 drops Ctrl-C that comes in its Python code.
    std::iter::from_fn(|| names.next()).map(name).collect()
}

impl Labels {
    /// The labels of these names, each once, in the order of their definition.
    pub(crate) fn find<'s>(&self, schema: &'s Schema) -> PyResult<Vec<&'s Label>> {
        if self.0.is_empty() {
            return Err(DataError::new_err("no label is named: name one, or take all"));
        }
        let found = self.0.iter().map(|name| schema.find_label(name.as_str()).map_err(raise));
        let mut found = found.collect::<PyResult<Vec<&Label>>>()?;
        found.sort_by_key(|label| label.id());
        found.dedup_by_key(|label| label.id());
        Ok(found)
    }

    /// The kind of vertices that all these labels say for the ends at which edges are read: sources, destinations, or both.
    pub(crate) fn kind_at(&self, schema: &Schema, direction: Option<Direction>) -> Option<KindId> {
        let mut kinds = Vec::new();
        for name in &self.0 {
            let [src, dst] = schema.label(name)?.ends()?;
            match direction {
                Some(Direction::Out) => kinds.push(src),
                Some(Direction::In) => kinds.push(dst),
                None => kinds.extend([src, dst]),
            }
        }
        kinds.dedup();
        if let [kind] = kinds[..] { Some(kind) } else { None }
    }

    /// The name, if it is one.
    pub(crate) fn one(&self) -> Option<&str> {
        if let [name] = &self.0[..] { Some(name) } else { None }
    }
}

/// The argument `rank_range`: the first rank, and the one behind the last.
pub(crate) struct RankRange(Option<u64>, Option<u64>);

impl<'py> FromPyObject<'_, 'py> for RankRange {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<RankRange> {
        let _calling = calling(object.py());
        let (first, stop): (Option<Bound<'_, PyAny>>, Option<Bound<'_, PyAny>>) =
            object.extract().map_err(|error| {
                told(object.py(), error, |_| {
                    let found = type_name(&object);
                    PyTypeError::new_err(format!("rank_range must be a tuple (first, stop), found {found}"))
                })
            })?;
        let rank = |rank: Bound<'_, PyAny>| edge_arguments::read_rank(&rank);
        Ok(RankRange(first.map(rank).transpose()?, stop.map(rank).transpose()?))
    }
}

/// The argument `where`: a property, a comparison and a value.
pub(crate) struct Where(String, Comparison, Value);

impl<'py> FromPyObject<'_, 'py> for Where {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Where> {
        let _calling = calling(object.py());
        let wrong = |_| {
            let found = shown(&object);
            PyTypeError::new_err(format!(
                "where must be a tuple (property, comparison, value), found {found}"
            ))
        };
        let parts = object.cast::<PyTuple>().map_err(|_| wrong(()))?;
        let (name, symbol, value): (String, String, Bound<'_, PyAny>) =
            parts.extract().map_err(|_| wrong(()))?;
        let Some(comparison) = Comparison::from_symbol(&symbol) else {
            let known: Vec<&str> = Comparison::ALL.iter().map(|comparison| comparison.symbol()).collect();
            let known = known.join(", ");
            return Err(DataError::new_err(format!("where compares with one of {known}, found {symbol:?}")));
        };
        let value = value::read(&format_args!("where: property {name}"), &in_utc(value)?, None)?;
        Ok(Where(name, comparison, value))
    }
}

impl Where {
    /// The name of the property.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// Whether a value compares so.
    pub(crate) fn passes(&self, found: ValueRef<'_>) -> bool {
        self.1.holds(found, self.2.as_ref())
    }
}

/// A time that says no zone as one in UTC, and a date as its midnight: so are columns of them read. Other objects as they are.
fn in_utc(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = object.py();
    if object.is_instance_of::<PyDateTime>() {
        if !object.call_method0("utcoffset")?.is_none() {
            return Ok(object);
        }
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", PyTzInfo::utc(py)?)?;
        return object.call_method("replace", (), Some(&zone));
    }
    if object.is_instance_of::<PyDate>() {
        let part = |name: &str| object.getattr(name);
        let class = py.get_type::<PyDateTime>();
        return in_utc(class.call1((part("year")?, part("month")?, part("day")?))?);
    }
    Ok(object)
}

/// The time that a text in the form of ISO 8601 says, in UTC unless it says a zone.
fn time_of(name: &str, text: &str) -> PyResult<Value> {
    Python::attach(|py| {
        let _calling = calling(py);
        // Python leaves out digits behind the sixth.
        let digits =
            text.split_once('.').map_or(0, |(_, after)| after.bytes().take_while(u8::is_ascii_digit).count());
        let time = py.get_type::<PyDateTime>().call_method1("fromisoformat", (text,));
        match time.ok().filter(|_| digits <= 6) {
            Some(time) => value::read(&format_args!("where: property {name}"), &in_utc(time)?, None),
            None => Err(DataError::new_err(format!(
                "where: property {name} holds times, and {text:?} is none in ISO 8601, to the microsecond"
            ))),
        }
    })
}

/// What a read takes.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) labels: Option<Labels>,
    pub(crate) direction: EdgeDirection,
    pub(crate) ranks: Option<RankRange>,
    pub(crate) filter: Option<Where>,
    /// The property that an edge weighs.
    pub(crate) weight: Option<String>,
    /// The kinds of the vertices of a kernel's graph, where the call names them.
    pub(crate) kinds: Option<Vec<KindId>>,
}

impl Chosen {
    /// Of the edges along their direction.
    pub(crate) fn new(
        origin: &Origin,
        schema: &Schema,
        labels: Option<Labels>,
        ranks: Option<RankRange>,
        filter: Option<Where>,
    ) -> PyResult<Chosen> {
        let mut chosen = Chosen { labels, ranks, filter, ..Chosen::default() };
        chosen.adapt(schema, origin.config.weighted)?;
        Ok(chosen)
    }

    /// With the vertices of these kinds, if some are named.
    pub(crate) fn in_kinds(self, schema: &Schema, kinds: Option<VertexKinds>) -> PyResult<Chosen> {
        let id = |name: &String| schema.find_kind(name).map_err(raise);
        let kinds = kinds.map(|VertexKinds(names)| names.iter().map(id).collect()).transpose()?;
        Ok(Chosen { kinds, ..self })
    }

    pub(crate) fn in_direction(self, direction: EdgeDirection) -> Chosen {
        Chosen { direction, ..self }
    }

    /// The label and the direction, where all edges of one label, or of all labels, are read in one direction.
    pub(crate) fn plain(&self) -> Option<(Option<&str>, Direction)> {
        let direction = self.one_way()?;
        let all = self.ranks.is_none() && self.filter.is_none();
        let label = self.labels.as_ref().map(Labels::one);
        match label {
            Some(None) => None,
            label => all.then_some((label.flatten(), direction)),
        }
    }

    /// Along the edges or against them, where it is one way.
    pub(crate) fn one_way(&self) -> Option<Direction> {
        match self.direction {
            EdgeDirection::Out => Some(Direction::Out),
            EdgeDirection::In => Some(Direction::In),
            EdgeDirection::Both => None,
        }
    }

    /// Whether the edges of a label are read.
    pub(crate) fn names(&self, label: &str) -> bool {
        self.labels.as_ref().is_none_or(|Labels(labels)| labels.iter().any(|name| name == label))
    }

    /// Whether the edges of a rank are read.
    pub(crate) fn has_rank(&self, rank: u64) -> bool {
        let Some(RankRange(first, stop)) = self.ranks else { return true };
        first.is_none_or(|first| first <= rank) && stop.is_none_or(|stop| rank < stop)
    }

    /// An int that is compared with floats becomes one, as in writes; a text that is compared with times a time.
    fn adapt(&mut self, schema: &Schema, weighted: bool) -> PyResult<()> {
        let Some(Where(name, _, value)) = &mut self.filter else { return Ok(()) };
        let of_label = |label: &Label| match &self.labels {
            None => true,
            Some(Labels(labels)) => labels.iter().any(|name| **name == **label.name()),
        };
        let mut kinds = schema.labels().iter().filter(|label| of_label(label)).filter_map(|label| {
            let weight = weighted && label.name().is_empty() && name == WEIGHT;
            let kind = label.property(name).map(|property| property.property_type());
            if weight { Some(PropertyType::F64) } else { kind }
        });
        match (&*value, kinds.next()) {
            (&Value::I64(number), Some(PropertyType::F64)) => {
                let name = format!("where: property {name}");
                *value = Value::F64(exact(number).ok_or_else(|| not_exact(&name, number))?);
            }
            (Value::Utf8(text), Some(PropertyType::Timestamp)) => *value = time_of(name, text)?,
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn selection(&self) -> EdgeSelection<'_> {
        let mut selection = match &self.labels {
            None => EdgeSelection::all(),
            Some(Labels(names)) => EdgeSelection::of_labels(names.iter().map(String::as_str)),
        };
        if let Some(RankRange(first, stop)) = self.ranks {
            selection = match stop {
                Some(stop) => selection.ranks(first.unwrap_or(0)..stop),
                None => selection.ranks(first.unwrap_or(0)..),
            };
        }
        if let Some(Where(name, comparison, value)) = &self.filter {
            selection = selection.filter(name, *comparison, value.clone());
        }
        if let Some(property) = &self.weight {
            selection = selection.weighted_by(property, None);
        }
        if let Some(kinds) = &self.kinds {
            selection = selection.kinds(kinds.iter().copied());
        }
        selection.direction(self.direction)
    }
}

/// The argument `direction`, where both are possible.
pub(crate) fn direction(text: &str) -> PyResult<EdgeDirection> {
    match text {
        "out" => Ok(EdgeDirection::Out),
        "in" => Ok(EdgeDirection::In),
        "both" => Ok(EdgeDirection::Both),
        other => {
            let text = format!("direction must be \"out\", \"in\" or \"both\", found {other:?}");
            Err(DataError::new_err(text))
        }
    }
}
