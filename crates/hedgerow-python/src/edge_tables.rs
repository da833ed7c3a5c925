//! The two forms of `add_edges`: columns one by one, or a table of another library.

use arrow_array::RecordBatch;
use hedgerow::{KeyKind, KindId, Label, Schema, VertexKey, VertexKeyRef};
use hedgerow_arrow::read::{self, Faults};
use hedgerow_core::key::MAX_KEY_BYTES;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::bulk::{Arguments, EdgeParts, Edges};
use crate::edge_arguments::has_ranks;
use crate::error::{DataError, NotSupportedError};
use crate::frames::{self, Table, column, in_column, is_table, read_properties};
use crate::handle::Handle;
use crate::key::type_name;
use crate::key_columns::{Keys, key_types};
use crate::names::Kinds;
use crate::value::{Owner, Types, WEIGHT};

/// The usual columns of a table of edges, as `edge_stream` names them.
const KIND_COLUMNS: [&str; 2] = ["src_kind", "dst_kind"];
const RANK: &str = "rank";

/// The arguments of `add_edges`, in either form.
pub(crate) struct EdgeCall<'a, 'py> {
    /// The arguments without a name.
    pub(crate) given: &'a Bound<'py, PyTuple>,
    pub(crate) src: Option<&'a Bound<'py, PyAny>>,
    pub(crate) dst: Option<&'a Bound<'py, PyAny>>,
    pub(crate) weights: Option<&'a Bound<'py, PyAny>>,
    pub(crate) ranks: Option<&'a Bound<'py, PyAny>>,
    pub(crate) weight: Option<&'a str>,
    pub(crate) rank: Option<&'a str>,
    pub(crate) label: Option<&'a str>,
    pub(crate) properties: Option<&'a Bound<'py, PyAny>>,
}

/// The form of a call.
pub(crate) enum EdgeForm<'a, 'py> {
    Columns(Arguments<'a, 'py>),
    Table(EdgeTable<'a>),
}

impl<'a, 'py> EdgeCall<'a, 'py> {
    /// Decides the form of the call, and finds the columns of a table.
    pub(crate) fn form(self, handle: &Handle) -> PyResult<EdgeForm<'a, 'py>> {
        match self.given.iter().next() {
            Some(first) if is_table(&first)? => self.table(handle, &first).map(EdgeForm::Table),
            _ => self.columns().map(EdgeForm::Columns),
        }
    }

    fn columns(self) -> PyResult<Arguments<'a, 'py>> {
        let refuse = |what: &str| Err(PyTypeError::new_err(format!("add_edges() {what}")));
        let names_columns =
            [self.src, self.dst].into_iter().flatten().any(|end| end.is_instance_of::<PyString>());
        if let (true, Ok(only)) = (names_columns, self.given.get_item(0)) {
            let found = type_name(&only);
            return refuse(&format!(
                "src= and dst= name columns of a table, and {found} is no table with an Arrow stream: a lazy frame is one after \
                 collect(), and polars.DataFrame(...) makes one of a dict"
            ));
        }
        if self.weight.is_some() || self.rank.is_some() {
            return refuse(
                "got weight= or rank=, the names of a table's columns, but no table: columns are weights= and ranks=",
            );
        }
        let mut given = self.given.iter();
        let mut next = |name: &str, named: Option<&Bound<'py, PyAny>>| match (given.next(), named) {
            (Some(_), Some(_)) => {
                Err(PyTypeError::new_err(format!("add_edges() got multiple values for argument '{name}'")))
            }
            (Some(column), None) => Ok(Some(column)),
            (None, named) => Ok(named.cloned()),
        };
        let (src, dst, weights) =
            (next("src", self.src)?, next("dst", self.dst)?, next("weights", self.weights)?);
        let weights = weights.filter(|weights| !weights.is_none());
        if given.next().is_some() {
            return refuse("takes at most 3 arguments without a name: src, dst and weights");
        }
        let (src, dst) = match (src, dst) {
            (Some(src), Some(dst)) => (src, dst),
            (Some(only), None) => {
                let found = type_name(&only);
                return refuse(&format!(
                    "takes src and dst, or a table with an Arrow stream, found one {found}: a lazy frame has one after collect(), \
                     and pairs become columns by add_edges(*zip(*pairs))"
                ));
            }
            (None, _) => return refuse("missing 1 required argument: 'src'"),
        };
        let (label, ranks, properties) = (self.label, self.ranks, self.properties);
        Ok(Arguments { src, dst, weights, label, ranks, properties })
    }

