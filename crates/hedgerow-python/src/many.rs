//! Answers about many vertices as columns: degrees, lists of neighbors, compressed rows, properties of all
//! vertices.

use std::sync::Arc;

use hedgerow::{
    CsrOptions, Direction, Expansion, KeyColumn, KeyKind, Kind, KindId, LabelRef, MissingVertex,
    NeighborLists, RowOrder, Topology, ValueRef, VertexKey, VertexKeyRef, WeightedTopology,
};
use hedgerow_core::suggest::did_you_mean;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::columns::Gather;
use crate::ending::calling;
use crate::error::{DataError, IntegrityError, raise};
use crate::heap::Keeping;
use crate::ids::{keys_array, read_only};
use crate::imports;
use crate::key_columns::Keys;
use crate::names::Names;
use crate::pool::{attended, parallel};
use crate::results::{Reading, make};
use crate::selection::Chosen;
use crate::value::WEIGHT;

/// Reads `"raise"` or `"empty"`.
pub(crate) fn missing(text: &str) -> PyResult<MissingVertex> {
    match text {
        "raise" => Ok(MissingVertex::Refuse),
        "empty" => Ok(MissingVertex::Empty),
        other => Err(DataError::new_err(format!("missing must be \"raise\" or \"empty\", found {other:?}"))),
    }
}

/// Reads `"id"` or `"key"`.
pub(crate) fn order(text: &str) -> PyResult<RowOrder> {
    match text {
        "id" => Ok(RowOrder::Id),
        "key" => Ok(RowOrder::Key),
        other => Err(DataError::new_err(format!("order must be \"id\" or \"key\", found {other:?}"))),
    }
}

/// Returns the exception for a failed read of many vertices, whose argument is called `name`.
pub(crate) fn refused(
    reading: &Reading,
    name: &str,
    (keys, kind): (&Keys, KindId),
    error: hedgerow::Error,
) -> PyErr {
    match &error {
        hedgerow::Error::Argument(hedgerow::ArgumentError::NoSuchVertex { row, .. }) if *row < keys.len() => {
            let shown = Names::of(Arc::new(reading.snapshot.schema())).shown(keys.of_kind_at(kind, *row));
            IntegrityError::new_err(format!("{name}[{row}]: no vertex {shown}"))
        }
        _ => raise(error),
    }
}

/// The vertices to read, and the choice of their edges.
pub(crate) struct Wanted {
    pub(crate) keys: Keys,
    /// The kind that the call states.
    pub(crate) kind: KindId,
    pub(crate) chosen: Chosen,
    pub(crate) missing: MissingVertex,
}

impl Wanted {
    fn degrees_by<'k, K: Into<VertexKeyRef<'k>> + Copy + Sync>(
        &self,
        snapshot: &hedgerow::Snapshot,
        keys: &[K],
    ) -> hedgerow::Result<Vec<u64>> {
        self.chosen.with(|edges| snapshot.degrees(keys, edges, self.missing))
    }

    fn lists_by<'k, K: Into<VertexKeyRef<'k>> + Copy + Sync>(
        &self,
        snapshot: &hedgerow::Snapshot,
        keys: &[K],
    ) -> hedgerow::Result<NeighborLists> {
        self.chosen.with(|edges| snapshot.neighbor_lists(keys, edges, self.missing))
    }

    /// Returns the read of the edges of these vertices.
    pub(crate) fn expand(&self, snapshot: &hedgerow::Snapshot) -> hedgerow::Result<Expansion> {
        match &self.keys {
            Keys::Numbers(numbers) if self.kind == KindId::DEFAULT => self.expansion(snapshot, numbers),
            keys => self.expansion(snapshot, &keys.of_kind(self.kind)),
        }
    }

    fn expansion<'k, K: Into<VertexKeyRef<'k>> + Copy + Sync>(
        &self,
        snapshot: &hedgerow::Snapshot,
        keys: &[K],
    ) -> hedgerow::Result<Expansion> {
        self.chosen.with(|edges| snapshot.expand(keys, edges, self.missing))
    }
}

fn contained<'k, K: Into<VertexKeyRef<'k>> + Copy + Sync>(
    snapshot: &hedgerow::Snapshot,
    label: Option<&str>,
    edges: &[(K, K)],
) -> hedgerow::Result<Vec<bool>> {
    match label {
        Some(label) => snapshot.contains_edges(edges, label),
        None => snapshot.contains_edges(edges, Direction::Out),
    }
}

impl Reading {
    /// Returns the degrees of vertices as an array.
    pub(crate) fn degrees(&self, py: Python<'_>, wanted: &Wanted) -> PyResult<Py<PyAny>> {
        let _keeping = Keeping::begin();
        self.reserve(wanted.keys.len(), wanted.keys.len().saturating_mul(40))?;
        let degrees = parallel(py, || match &wanted.keys {
            Keys::Numbers(numbers) if wanted.kind == KindId::DEFAULT => {
                wanted.degrees_by(&self.snapshot, numbers)
            }
            keys => wanted.degrees_by(&self.snapshot, &keys.of_kind(wanted.kind)),
        });
        let degrees: Vec<i64> = degrees
            .map_err(|error| refused(self, "keys", (&wanted.keys, wanted.kind), error))?
            .into_iter()
            .map(|degree| degree as i64)
            .collect();
        Ok(degrees.into_pyarray(py).into_any().unbind())
    }

