//! Answers with a limit: the first neighbors of a vertex, and vertices with given properties. They show
//! whether the limit left out others.

use hedgerow::{EdgeLimit, EdgeSelectionRef, FindOptions, Limited, Schema, Value, VertexKey};
use hedgerow_core::suggest::instead;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::ending::calling;
use crate::error::{DataError, raise};
use crate::key::{Key, Namer, read_limit, type_name};
use crate::neighbors::{Neighbor, Parts};
use crate::pool::cancellable;
use crate::results::make;
use crate::schema;
use crate::selection::Chosen;
use crate::snapshot::Snapshot;
use crate::value::{Cells, add, read};

/// Makes a `Limited`: a list, and a flag that is true if the limit left out others.
pub(crate) fn limited(py: Python<'_>, found: Vec<Py<PyAny>>, more: bool) -> PyResult<Py<PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item("found", found)?;
    arguments.set_item("more", more)?;
    make(py, "Limited", &arguments)
}

impl Snapshot {
    /// Returns the first of the chosen edges at a vertex as a `Limited`.
    pub(crate) fn first_neighbors(
        &self,
        py: Python<'_>,
        chosen: &Chosen,
        key: &Key,
        limit: usize,
        parts: Parts,
    ) -> PyResult<Py<PyAny>> {
        let reading = self.reading()?;
        let snapshot = &reading.snapshot;
        let wanted = EdgeLimit::first(limit);
        let wanted = if parts.properties { wanted } else { wanted.without_properties() };
        let first = |edges: EdgeSelectionRef<'_>| snapshot.first_edges(key.as_ref(), edges, wanted);
        let found = py.detach(|| chosen.with(first));
        let Limited { found, more } = found.map_err(raise)?.ok_or_else(|| key.no_such_vertex(self))?;
        let found: Vec<Neighbor> = Neighbor::all(found);
        let schema = parts.labels.then(|| snapshot.schema());
        let found = parts.list(py, self, &found, |id| schema::name(schema.as_ref(), None, id))?;
        limited(py, found, more)
    }
}

#[pymethods]
impl Snapshot {
    /// The vertices of a kind whose properties have all these values.
    ///
    /// The call scans all vertices, without an index. Later scans of the same snapshot are faster. To find
    /// one vertex fast, use its key. Ctrl-C ends the scan.
    ///
    /// Parameters
    /// ----------
    /// kind : str, optional
    ///     The kind of the vertices; the default one, ``""``, if not given.
    /// properties : mapping, optional
    ///     Values by property name, also for names that cannot be keyword arguments.
    /// limit : int, optional
    ///     The maximal number of vertices to return; the scan stops when it finds one more.
    /// **named
    ///     More values by property name. A vertex's value must be exactly equal; None selects vertices
    ///     without a value, and NaN equals nothing.
    ///
    /// Returns
    /// -------
    /// Limited
    ///     A list of vertex ids, as ``neighbors`` returns them, in the order of ``vertices``. Its attribute
    ///     ``more`` is True if the limit left out others.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such kind.
    /// DataError
    ///     No property is given, vertices of the kind have no such property, or its type differs from the
    ///     value's.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.add_vertices([1, 2, 3], properties={"name": ["Ann", "Bob", "Ann"], "age": [30, 41, None]})
    /// 3
    /// >>> g = db.snapshot()
    /// >>> g.find(name="Ann"), g.find(name="Ann", age=None)
    /// ([1, 3], [3])
    /// >>> first = g.find(name="Ann", limit=1)
    /// >>> first, first.more
    /// ([1], True)
    #[pyo3(signature = (kind=None, properties=None, *, limit=None, **named))]
    fn find(
        &self,
        py: Python<'_>,
        kind: Option<&str>,
        properties: Option<&Bound<'_, PyAny>>,
        limit: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let limit = limit.map(read_limit).transpose()?.unwrap_or(usize::MAX);
        let reading = self.reading()?;
        let schema = reading.snapshot.schema();
        let kind = schema.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        let wanted = wanted(py, &schema, kind, properties, named)?;
        if wanted.is_empty() {
            let what = "find needs a property and its value, as in find(name=\"Ann\"); vertices() gives all";
            return Err(DataError::new_err(what));
        }
        let snapshot = reading.snapshot.clone();
        let found = cancellable(py, &self.handle, move |cancel| {
            let until = || cancel.poll();
            let wanted: Vec<(&str, Value)> =
                wanted.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            snapshot.scan_vertices()?.find(kind, &wanted, FindOptions::new().limit(limit).until(&until))
        })?;
        let found = found.map_err(raise)?;
        let keys: &[VertexKey] = &found.found;
        limited(py, Namer::new(self).list(py, keys.iter().map(VertexKey::as_ref))?, found.more)
    }
}

/// Reads the property values that `find` searches for.
fn wanted(
    py: Python<'_>,
    schema: &Schema,
    kind: hedgerow::KindId,
    mapping: Option<&Bound<'_, PyAny>>,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Cells> {
    let _calling = calling(py);
    let mut given: Vec<(String, Bound<'_, PyAny>)> = Vec::new();
    if let Some(mapping) = mapping {
        let mapping = mapping.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err(format!("properties must be a mapping, found {}", type_name(mapping)))
        })?;
        for item in mapping.items()?.iter() {
            given.push(item.extract()?);
        }
    }
    for (name, value) in named.into_iter().flatten() {
        given.push((name.extract()?, value));
    }
    let mut cells = Cells::new();
    for (name, object) in given {
        let Some(property) = schema.vertex_property(kind, &name) else {
            let known: Vec<&str> =
                schema.vertex_properties_of(kind).map(|property| &**property.name()).collect();
            let of = match schema.kind_name(kind) {
                "" => "vertices".to_owned(),
                kind => format!("vertices of kind {kind}"),
            };
            let instead = instead(&name, &known, "properties");
            return Err(DataError::new_err(format!("{of} have no property {name:?}{instead}")));
        };
        let value = read(&format_args!("property {name}"), &object, Some(property.property_type()))?;
        add(&mut cells, name, value)?;
    }
    Ok(cells)
}