    fn table(self, handle: &Handle, table: &Bound<'py, PyAny>) -> PyResult<EdgeTable<'a>> {
        let refuse = |what: &str| Err(PyTypeError::new_err(format!("add_edges() {what}")));
        if self.given.len() > 1 {
            return refuse(
                "takes one argument without a name if it is a table: src= and dst= name its columns",
            );
        }
        if self.weights.is_some() || self.ranks.is_some() {
            return refuse(
                "got weights= or ranks= with a table: weight= and rank= are the names of its columns",
            );
        }
        let name = |parameter: &str, given: Option<&Bound<'py, PyAny>>| match given {
            None => Ok(parameter.to_owned()),
            Some(name) if name.is_instance_of::<PyString>() => name.extract(),
            Some(other) => {
                let found = type_name(other);
                Err(PyTypeError::new_err(format!(
                    "add_edges() {parameter}= names a column of the table, found {found}"
                )))
            }
        };
        let ends = [("src", name("src", self.src)?), ("dst", name("dst", self.dst)?)];
        let properties = frames::names(self.properties)?;
        let table = Table::open(table)?;
        let ends = [table.find(ends[0].0, &ends[0].1)?, table.find(ends[1].0, &ends[1].1)?];
        EdgeTable::new(handle, table, ends, (self.label.unwrap_or(""), self.weight, self.rank), properties)
    }
}

/// A table of edges while it is read.
pub(crate) struct EdgeTable<'a> {
    table: Table,
    label: &'a str,
    ends: [usize; 2],
    keys: [KeyKind; 2],
    /// The columns of the kinds of both ends.
    kinds: Option<[usize; 2]>,
    weight: Option<usize>,
    rank: Option<usize>,
    /// The columns that become properties, with their names.
    properties: Vec<(usize, String)>,
}

impl<'a> EdgeTable<'a> {
    fn new(
        handle: &Handle,
        table: Table,
        ends: [usize; 2],
        (label, weight, rank): (&'a str, Option<&str>, Option<&str>),
        named: Option<Vec<String>>,
    ) -> PyResult<EdgeTable<'a>> {
        let schema = handle.kind_schema()?;
        let is_weighted = label.is_empty() && handle.config.weighted;
        let weight = match weight {
            Some(_) if label.is_empty() && !is_weighted => {
                return Err(NotSupportedError::new_err("the graph has no weights"));
            }
            Some(name) => Some(table.find(WEIGHT, name)?),
            None if is_weighted => table.find_usual(WEIGHT)?,
            None => None,
        };
        let rank = match rank {
            Some(name) => Some(table.find(RANK, name)?),
            None if has_ranks(handle, label)? => table.find_usual(RANK)?,
            None => None,
        };
        let is_named =
            |column: &str| named.as_ref().is_some_and(|named| named.iter().any(|name| name == column));
        let kinds = KIND_COLUMNS.map(|column| match is_named(column) {
            // The caller says that it is a property.
            true => Ok(None),
            false => table.find_usual(column),
        });
        let kinds = match kinds {
            [Ok(None), Ok(None)] => None,
            [Ok(Some(src)), Ok(Some(dst))] if !schema.kinds().is_empty() => Some([src, dst]),
            [Err(error), _] | [_, Err(error)] => return Err(error),
            // Without them the edges would be those of other vertices.
            _ => {
                let why = if schema.kinds().is_empty() {
                    "the graph has no kinds: define_kind defines them".to_owned()
                } else {
                    "it has only one of them".to_owned()
                };
                return Err(DataError::new_err(format!(
                    "the columns src_kind and dst_kind of the table name kinds, but {why}; as a property, name the column by properties="
                )));
            }
        };
        // The first edge defines a label, and then without ranks.
        if rank.is_none()
            && schema.label(label).is_none()
            && !is_named(RANK)
            && table.find_usual(RANK)?.is_some()
        {
            return Err(DataError::new_err(format!(
                "the table has a column rank, and label {label:?} is not defined: define_label({label:?}, multi=True) \
                 defines it with ranks; as a property, name the column by properties="
            )));
        }
        let taken = ends.into_iter().chain(kinds.into_iter().flatten()).chain(weight).chain(rank);
        let taken: Vec<usize> = taken.collect();
        let types = Types::new(handle, Owner::Edges(label))?;
        let properties = table.properties(named.as_deref(), &taken, &types)?;
        let keys = key_types(&handle.origin, handle, label)?;
        Ok(EdgeTable { table, label, ends, keys, kinds, weight, rank, properties })
    }

