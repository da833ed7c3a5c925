//! Columns of vertex ids, ranks and weights, with their checks.

use hedgerow::{KeyKind, KindId, PropertyType, TextColumn, Value, VertexKey, VertexKeyRef};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyBytes, PyString, PyTuple};

use crate::arrays::{Array, exact, not_exact, reserved, view};
use crate::error::{DataError, repr_of, text_of, told};
use crate::handle::Origin;
use crate::key::{self, Key};
use crate::names::Kinds;
use crate::value;

/// The name of the column of ranks in messages.
const RANKS: &str = "ranks";

/// A column of vertex ids. It is a copy, since other threads may change the array while the interpreter lock
/// is released.
pub(crate) enum Keys {
    Numbers(Vec<u64>),
    Texts(Vec<PyBackedStr>),
    /// Texts of a table of another library.
    Column(TextColumn),
    /// Ids of several kinds, or of a kind other than the call's, each with its kind.
    OfKinds(Vec<VertexKey>),
}

impl Keys {
    pub(crate) fn at(&self, i: usize) -> VertexKeyRef<'_> {
        match self {
            Keys::Numbers(numbers) => VertexKeyRef::U64(numbers[i]),
            Keys::Texts(texts) => VertexKeyRef::Str(&texts[i]),
            Keys::Column(texts) => VertexKeyRef::Str(texts.get(i).unwrap_or_default()),
            Keys::OfKinds(keys) => keys[i].as_ref(),
        }
    }

    /// Returns the keys. A key that states no kind becomes one of `kind`.
    pub(crate) fn of_kind(&self, kind: KindId) -> Vec<VertexKeyRef<'_>> {
        (0..self.len()).map(|at| self.of_kind_at(kind, at)).collect()
    }

    /// Returns the key in row `at`, like [`of_kind`](Self::of_kind).
    pub(crate) fn of_kind_at(&self, kind: KindId, at: usize) -> VertexKeyRef<'_> {
        let key = self.at(at);
        if key.kind() == KindId::DEFAULT { kind.key(key) } else { key }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Keys::Numbers(numbers) => numbers.len(),
            Keys::Texts(texts) => texts.len(),
            Keys::Column(texts) => texts.len(),
            Keys::OfKinds(keys) => keys.len(),
        }
    }
}

pub(crate) fn read_ranks(object: &Bound<'_, PyAny>, edges: usize) -> PyResult<Vec<u64>> {
    let array = Array::read(RANKS, object)?;
    array.check_whole(RANKS)?;
    let ranks = read_numbers(KeyKind::U64, RANKS, &array)?;
    if ranks.len() != edges {
        return Err(DataError::new_err(format!("ranks has {} elements for {edges} edges", ranks.len())));
    }
    Ok(ranks)
}

/// Returns the types of the ids at both ends of edges of a label, from the kinds that the label states.
pub(crate) fn key_types(origin: &Origin, kinds: &impl Kinds, label: &str) -> PyResult<[KeyKind; 2]> {
    let default = origin.config.keys;
    if label.is_empty() {
        return Ok([default; 2]);
    }
    let schema = kinds.kind_schema()?;
    let ends = schema.label(label).and_then(hedgerow::Label::ends).unwrap_or_default();
    Ok(ends.map(|kind| schema.kind_by_id(kind).map_or(default, hedgerow::Kind::keys)))
}

/// Reads a column of vertex ids. An id that is no pair of a kind and an id has keys of type `kind`.
pub(crate) fn read_keys(
    kinds: &impl Kinds,
    kind: KeyKind,
    name: &str,
    object: &Bound<'_, PyAny>,
) -> PyResult<Keys> {
    if kind == KeyKind::Str {
        check_sequence(name, object)?;
    }
    let array = Array::read_keys(name, object)?;
    array.check_whole(name)?;
    if array.kind == 'O' && !kinds.kind_schema()?.kinds().is_empty() && has_pairs(&array)? {
        return read_pairs(kinds, kind, name, &array).map(Keys::OfKinds);
    }
    match kind {
        KeyKind::Str => read_texts(name, &array).map(Keys::Texts),
        KeyKind::U64 | KeyKind::Dense => read_numbers(kind, name, &array).map(Keys::Numbers),
    }
}

/// True if some objects are pairs, which name vertices of kinds other than the default one.
fn has_pairs(array: &Array<'_>) -> PyResult<bool> {
    Ok(array.objects()?.any(|item| item.is_exact_instance_of::<PyTuple>()))
}

fn read_pairs(kinds: &impl Kinds, kind: KeyKind, name: &str, array: &Array<'_>) -> PyResult<Vec<VertexKey>> {
    let mut keys = reserved("vertex ids", array.len())?;
    for (at, item) in array.objects()?.enumerate() {
        let key = Key::read(kind, kinds, &item);
        let key =
            key.map_err(|e| DataError::new_err(format!("{name}[{at}]: {}", text_of(e.value(item.py())))))?;
        keys.push(key.as_ref().to_owned());
    }
    Ok(keys)
}

