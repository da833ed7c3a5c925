//! Ids of vertices in results, as the store has them. Python gets an object for an id when a program reads
//! the ids; a stream for another library needs none.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{LargeStringBuilder, UInt64Builder};
use arrow_schema::DataType;
use hedgerow::{KeyColumn, KindId, Schema, VertexKey, VertexKeyRef};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::ending::calling;
use crate::key::Namer;
use crate::names::Kinds;

/// The row of an element without an id.
pub(crate) const NO_ROW: i64 = -1;

/// Ids of vertices, of which some are texts.
#[pyclass(frozen, module = "hedgerow", name = "_Ids")]
pub(crate) struct Ids {
    known: Arc<Known>,
    /// The row in `known` of each element, or [`NO_ROW`]; `None` if the elements are all rows.
    rows: Option<Vec<i64>>,
}

/// Ids that several results share.
struct Known {
    keys: KeyColumn,
    schema: Arc<Schema>,
    array: PyOnceLock<Py<PyAny>>,
}

impl Kinds for Known {
    fn kind_schema(&self) -> PyResult<Arc<Schema>> {
        Ok(self.schema.clone())
    }
}

/// Returns ids for results: a read-only NumPy array if all are numbers, otherwise [`Ids`].
pub(crate) fn new<'py>(py: Python<'py>, kinds: &impl Kinds, keys: KeyColumn) -> PyResult<Bound<'py, PyAny>> {
    let is_number = |key: VertexKeyRef<'_>| matches!(key, VertexKeyRef::U64(_));
    let numbers = match &keys {
        KeyColumn::U64(_) => true,
        KeyColumn::Str(_) => false,
        KeyColumn::Kinds(_) => keys.iter().all(is_number),
    };
    if numbers {
        return read_only(keys_array(py, kinds, keys)?);
    }
    let known = Known { keys, schema: kinds.kind_schema()?, array: PyOnceLock::new() };
    Ok(Bound::new(py, Ids { known: Arc::new(known), rows: None })?.into_any())
}

/// Returns ids from [`new`] as a NumPy array.
pub(crate) fn array_of<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match ids.cast::<Ids>() {
        Ok(ids) => ids.get().array(ids.py()),
        Err(_) => Ok(ids.clone()),
    }
}

impl Ids {
    /// Returns the ids in these rows.
    pub(crate) fn take(&self, rows: Vec<i64>) -> Ids {
        Ids { known: self.known.clone(), rows: Some(rows) }
    }

    fn key(&self, at: usize) -> Option<VertexKeyRef<'_>> {
        let row = match &self.rows {
            Some(rows) => usize::try_from(rows[at]).ok()?,
            None => at,
        };
        self.known.keys.get(row)
    }

    /// True if some id is a pair of a kind and an id.
    fn has_pairs(&self) -> bool {
        let is_pair = |at| self.key(at).is_some_and(|key| key.kind() != KindId::DEFAULT);
        matches!(self.known.keys, KeyColumn::Kinds(_)) && (0..self.__len__()).any(is_pair)
    }

    /// Returns the columns of a table: names and types. With several kinds, the kind is a column of its own.
    pub(crate) fn columns(&self, name: &str) -> Vec<(String, DataType)> {
        let is_number = |at| self.key(at).is_none_or(|key| number(key).is_some());
        let has_pairs = self.has_pairs();
        let of = match has_pairs && (0..self.__len__()).all(is_number) {
            true => DataType::UInt64,
            false => DataType::LargeUtf8,
        };
        let kind = has_pairs.then(|| (format!("{name}_kind"), DataType::LargeUtf8));
        kind.into_iter().chain([(name.to_owned(), of)]).collect()
    }

    /// Returns the elements `from` to `to` as arrays of the types `of`, which [`columns`](Self::columns)
    /// returned.
    pub(crate) fn arrays(&self, of: &[DataType], from: usize, to: usize) -> Vec<ArrayRef> {
        let keys = || (from..to).map(|at| self.key(at));
        let mut arrays = Vec::with_capacity(of.len());
        if of.len() > 1 {
            let mut kinds = LargeStringBuilder::new();
            let name = |key: VertexKeyRef<'_>| self.known.schema.kind_name(key.kind());
            keys().for_each(|key| kinds.append_option(key.map(name)));
            arrays.push(Arc::new(kinds.finish()) as ArrayRef);
        }
        arrays.push(match of.last() {
            Some(DataType::UInt64) => {
                let mut numbers = UInt64Builder::with_capacity(to - from);
                keys().for_each(|key| numbers.append_option(key.and_then(number)));
                Arc::new(numbers.finish())
            }
            _ => {
                let mut texts = LargeStringBuilder::new();
                for key in keys() {
                    match key.map(|key| key.split().1) {
                        None => texts.append_null(),
                        Some(VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text)) => {
                            texts.append_value(text);
                        }
                        Some(VertexKeyRef::U64(number) | VertexKeyRef::KindU64(_, number)) => {
                            texts.append_value(number.to_string());
                        }
                    }
                }
                Arc::new(texts.finish())
            }
        });
        arrays
    }
}