    /// Returns the edges of the next rows, at most `most`; `None` at the end.
    pub(crate) fn next(&mut self, py: Python<'_>, handle: &Handle, most: usize) -> PyResult<Option<Edges>> {
        let Some(rows) = self.table.next(py, most)? else { return Ok(None) };
        let (mut faults, schema) = (Faults::default(), handle.kind_schema()?);
        let stated = schema.label(self.label).and_then(Label::ends);
        let keys = |at: usize, faults: &mut Faults| match self.kinds {
            Some(kinds) => {
                let of_kinds = KindsOfEnd {
                    schema: &schema,
                    default: handle.config.keys,
                    stated: stated.map(|ends| ends[at]),
                };
                keys_of_kinds(&rows, [self.ends[at], kinds[at]], &of_kinds, faults)
            }
            None => frames::read_keys(&rows, self.ends[at], self.keys[at], faults),
        };
        let (src, dst) = (keys(0, &mut faults)?, keys(1, &mut faults)?);
        let weights = match self.weight {
            Some(at) => {
                let (array, name) = column(&rows, at)?;
                Some(read::weights(array, &name, &mut faults).map_err(in_column)?)
            }
            None => None,
        };
        let ranks = match self.rank {
            Some(at) => {
                let (array, name) = column(&rows, at)?;
                Some(read::ranks(array, &name, &mut faults).map_err(in_column)?)
            }
            None => None,
        };
        let types = Types::new(handle, Owner::Edges(self.label))?;
        let columns = read_properties(&rows, &self.properties, &types, &mut faults)?;
        self.table.check(&rows, &faults)?;
        let columns = Some(columns).filter(|columns| !columns.is_empty());
        let first_row = self.table.rows - rows.num_rows();
        Edges::of(handle, self.label, EdgeParts { src, dst, weights, ranks, columns }, Some(first_row))
            .map(Some)
    }
}

/// The kinds that one end of the edges can have.
struct KindsOfEnd<'a> {
    schema: &'a Schema,
    /// The type of the keys of the default kind.
    default: KeyKind,
    /// The kind that the label states.
    stated: Option<KindId>,
}

/// Reads the keys in one column, of the kinds that another column names. If a kind has texts as keys, an
/// export writes the keys of all kinds as texts.
fn keys_of_kinds(
    rows: &RecordBatch,
    [keys, kinds]: [usize; 2],
    &KindsOfEnd { schema, default, stated }: &KindsOfEnd<'_>,
    faults: &mut Faults,
) -> PyResult<Keys> {
    let (array, name) = column(rows, keys)?;
    let (names, of_kinds) = column(rows, kinds)?;
    let has_texts = read::is_text(array.data_type());
    let kind = if has_texts { KeyKind::Str } else { KeyKind::U64 };
    let keys = read::keys(array, &name, kind, faults).map_err(in_column)?;
    let mut found: Vec<Option<KindId>> = Vec::with_capacity(keys.len());
    let find = |text: Option<&str>| text.and_then(|text| schema.find_kind(text).ok());
    read::texts(names, &of_kinds, |_, text| found.push(find(text))).map_err(in_column)?;
    let key = |(row, (key, kind)): (usize, (VertexKeyRef<'_>, &Option<KindId>))| {
        let Some(kind) = *kind else {
            faults.add(row, &of_kinds, "names no kind of vertices");
            return VertexKey::U64(0);
        };
        // A key of the default kind alone would become one of the kind that the label states.
        if let Some(stated) = stated.filter(|stated| *stated != kind) {
            let (found, stated) = (schema.kind_name(kind), schema.kind_name(stated));
            faults.add(row, &of_kinds, &format!("has kind {found:?}, but the label states {stated:?}"));
            return VertexKey::U64(0);
        }
        let wanted = schema.kind_by_id(kind).map_or(default, hedgerow::Kind::keys);
        let number = |text: &str| text.parse().ok().filter(|number: &u64| number.to_string() == text);
        let key = match (key, wanted) {
            (VertexKeyRef::Str(text), KeyKind::U64 | KeyKind::Dense) => number(text).map(VertexKeyRef::U64),
            (VertexKeyRef::Str(text), KeyKind::Str) => {
                Some(text).filter(|text| text.len() <= MAX_KEY_BYTES).map(VertexKeyRef::Str)
            }
            (VertexKeyRef::U64(number), KeyKind::U64 | KeyKind::Dense) => Some(VertexKeyRef::U64(number)),
            _ => None,
        };
        match key {
            Some(key) => kind.key(key).to_owned(),
            None => {
                faults.add(row, &name, &format!("has no id of kind {}", schema.kind_name(kind)));
                VertexKey::U64(0)
            }
        }
    };
    Ok(Keys::OfKinds(keys.iter().zip(&found).enumerate().map(key).collect()))
}
