//! Edges of a snapshot as objects of the package's Python half.

use hedgerow::{EdgeRow, Kind, Label, LabelId, PropertyId, PropertyType, Schema, ValueRef, VertexId};
use hedgerow_core::suggest::did_you_mean;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::Gather;
use crate::edge_columns::{EdgeColumns, EdgesShape};
use crate::ending::calling;
use crate::error::{DataError, raise};
use crate::ids::text_array;
use crate::result_rows::Rows;
use crate::results::{BYTES_PER_ROW, Reading, key_type, make};
use crate::selection::Chosen;
use crate::value::WEIGHT;

impl Reading {
    /// Returns the chosen edges as `Edges`.
    pub(crate) fn edges(&self, py: Python<'_>, weighted: bool, chosen: &Chosen) -> PyResult<Py<PyAny>> {
        self.vertex_view(py, BYTES_PER_ROW)?;
        let vertices = self.vertices(py)?;
        let schema = self.snapshot.schema();
        let labels: Vec<&Label> = match chosen.plain() {
            Some((Some(name), _)) => vec![schema.find_label(name).map_err(raise)?],
            _ => schema.labels().iter().filter(|label| chosen.names(label.name())).collect(),
        };
        // A property named weight without numbers is treated like any other property.
        let weights = |label: &&Label| match label.property(WEIGHT).map(|found| found.property_type()) {
            _ if weighted && label.id() == LabelId::DEFAULT => Some(true),
            Some(PropertyType::F64 | PropertyType::I64) => Some(true),
            Some(_) => Some(false),
            None => None,
        };
        let all_stored = weighted && labels.iter().all(|label| label.id() == LabelId::DEFAULT);
        let weights: Vec<bool> = labels.iter().filter_map(weights).collect();
        let shape = EdgesShape {
            weights: !weights.is_empty() && !weights.contains(&false),
            labels: schema.labels().len() > 1,
            ranks: labels.iter().any(|label| label.is_multi()),
        };
        let found = py.detach(|| {
            let edges = match chosen.plain() {
                Some((None, _)) => self.snapshot.edge_count().map_err(raise)?,
                _ => {
                    let counts = labels.iter().map(|&label| self.snapshot.edge_count_of(label));
                    counts.sum::<hedgerow::Result<u64>>().map_err(raise)?
                }
            };
            let columns = EdgeColumns::with_capacity(edges as usize, shape)?;
            match chosen.plain() {
                Some(_) if !shape.weights || all_stored => {
                    self.gather(&labels, shape, &vertices.rows, columns)
                }
                _ => self.gather_chosen(chosen, shape, &vertices.rows, columns),
            }
        })?;
        let arguments = PyDict::new(py);
        arguments.set_item("src", self.names(py, vertices, found.src)?)?;
        arguments.set_item("dst", self.names(py, vertices, found.dst)?)?;
        arguments.set_item("weights", shape.weights.then(|| found.weights.into_pyarray(py)))?;
        if shape.labels {
            arguments.set_item("labels", label_names(py, &schema, found.labels)?)?;
        }
        arguments.set_item("ranks", shape.ranks.then(|| found.ranks.into_pyarray(py)))?;
        make(py, "Edges", &arguments)
    }

    /// Returns all edges of these labels, label after label; endpoints are row numbers.
    fn gather(
        &self,
        labels: &[&Label],
        shape: EdgesShape,
        rows: &Rows,
        mut found: EdgeColumns,
    ) -> PyResult<EdgeColumns> {
        for label in labels {
            let mut push = |src: VertexId, dst: VertexId, rank, weight| {
                found.push(
                    shape,
                    label.id(),
                    (rows.of_vertex(src.index()), rows.of_vertex(dst.index())),
                    rank,
                    weight,
                );
            };
            let read = match label.id() {
                LabelId::DEFAULT => {
                    self.snapshot.default_label().for_each_edge(|src, dst, weight| push(src, dst, 0, weight))
                }
                id => self.snapshot.for_each_edge(id, |e| push(e.src(), e.dst(), e.rank(), e.weight())),
            };
            read.map_err(raise)?;
        }
        Ok(found)
    }

