//! Tables of other libraries, read as Arrow streams: `add_edges(table, ...)`, `add_vertices(table, ...)`.
//!
//! A table is read once, some rows at a time, so a call takes the memory of one transaction. Texts become no
//! Python objects.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use hedgerow::{KeyColumn, KeyKind, PropertyType, VertexId};
use hedgerow_arrow::read::{self, ArrayRef, Faults};
use hedgerow_core::key::MAX_KEY_BYTES;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3_arrow::PyRecordBatchReader;

use crate::columns::Column;
use crate::ending::calling;
use crate::error::DataError;
use crate::key::type_name;
use crate::key_columns::Keys;
use crate::named_columns::check_type;
use crate::value::Types;

/// The bytes from which on rows become a transaction, although it may have more rows.
const MOST_BYTES: usize = 1 << 26;

/// The name that pandas gives the column of an index without a name, before its number.
const PANDAS_INDEX: &str = "__index_level_";

/// True if the object is a table with an Arrow stream, and not a column of one. Its class decides: a frame of
/// pandas has its columns as attributes.
pub(crate) fn is_table(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    let has = |name: &str| class.hasattr(name);
    let is_column = has("dtype")? || has("num_chunks")?;
    // Of our own results, only those with edges are tables of them; the others are columns of ids.
    let is_result = has("_vertex_ids")? && !has("src")?;
    Ok(has("__arrow_c_stream__")? && !is_column && !is_result)
}

/// Returns the names in an argument that is a sequence of them.
pub(crate) fn read_names(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let wrong = || {
        let found = type_name(object);
        PyTypeError::new_err(format!("{argument} must be a sequence of names, found {found}"))
    };
    if object.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    object.extract().map_err(|_| wrong())
}

/// Returns a table without its columns of Polars' type Null, whose streams the Arrow library does not read.
fn without_nulls<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let class = object.get_type();
    if !class.hasattr("get_columns")? || !class.hasattr("drop")? {
        return Ok(object.clone());
    }
    let mut nulls: Vec<String> = Vec::new();
    for column in object.call_method0("get_columns")?.try_iter()? {
        let column = column?;
        if column.getattr("dtype")?.str()? == "Null" {
            nulls.push(column.getattr("name")?.extract()?);
        }
    }
    if nulls.is_empty() { Ok(object.clone()) } else { object.call_method1("drop", (nulls,)) }
}