    /// Returns an array of bools, true for each edge that exists.
    pub(crate) fn contains_edges(
        &self,
        py: Python<'_>,
        label: Option<&str>,
        [sources, destinations]: [Keys; 2],
    ) -> PyResult<Py<PyAny>> {
        let _keeping = Keeping::begin();
        self.reserve(sources.len(), sources.len().saturating_mul(64))?;
        let found = parallel(py, || match (&sources, &destinations) {
            (Keys::Numbers(sources), Keys::Numbers(destinations)) => {
                let pairs = sources.iter().copied().zip(destinations.iter().copied());
                contained(&self.snapshot, label, &pairs.collect::<Vec<_>>())
            }
            (sources, destinations) => {
                let pairs = (0..sources.len()).map(|at| (sources.at(at), destinations.at(at)));
                contained(&self.snapshot, label, &pairs.collect::<Vec<_>>())
            }
        });
        Ok(found.map_err(raise)?.into_pyarray(py).into_any().unbind())
    }

    /// Returns the neighbors of vertices as `NeighborLists`.
    pub(crate) fn neighbors_of(&self, py: Python<'_>, wanted: Wanted) -> PyResult<Py<PyAny>> {
        let _keeping = Keeping::begin();
        self.reserve(wanted.keys.len(), wanted.keys.len().saturating_mul(40))?;
        let lists = parallel(py, || match &wanted.keys {
            Keys::Numbers(numbers) if wanted.kind == KindId::DEFAULT => {
                wanted.lists_by(&self.snapshot, numbers)
            }
            keys => wanted.lists_by(&self.snapshot, &keys.of_kind(wanted.kind)),
        });
        let lists = lists.map_err(|error| refused(self, "keys", (&wanted.keys, wanted.kind), error))?;
        let arguments = PyDict::new(py);
        let ids = {
            let _calling = calling(py);
            match wanted.keys {
                Keys::Numbers(numbers) => numbers.into_pyarray(py).into_any(),
                Keys::Texts(texts) => {
                    let texts = texts.iter().map(|text| PyString::new(py, text).into_any().unbind());
                    texts.collect::<Vec<Py<PyAny>>>().into_pyarray(py).into_any()
                }
                Keys::Column(texts) => keys_array(py, self, KeyColumn::Str(texts))?,
                Keys::OfKinds(keys) => keys_array(py, self, KeyColumn::Kinds(keys))?,
            }
        };
        arguments.set_item("ids", ids)?;
        arguments.set_item("offsets", lists.offsets.into_pyarray(py))?;
        let neighbors = keys_array(py, self, lists.neighbors)?;
        arguments.set_item("neighbors", neighbors)?;
        make(py, "NeighborLists", &arguments)
    }

    /// Returns the edges of a label as `Csr`. Snapshots of one timestamp share it while Python code uses it.
    pub(crate) fn csr(
        &self,
        py: Python<'_>,
        label: Option<&str>,
        direction: Direction,
        order: RowOrder,
        weight: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let label = self.label(py, label)?;
        let store = self.origin.number;
        let is_out = direction == Direction::Out || !self.origin.config.directed;
        let by_key = order == RowOrder::Key;
        let key = (store, self.snapshot.timestamp().0, label.0, is_out, by_key, weight);
        let key = key.into_pyobject(py)?;
        let (copies, found) = {
            let _calling = calling(py);
            let copies = imports::RESULTS.get(py)?.getattr("_copies")?;
            let found = copies.call_method1("get", (&key,))?;
            (copies, found)
        };
        if !found.is_none() {
            return Ok(found.unbind());
        }
        let view = self.view(py, label, 0)?;
        let edges = view.directed_edges() as usize;
        let schema = self.snapshot.schema();
        let has_property = schema.label_by_id(label).is_some_and(|label| label.property(WEIGHT).is_some());
        let of_edge = if weight.is_some() || has_property || view.has_weights() { 12 } else { 4 };
        let ids = view.vertex_bound();
        drop(view);
        self.reserve(ids, edges.saturating_mul(of_edge).saturating_add(ids.saturating_mul(32)))?;
        let mut options = CsrOptions::new().direction(direction).order(order);
        if let Some(weight) = weight {
            options = options.weight(weight);
        }
        let snapshot = self.snapshot.clone();
        let made = attended(py, &self.origin, || (), move || snapshot.csr(LabelRef::Id(label), options));
        // The elements move into Python's arrays without a copy, unless a program in Rust uses them too.
        let csr = Arc::unwrap_or_clone(made?.map_err(raise)?);
        let has_all = csr.vertices.len() as u64 == self.snapshot.vertex_count();
        let keys = match order {
            _ if !has_all => {
                let _calling = calling(py);
                read_only(keys_array(py, self, csr.keys)?)?
            }
            RowOrder::Id => self.id_array(py, self.vertices(py)?)?,
            RowOrder::Key => {
                let vertices = self.vertices(py)?;
                let order = csr.vertices.iter().map(|v| vertices.rows.of_vertex(v.index())).collect();
                read_only(self.names(py, vertices, order)?)?
            }
        };
        let arguments = PyDict::new(py);
        arguments.set_item("ids", keys)?;
        arguments.set_item("offsets", read_only(csr.offsets.into_pyarray(py).into_any())?)?;
        arguments.set_item("targets", read_only(csr.targets.into_pyarray(py).into_any())?)?;
        let weights = csr.weights.map(|weights| read_only(weights.into_pyarray(py).into_any()));
        arguments.set_item("weights", weights.transpose()?)?;
        let made = make(py, "Csr", &arguments)?;
        let _calling = calling(py);
        Ok(copies.call_method1("setdefault", (key, made))?.unbind())
    }