    /// Returns only the chosen edges of these labels, in the form of [`gather`](Self::gather).
    fn gather_chosen(
        &self,
        chosen: &Chosen,
        shape: EdgesShape,
        rows: &Rows,
        mut found: EdgeColumns,
    ) -> PyResult<EdgeColumns> {
        let push = |edge: EdgeRow<'_>| {
            let ends = (rows.of_vertex(edge.src().index()), rows.of_vertex(edge.dst().index()));
            found.push(shape, edge.label(), ends, edge.rank(), edge.weight());
        };
        let selection = chosen.selection();
        let selection = if shape.weights { selection.weighted_by(WEIGHT, Some(f64::NAN)) } else { selection };
        self.snapshot.for_each_edge(&selection, push).map_err(raise)?;
        Ok(found)
    }

    /// Returns the chosen edges as an `EdgeTable`. If several labels are chosen, the table contains the
    /// labels.
    pub(crate) fn edge_table(
        &self,
        py: Python<'_>,
        chosen: &Chosen,
        wanted: Option<Vec<String>>,
    ) -> PyResult<Py<PyAny>> {
        let view = self.vertex_view(py, BYTES_PER_ROW)?;
        let vertices = self.vertices(py)?;
        let schema = self.snapshot.schema();
        let labels = match &chosen.labels {
            None => vec![schema.find_label(self.label(py, None)?).map_err(raise)?],
            Some(names) => names.find(&schema)?,
        };
        let weighted = view.has_weights();
        let mut table = Table::new(&labels, weighted, wanted)?;
        let (mut src, mut dst, mut ranks, mut of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (multi, several) = (labels.iter().any(|label| label.is_multi()), labels.len() > 1);
        // Without a named label, the choice takes all, of which only this one has edges.
        let read = py.detach(|| {
            self.snapshot.for_each_edge(&chosen.selection(), |edge| {
                let Some(nth) = labels.iter().position(|label| label.id() == edge.label()) else { return };
                src.push(vertices.rows.of_vertex(edge.src().index()));
                dst.push(vertices.rows.of_vertex(edge.dst().index()));
                if multi {
                    ranks.push(edge.rank());
                }
                if several {
                    of.push(i64::from(edge.label().0));
                }
                table.push(nth, &edge);
            })
        });
        read.map_err(raise)?;
        let (properties, types) = (PyDict::new(py), PyDict::new(py));
        for (name, column) in table.names.iter().zip(table.columns) {
            types.set_item(name, column.kind().to_string())?;
            properties.set_item(name, column.finish(py)?)?;
        }
        let arguments = PyDict::new(py);
        arguments.set_item("src", self.names(py, vertices, src)?)?;
        arguments.set_item("dst", self.names(py, vertices, dst)?)?;
        arguments.set_item("ranks", multi.then(|| ranks.into_pyarray(py)))?;
        arguments.set_item("properties", properties)?;
        arguments.set_item("types", types)?;
        arguments.set_item("kinds", !schema.kinds().is_empty())?;
        arguments.set_item("key_types", self.key_types(&schema, &labels))?;
        arguments.set_item("labels", if several { Some(label_names(py, &schema, of)?) } else { None })?;
        make(py, "EdgeTable", &arguments)
    }

    /// Returns the types of the ids at both ends of edges. All labels must state the kinds of their ends,
    /// with equal types of ids.
    fn key_types(&self, schema: &Schema, labels: &[&Label]) -> Option<(&'static str, &'static str)> {
        let of = |kind| key_type(schema.kind_by_id(kind).map_or(self.origin.config.keys, Kind::keys));
        let mut types = labels.iter().map(|label| label.ends().map(|[src, dst]| (of(src), of(dst))));
        let first = types.next().flatten()?;
        types.all(|other| other == Some(first)).then_some(first)
    }
}