/// The argument `properties` for a table: the names of the columns that become properties.
pub(crate) fn names(properties: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<String>>> {
    let Some(properties) = properties else { return Ok(None) };
    let wrong = || {
        let found = type_name(properties);
        PyTypeError::new_err(format!("properties of a table must be names of its columns, found {found}"))
    };
    if properties.is_instance_of::<PyString>() || is_table(properties)? {
        return Err(wrong());
    }
    properties.extract().map(Some).map_err(|_| wrong())
}

/// A table while it is read.
pub(crate) struct Table {
    reader: Box<dyn RecordBatchReader + Send>,
    pub(crate) schema: SchemaRef,
    /// The number of rows that were returned.
    pub(crate) rows: usize,
    /// The rows that were read from the stream and not yet returned.
    rest: Option<RecordBatch>,
}

impl Table {
    pub(crate) fn open(object: &Bound<'_, PyAny>) -> PyResult<Table> {
        let _calling = calling(object.py());
        let stream = without_nulls(object)?.extract::<PyRecordBatchReader>();
        let reader = stream.and_then(PyRecordBatchReader::into_reader).map_err(|error| {
            let (found, why) = (type_name(object), error.value(object.py()).to_string());
            DataError::new_err(format!("cannot read the {found} as a table: {why}"))
        })?;
        let schema = reader.schema();
        Ok(Table { reader, schema, rows: 0, rest: None })
    }

    /// Returns the next rows, at most `most`; `None` at the end. Small batches of the stream are joined.
    pub(crate) fn next(&mut self, py: Python<'_>, most: usize) -> PyResult<Option<RecordBatch>> {
        let Table { reader, rest, .. } = self;
        let (mut parts, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < most && bytes < MOST_BYTES {
            let batch = match rest.take() {
                Some(batch) => batch,
                // The stream may run Python code, which takes the lock for itself.
                None => match py.detach(|| reader.next()).transpose().map_err(unread)? {
                    Some(batch) => batch,
                    None => break,
                },
            };
            py.check_signals()?;
            let taken = batch.num_rows().min(most - rows);
            if taken < batch.num_rows() {
                *rest = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            if taken > 0 {
                let part = batch.slice(0, taken);
                // The buffers of a slice may be those of a whole table.
                let sizes = part.columns().iter().map(|column| column.to_data().get_slice_memory_size());
                bytes += sizes.sum::<Result<usize, _>>().map_err(unread)?;
                parts.push(part);
            }
            rows += taken;
        }
        self.rows += rows;
        match parts.len() {
            0 => Ok(None),
            1 => Ok(parts.pop()),
            _ => concat_batches(&self.schema, &parts).map(Some).map_err(unread),
        }
    }

    /// Returns the place of the column that a parameter names.
    pub(crate) fn find(&self, parameter: &str, name: &str) -> PyResult<usize> {
        let found = self.places(name);
        match found[..] {
            [at] => Ok(at),
            [] => {
                let names = self.names();
                let what = format!("the table has no column {name}: {parameter}= names one of {names}");
                Err(DataError::new_err(what))
            }
            _ => Err(DataError::new_err(format!("the table has several columns {name}"))),
        }
    }

    /// Returns the place of a column that a table may have.
    pub(crate) fn find_usual(&self, name: &str) -> PyResult<Option<usize>> {
        if self.places(name).is_empty() { Ok(None) } else { self.find(name, name).map(Some) }
    }

    fn places(&self, name: &str) -> Vec<usize> {
        let fields = self.schema.fields().iter().enumerate();
        fields.filter(|(_, field)| field.name() == name).map(|(at, _)| at).collect()
    }

    fn names(&self) -> String {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the columns that become properties, with their names: the named ones, or all that are not
    /// `taken`. Left out are columns of no type, in which all rows are null, and the index of a pandas frame
    /// if it has no name.
    pub(crate) fn properties(
        &self,
        named: Option<&[String]>,
        taken: &[usize],
        types: &Types<'_>,
    ) -> PyResult<Vec<(usize, String)>> {
        let places: Vec<usize> = match named {
            Some(named) => named.iter().map(|name| self.find("properties", name)).collect::<PyResult<_>>()?,
            None => (0..self.schema.fields().len()).filter(|at| !taken.contains(at)).collect(),
        };
        let mut properties: Vec<(usize, String)> = Vec::new();
        for at in places {
            let field = self.schema.field(at);
            let is_index = named.is_none() && field.name().starts_with(PANDAS_INDEX);
            if is_index || *field.data_type() == DataType::Null {
                continue;
            }
            let name = read::property_name(field).to_owned();
            if properties.iter().any(|(_, known)| *known == name) {
                return Err(DataError::new_err(format!("two columns of the table are property {name}")));
            }
            self.check_property(at, &name, types)?;
            properties.push((at, name));
        }
        Ok(properties)
    }

    /// Refuses a column whose type differs from its property's, before anything is written.
    fn check_property(&self, at: usize, name: &str, types: &Types<'_>) -> PyResult<()> {
        let field = self.schema.field(at);
        let (column, found) = (field.name(), field.data_type());
        if let Some(extension) = field.extension_type_name() {
            return Err(DataError::new_err(format!(
                "column {column}: no property has the extension type {extension}: cast it to {found} or to text, or name the other columns by properties="
            )));
        }
        let Some(kind) = read::property_type(found) else {
            let into = match found {
                DataType::Date32 | DataType::Date64 => "cast it to a timestamp with a time zone, or to text",
                DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(..)
                | DataType::Decimal256(..) => "cast it to a 64-bit float or to text",
                DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => {
                    "cast it to a whole number of one unit, or to text"
                }
                _ => "convert it",
            };
            return Err(DataError::new_err(format!(
                "column {column}: no property has the type {found}: {into}, or name the other columns by properties="
            )));
        };
        match types.of(name) {
            Some(expected) if expected != kind && !is_float(expected, kind) => {
                let what =
                    format!("column {column} has the type {found}, but property {name} has {expected}");
                Err(DataError::new_err(what))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error of the first row that does not fit, if there is one. `rows` were returned last.
    pub(crate) fn check(&self, rows: &RecordBatch, faults: &Faults) -> PyResult<()> {
        match faults.first() {
            Some((row, why)) => {
                let row = self.rows - rows.num_rows() + row;
                Err(DataError::new_err(format!("row {row} of the table: {why}")))
            }
            None => Ok(()),
        }
    }
}

/// True if numbers of type `found` may become values of a property of floats.
fn is_float(expected: PropertyType, found: PropertyType) -> bool {
    expected == PropertyType::F64 && found == PropertyType::I64
}

fn unread(error: arrow_schema::ArrowError) -> PyErr {
    DataError::new_err(format!("the table cannot be read: {error}"))
}

/// Converts an error of a column.
pub(crate) fn in_column(error: hedgerow_arrow::Error) -> PyErr {
    DataError::new_err(error.to_string())
}

/// A column of rows, by its place.
pub(crate) fn column(rows: &RecordBatch, at: usize) -> PyResult<(&ArrayRef, String)> {
    let field = rows.schema().fields().get(at).map(|field| field.name().clone());
    let found = rows.columns().get(at).zip(field);
    found.ok_or_else(|| DataError::new_err(format!("the table has no column {at}")))
}

/// Reads the properties of rows.
pub(crate) fn read_properties(
    rows: &RecordBatch,
    properties: &[(usize, String)],
    types: &Types<'_>,
    faults: &mut Faults,
) -> PyResult<Vec<Column>> {
    let read = |(at, name): &(usize, String)| {
        let (array, column) = column(rows, *at)?;
        let kind = read::property_type(array.data_type());
        let values = match (types.of(name), kind) {
            (Some(PropertyType::F64), Some(PropertyType::I64)) => {
                read::floats(array, &column, faults).map_err(in_column)?
            }
            _ => {
                let (values, cut) = read::property(array, &column, faults).map_err(in_column)?;
                let why = "has a time finer than microseconds, the unit of a store: round it";
                cut.into_iter().for_each(|row| faults.add(row, &column, why));
                values
            }
        };
        let column = Column { name: name.clone(), values };
        check_type(types, &column)?;
        Ok(column)
    };
    properties.iter().map(read).collect()
}

/// Reads the keys in a column.
pub(crate) fn read_keys(rows: &RecordBatch, at: usize, kind: KeyKind, faults: &mut Faults) -> PyResult<Keys> {
    let (array, name) = column(rows, at)?;
    Ok(match read::keys(array, &name, kind, faults).map_err(in_column)? {
        KeyColumn::U64(numbers) => {
            if kind == KeyKind::Dense {
                let large =
                    numbers.iter().enumerate().filter(|(_, number)| **number > VertexId::MAX.0.into());
                let why = format!("has an id above {}, the last dense id", VertexId::MAX.0);
                large.for_each(|(row, _)| faults.add(row, &name, &why));
            }
            Keys::Numbers(numbers)
        }
        KeyColumn::Str(texts) => {
            let long = texts.iter().enumerate().filter(|(_, text)| text.len() > MAX_KEY_BYTES);
            let why = format!("has an id of more than {MAX_KEY_BYTES} bytes");
            long.for_each(|(row, _)| faults.add(row, &name, &why));
            Keys::Column(texts)
        }
        KeyColumn::Kinds(keys) => Keys::OfKinds(keys),
    })
}
