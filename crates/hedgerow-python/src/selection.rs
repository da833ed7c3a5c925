//! The edges that a read takes, by the keyword arguments `label`, `direction`, `rank_range` and `where`.
//! Kernels also have `kinds`, the vertices of their graph.

use hedgerow::{
    Direction, EdgeDirection, EdgeSelection, EdgeSelectionRef, KindId, Label, Predicate, PropertyType, Schema,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::edge_arguments;
use crate::ending::calling;
use crate::error::{DataError, raise, told};
pub(crate) use crate::filter::Where;
use crate::handle::Origin;
use crate::key::{shown, type_name};
use crate::value::WEIGHT;

/// The argument `label`: one name or several.
pub(crate) struct Labels(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for Labels {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Labels> {
        names("label", object).map(Labels)
    }
}

/// The argument `kinds`: one name or several.
pub(crate) struct VertexKinds(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for VertexKinds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<VertexKinds> {
        names("kinds", object).map(VertexKinds)
    }
}

/// Reads one name or several.
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
    // The length of the iterator is not estimated. The estimate runs Python code, and PyO3 drops a Ctrl-C
    // that arrives in it.
    std::iter::from_fn(|| names.next()).map(name).collect()
}

impl Labels {
    /// Names one label.
    pub(crate) fn of(name: &str) -> Labels {
        Labels(vec![name.to_owned()])
    }

    /// Returns the labels with these names, without repetition, in the order of their definition.
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

    /// Returns the kind of vertices at which edges are read: the kind that all these labels state for their
    /// sources, destinations, or both.
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

    /// Returns the name, if there is only one.
    pub(crate) fn one(&self) -> Option<&str> {
        if let [name] = &self.0[..] { Some(name) } else { None }
    }
}

/// The argument `rank_range`: the first rank, and the rank after the last one.
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

/// The edges that a read takes, as a choice.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) labels: Option<Labels>,
    pub(crate) direction: EdgeDirection,
    pub(crate) ranks: Option<RankRange>,
    /// The predicate that must be true for an edge's properties.
    pub(crate) predicate: Option<Predicate>,
    /// The property that is the weight of an edge.
    pub(crate) weight: Option<String>,
    /// The kinds of the vertices of a kernel's graph, if the call names them.
    pub(crate) kinds: Option<Vec<KindId>>,
}

impl Chosen {
    /// Returns the choice of edges without restriction to kinds of vertices.
    pub(crate) fn new(
        origin: &Origin,
        schema: &Schema,
        labels: Option<Labels>,
        ranks: Option<RankRange>,
        filter: Option<Where>,
    ) -> PyResult<Chosen> {
        let kind_of = |name: &str| type_of(schema, labels.as_ref(), origin.config.weighted, name);
        let predicate = filter.map(|filter| filter.predicate(kind_of)).transpose()?;
        Ok(Chosen { labels, ranks, predicate, ..Chosen::default() })
    }

    /// Returns the choice restricted to vertices of these kinds, if kinds are named.
    pub(crate) fn in_kinds(self, schema: &Schema, kinds: Option<VertexKinds>) -> PyResult<Chosen> {
        let id = |name: &String| schema.find_kind(name).map_err(raise);
        let kinds = kinds.map(|VertexKinds(names)| names.iter().map(id).collect()).transpose()?;
        Ok(Chosen { kinds, ..self })
    }

    pub(crate) fn in_direction(self, direction: EdgeDirection) -> Chosen {
        Chosen { direction, ..self }
    }

    /// Returns the label and the direction of a read in one direction that takes all edges of one label, or
    /// of all labels.
    pub(crate) fn plain(&self) -> Option<(Option<&str>, Direction)> {
        let direction = self.one_way()?;
        let all = self.ranks.is_none() && self.predicate.is_none();
        let label = self.labels.as_ref().map(Labels::one);
        match label {
            Some(None) => None,
            label => all.then_some((label.flatten(), direction)),
        }
    }

    /// Calls `f` with the choice in its shortest form.
    pub(crate) fn with<R>(&self, f: impl FnOnce(EdgeSelectionRef<'_>) -> R) -> R {
        match self.plain() {
            Some((Some(label), direction)) => f((label, direction).into()),
            Some((None, direction)) => f(direction.into()),
            None => f((&self.selection()).into()),
        }
    }

    /// Returns the direction, unless it is both.
    pub(crate) fn one_way(&self) -> Option<Direction> {
        match self.direction {
            EdgeDirection::Out => Some(Direction::Out),
            EdgeDirection::In => Some(Direction::In),
            EdgeDirection::Both => None,
        }
    }

    /// True if the read takes edges of the label.
    pub(crate) fn names(&self, label: &str) -> bool {
        self.labels.as_ref().is_none_or(|Labels(labels)| labels.iter().any(|name| name == label))
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
        if let Some(predicate) = &self.predicate {
            selection = selection.matching(predicate.clone());
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

/// Returns the type of a property in the first of `labels` that has it. Without labels, all labels are
/// searched.
fn type_of(schema: &Schema, labels: Option<&Labels>, weighted: bool, name: &str) -> Option<PropertyType> {
    let is_meant = |label: &&Label| match labels {
        None => true,
        Some(Labels(labels)) => labels.iter().any(|name| **name == **label.name()),
    };
    schema.labels().iter().filter(is_meant).find_map(|label| {
        let weight = weighted && label.name().is_empty() && name == WEIGHT;
        let kind = label.property(name).map(|property| property.property_type());
        if weight { Some(PropertyType::F64) } else { kind }
    })
}

/// Reads the argument `direction` of a call that accepts `"both"`.
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