/// Returns an array of label names, one for each label number in `of`.
fn label_names<'py>(py: Python<'py>, schema: &Schema, of: Vec<i64>) -> PyResult<Bound<'py, PyAny>> {
    let _calling = calling(py);
    let names = text_array(py, schema.labels().iter().map(|label| &**label.name()));
    names.call_method1("take", (of.into_pyarray(py),))
}

/// The source of a label's values in a column: the column's name means a property, the weight, or nothing.
#[derive(Clone, Copy)]
enum Cell {
    Nothing,
    Weight,
    Property(PropertyId, PropertyType),
}

impl Cell {
    fn of(label: &Label, weighted: bool, name: &str) -> Cell {
        match label.property(name) {
            _ if weighted && label.name().is_empty() && name == WEIGHT => Cell::Weight,
            Some(property) => Cell::Property(property.id(), property.property_type()),
            None => Cell::Nothing,
        }
    }

    fn kind(self) -> Option<PropertyType> {
        match self {
            Cell::Nothing => None,
            Cell::Weight => Some(PropertyType::F64),
            Cell::Property(_, kind) => Some(kind),
        }
    }

    fn of_edge<'a>(self, edge: &EdgeRow<'a>) -> ValueRef<'a> {
        match self {
            Cell::Nothing => ValueRef::Null,
            Cell::Weight => ValueRef::F64(edge.weight()),
            Cell::Property(id, _) => edge.get(id),
        }
    }
}

/// The property columns of an edge table, while it is being filled.
struct Table {
    names: Vec<String>,
    columns: Vec<Gather>,
    /// The source of values for each label, in each column.
    cells: Vec<Vec<Cell>>,
}

impl Table {
    fn new(labels: &[&Label], weighted: bool, wanted: Option<Vec<String>>) -> PyResult<Table> {
        let mut known: Vec<&str> = Vec::new();
        for label in labels {
            let weight = Some(WEIGHT).filter(|_| weighted && label.name().is_empty()).into_iter();
            for name in weight.chain(label.properties().iter().map(|property| &**property.name())) {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        let names = wanted.unwrap_or_else(|| known.iter().map(|&name| name.to_owned()).collect());
        let mut columns = Vec::new();
        for name in &names {
            let mut types =
                labels.iter().filter_map(|label| Some((label, Cell::of(label, weighted, name).kind()?)));
            let Some((first, kind)) = types.next() else {
                return Err(no_such_property(labels, name, &known));
            };
            if let Some((other, another)) = types.find(|(_, another)| *another != kind) {
                let (first, other) = (first.name(), other.name());
                let types = format!("is {kind} of label {first:?} and {another} of label {other:?}");
                let what =
                    format!("property {name} {types}: name other properties with properties=, or one label");
                return Err(DataError::new_err(what));
            }
            columns.push(Gather::new(kind));
        }
        let cells = |label: &&Label| names.iter().map(|name| Cell::of(label, weighted, name)).collect();
        let cells = labels.iter().map(cells).collect();
        Ok(Table { names, columns, cells })
    }

    fn push(&mut self, nth: usize, edge: &EdgeRow<'_>) {
        for (column, cell) in self.columns.iter_mut().zip(&self.cells[nth]) {
            column.push(cell.of_edge(edge));
        }
    }
}

fn no_such_property(labels: &[&Label], name: &str, known: &[&str]) -> PyErr {
    let near = did_you_mean(name, known);
    let shown: Vec<String> = labels.iter().map(|label| format!("{:?}", label.name())).collect();
    DataError::new_err(match &shown[..] {
        [label] => format!("label {label} has no property {name}{near}"),
        labels => format!("none of the labels {} has a property {name}{near}", labels.join(", ")),
    })
}