fn number(key: VertexKeyRef<'_>) -> Option<u64> {
    match key.split().1 {
        VertexKeyRef::U64(number) | VertexKeyRef::KindU64(_, number) => Some(number),
        VertexKeyRef::Str(_) | VertexKeyRef::KindStr(..) => None,
    }
}

#[pymethods]
impl Ids {
    fn __len__(&self) -> usize {
        self.rows.as_ref().map_or(self.known.keys.len(), Vec::len)
    }

    /// Return the ids as an array of objects, None for a missing one.
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let all = known.array.get_or_try_init(py, || {
            let _calling = calling(py);
            read_only(key_objects(py, &**known, &known.keys)?).map(Bound::unbind)
        })?;
        let Some(rows) = &self.rows else { return Ok(all.bind(py).clone()) };
        let _calling = calling(py);
        let some: Vec<i64> = rows.iter().map(|&row| row.max(0)).collect();
        let missing: Vec<bool> = rows.iter().map(|&row| row == NO_ROW).collect();
        let taken = all.bind(py).call_method1("take", (some.into_pyarray(py),))?;
        if missing.contains(&true) {
            taken.set_item(missing.into_pyarray(py), py.None())?;
        }
        Ok(taken)
    }

    /// Return the first ids as `array` does.
    fn head<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let rows = (0..self.__len__().min(count)).map(|at| match &self.rows {
            Some(rows) => rows[at],
            None => at as i64,
        });
        let (keys, schema) = (&self.known.keys, self.known.schema.clone());
        let (mut taken, mut missing) = (Vec::new(), Vec::new());
        for row in rows {
            missing.push(row == NO_ROW);
            taken.push(row.max(0) as usize);
        }
        let known = Known { keys: keys.take(taken.into_iter()), schema, array: PyOnceLock::new() };
        let rows = (0..).zip(missing).map(|(at, missing)| if missing { NO_ROW } else { at }).collect();
        Ids { known: Arc::new(known), rows: Some(rows) }.array(py)
    }
}

/// Returns texts as a NumPy array of Python strings.
pub(crate) fn text_array<'py, 'a>(
    py: Python<'py>,
    texts: impl Iterator<Item = &'a str>,
) -> Bound<'py, PyAny> {
    let texts: Vec<Py<PyAny>> = texts.map(|text| PyString::new(py, text).into_any().unbind()).collect();
    texts.into_pyarray(py).into_any()
}

/// Makes an array read-only for Python programs.
pub(crate) fn read_only(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

/// Returns vertex ids as a NumPy array: of `uint64`, of Python strings, or, if there are several kinds, of
/// the objects that [`Namer`] makes. If all ids are of the default kind, the array is as in a graph without
/// kinds.
pub(crate) fn keys_array<'py>(
    py: Python<'py>,
    kinds: &impl Kinds,
    keys: KeyColumn,
) -> PyResult<Bound<'py, PyAny>> {
    let number = |key: &VertexKey| if let VertexKey::U64(n) = key { Some(*n) } else { None };
    let numbers = match keys {
        KeyColumn::U64(numbers) => numbers,
        KeyColumn::Str(_) => return key_objects(py, kinds, &keys),
        KeyColumn::Kinds(ref some) => match some.iter().map(number).collect::<Option<_>>() {
            Some(numbers) => numbers,
            None => return key_objects(py, kinds, &keys),
        },
    };
    Ok(numbers.into_pyarray(py).into_any())
}

/// Returns vertex ids as a NumPy array of Python objects.
pub(crate) fn key_objects<'py>(
    py: Python<'py>,
    kinds: &impl Kinds,
    keys: &KeyColumn,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match keys {
        KeyColumn::Str(texts) => text_array(py, texts.iter()),
        keys => Namer::new(kinds).list(py, keys.iter())?.into_pyarray(py).into_any(),
    })
}