fn read_numbers(kind: KeyKind, name: &str, array: &Array<'_>) -> PyResult<Vec<u64>> {
    let mut numbers = reserved("vertex ids", array.len())?;
    match array.kind {
        'u' => numbers.extend(view::<u64>(&array.array, "uint64")?.as_array().iter()),
        'i' => {
            for (at, &number) in view::<i64>(&array.array, "int64")?.as_array().iter().enumerate() {
                let number = u64::try_from(number).map_err(|_| {
                    let what = if name == RANKS { "ranks" } else { "ids" };
                    DataError::new_err(format!("{name}[{at}] is {number}: {what} are not negative"))
                })?;
                numbers.push(number);
            }
        }
        'O' => {
            for (at, item) in array.objects()?.enumerate() {
                numbers.push(read_number(kind, name, at, &item)?);
            }
        }
        // An empty list is an array of floats in NumPy.
        _ if array.len() == 0 => {}
        _ => {
            let found = array.dtype().str()?;
            return Err(DataError::new_err(format!("{name} must hold ints, found {found}")));
        }
    }
    if kind == KeyKind::Dense {
        for (at, &number) in numbers.iter().enumerate() {
            key::check_range(kind, number).map_err(|e| DataError::new_err(format!("{name}[{at}]: {e}")))?;
        }
    }
    Ok(numbers)
}

fn read_number(kind: KeyKind, name: &str, at: usize, item: &Bound<'_, PyAny>) -> PyResult<u64> {
    let error = match key::read_number(kind, item) {
        // Bools are not accepted as ids, in a list as in an array.
        _ if item.is_instance_of::<PyBool>() => {
            let what = if name == RANKS { "ranks" } else { "ids" };
            return Err(DataError::new_err(format!(
                "{name}[{at}] is a bool: {what} are ints, 0 to 2**64 - 1"
            )));
        }
        Ok(number) => return Ok(number),
        Err(error) => error,
    };
    if name == RANKS || item.is_instance_of::<PyString>() {
        let shown = repr_of(item).unwrap_or_else(|| key::type_name(item));
        let what = if name == RANKS { "ranks" } else { "ids" };
        return Err(DataError::new_err(format!("{name}[{at}] is {shown}: {what} are ints, 0 to 2**64 - 1")));
    }
    let py = item.py();
    Err(told(py, error, |error| DataError::new_err(format!("{name}[{at}]: {}", text_of(error.value(py))))))
}

/// Refuses a single string. It is a sequence of strings too, but a caller hardly means that.
fn check_sequence(name: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(DataError::new_err(format!(
            "{name} must be a sequence of str, found one {}",
            key::type_name(object)
        )));
    }
    let wrong = |_: &PyErr| {
        let found = key::type_name(object);
        DataError::new_err(format!("{name} must be a sequence of str, found {found}"))
    };
    object.try_iter().map(drop).map_err(|error| told(object.py(), error, wrong))
}

fn read_texts(name: &str, array: &Array<'_>) -> PyResult<Vec<PyBackedStr>> {
    let mut texts = reserved("vertex ids", array.len())?;
    for (at, item) in array.objects()?.enumerate() {
        let Ok(text) = item.cast::<PyString>() else {
            let found = key::type_name(&item);
            return Err(DataError::new_err(format!("{name}[{at}] must be a str, found {found}")));
        };
        texts.push(key::check_text(text).map_err(|e| DataError::new_err(format!("{name}[{at}]: {e}")))?);
    }
    Ok(texts)
}

pub(crate) fn read_weights(object: &Bound<'_, PyAny>, edges: usize) -> PyResult<Vec<f64>> {
    let array = Array::read("weights", object)?;
    if array.len() != edges {
        let found = array.len();
        return Err(DataError::new_err(format!("weights has {found} elements for {edges} edges")));
    }
    array.check_whole("weights")?;
    let mut weights: Vec<f64> = reserved("weights", edges)?;
    let inexact = |at: usize, number: i128| not_exact(&format_args!("weights[{at}]"), number);
    match array.kind {
        'f' if !array.is_wide_float() => {
            weights.extend(view::<f64>(&array.array, "float64")?.as_array().iter());
        }
        'i' => {
            for (at, &number) in view::<i64>(&array.array, "int64")?.as_array().iter().enumerate() {
                weights.push(exact(number).ok_or_else(|| inexact(at, number.into()))?);
            }
        }
        'u' => {
            for (at, &number) in view::<u64>(&array.array, "uint64")?.as_array().iter().enumerate() {
                weights.push(exact(number).ok_or_else(|| inexact(at, number.into()))?);
            }
        }
        'O' => {
            for (at, item) in array.objects()?.enumerate() {
                weights.push(read_weight(at, &item)?);
            }
        }
        _ if array.len() == 0 => {}
        _ => {
            let found = array.dtype().str()?;
            return Err(DataError::new_err(format!("weights must hold numbers, found {found}")));
        }
    }
    match weights.iter().position(|w: &f64| w.is_nan()) {
        Some(at) => Err(DataError::new_err(format!("weights[{at}] is NaN: a weight must be a number"))),
        None => Ok(weights),
    }
}

fn read_weight(at: usize, item: &Bound<'_, PyAny>) -> PyResult<f64> {
    let shown = format_args!("weights[{at}]");
    match value::read(&shown, item, Some(PropertyType::F64)) {
        Ok(Value::F64(weight)) => Ok(weight),
        Err(error) if error.is_instance_of::<DataError>(item.py()) => Err(error),
        Ok(_) | Err(_) => {
            let found = key::type_name(item);
            Err(DataError::new_err(format!("weights[{at}]: weights must hold numbers, found {found}")))
        }
    }
}