    /// Returns the vertices of a kind with properties as a `VertexTable`; without a kind, the vertices of the
    /// default one.
    pub(crate) fn vertex_table(
        &self,
        py: Python<'_>,
        kind: Option<&str>,
        wanted: Option<Vec<String>>,
    ) -> PyResult<Py<PyAny>> {
        let schema = self.snapshot.schema();
        let kind = schema.find_kind(kind.unwrap_or_default()).map_err(raise)?;
        let (names, columns) = self.vertex_columns(py, Some(kind), wanted)?;
        let properties = PyDict::new(py);
        let types = PyDict::new(py);
        for (name, column) in names.iter().zip(columns) {
            types.set_item(name, column.kind().to_string())?;
            properties.set_item(name, column.finish(py)?)?;
        }
        let arguments = PyDict::new(py);
        let ids = if schema.kinds().is_empty() {
            self.id_array(py, self.vertices(py)?)?
        } else {
            self.ids_of(py, kind)?
        };
        arguments.set_item("ids", ids)?;
        arguments.set_item("properties", properties)?;
        arguments.set_item("types", types)?;
        arguments.set_item("kind", schema.kind_name(kind))?;
        make(py, "VertexTable", &arguments)
    }

    /// Returns the ids of the vertices of a kind, without their kind, in the order of results.
    fn ids_of<'py>(&self, py: Python<'py>, kind: KindId) -> PyResult<Bound<'py, PyAny>> {
        let keys = parallel(py, || self.snapshot.scan_vertices()?.keys()).map_err(raise)?.1;
        let of_kind: Vec<VertexKey> =
            keys.iter().filter(|key| key.kind() == kind).map(|key| key.split().1.to_owned()).collect();
        let number = |key: &VertexKey| if let VertexKey::U64(n) = key { Some(*n) } else { None };
        let numbers: Option<Vec<u64>> = of_kind.iter().map(number).collect();
        // If there are no vertices, the type of the keys determines the type of the array.
        let schema = self.snapshot.schema();
        let keys = schema.kind_by_id(kind).map_or(self.origin.config.keys, Kind::keys);
        match numbers.filter(|_| keys != KeyKind::Str) {
            Some(numbers) => Ok(numbers.into_pyarray(py).into_any()),
            None => keys_array(py, self, KeyColumn::Kinds(of_kind)),
        }
    }

    /// Returns values of properties, all if none are named, for the vertices of a kind in the order of
    /// results. Without a kind, the rows are all vertices, and the properties are the default kind's.
    pub(crate) fn vertex_columns(
        &self,
        py: Python<'_>,
        kind: Option<KindId>,
        wanted: Option<Vec<String>>,
    ) -> PyResult<(Vec<String>, Vec<Gather>)> {
        let schema = self.snapshot.schema();
        let defined: Vec<_> = schema.vertex_properties_of(kind.unwrap_or_default()).collect();
        let only = kind.filter(|_| !schema.kinds().is_empty());
        let of = match schema.kind_name(kind.unwrap_or_default()) {
            "" => "vertices".to_owned(),
            name => format!("vertices of kind {name}"),
        };
        let all = || defined.iter().map(|property| property.name().to_string()).collect();
        let names: Vec<String> = wanted.unwrap_or_else(all);
        let mut columns = Vec::new();
        for name in &names {
            let Some(property) = defined.iter().find(|property| &**property.name() == name) else {
                let known: Vec<&str> = defined.iter().map(|property| &**property.name()).collect();
                let near = did_you_mean(name, &known);
                return Err(DataError::new_err(format!("{of} have no property {name}{near}")));
            };
            columns.push((property.id(), Gather::new(property.property_type())));
        }
        self.vertex_view(py, 0)?;
        let read = py.detach(|| {
            self.snapshot.scan_vertices()?.try_for_each(|vertex| {
                if only.is_some_and(|kind| vertex.kind() != kind) {
                    return Ok::<_, hedgerow::Error>(());
                }
                for (property, column) in &mut columns {
                    let value: ValueRef<'_> = vertex.get(*property);
                    column.push(value);
                }
                Ok(())
            })
        });
        read.map_err(raise)?;
        Ok((names, columns.into_iter().map(|(_, column)| column).collect()))
    }
}
