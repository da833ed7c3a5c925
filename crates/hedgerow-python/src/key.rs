//! Single arguments: vertex ids, directions, counts.

use std::cell::OnceCell;
use std::sync::Arc;

use hedgerow::{Direction, KeyKind, KindId, Schema, VertexId, VertexKeyRef};
use hedgerow_core::key::MAX_KEY_BYTES;
use pyo3::exceptions::{PyException, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyInt, PyList, PySequence, PyString, PyTuple};

use crate::ending::calling;
use crate::error::{DataError, raise, repr_of, text_of, told};
use crate::names::{self, Kinds};

/// A vertex id from the user. Strings are borrowed from Python.
pub(crate) struct Key {
    /// The kind: the default one, unless the user names a kind.
    kind: KindId,
    name: Name,
}

enum Name {
    Number(u64),
    Text(PyBackedStr),
}

impl Key {
    /// Reads a vertex id for a graph with ids of `keys`: an int or a str. A vertex of a kind other than the
    /// default one is a pair of the kind's name and the id.
    pub(crate) fn read(keys: KeyKind, kinds: &impl Kinds, object: &Bound<'_, PyAny>) -> PyResult<Key> {
        if let Ok(pair) = object.cast_exact::<PyTuple>() {
            return Key::of_kind(kinds, pair);
        }
        let read = Name::read(keys, object).map(|name| Key { kind: KindId::DEFAULT, name });
        // At the end of an edge the id may belong to the kind that the label states.
        match read {
            Err(error)
                if error.is_instance_of::<PyException>(object.py())
                    && !kinds.kind_schema()?.kinds().is_empty() =>
            {
                let other = if keys == KeyKind::Str { KeyKind::U64 } else { KeyKind::Str };
                let name = Name::read(other, object).map_err(|other| told(object.py(), other, |_| error))?;
                Ok(Key { kind: KindId::DEFAULT, name })
            }
            read => read,
        }
    }

    fn of_kind(kinds: &impl Kinds, pair: &Bound<'_, PyTuple>) -> PyResult<Key> {
        let Ok((kind, name)) = pair.extract::<(String, Bound<'_, PyAny>)>() else {
            let message = format!("a vertex of a kind is a pair (kind, id), found {}", shown(pair));
            return Err(PyTypeError::new_err(message));
        };
        let schema = kinds.kind_schema()?;
        let id = schema.find_kind(&kind).map_err(raise)?;
        let Some(found) = schema.kind_by_id(id) else {
            return Err(DataError::new_err("vertices of the default kind are named by their ids alone"));
        };
        let py = pair.py();
        let of_kind =
            |error: &PyErr| DataError::new_err(format!("kind {kind}: {}", text_of(error.value(py))));
        let name = Name::read(found.keys(), &name).map_err(|error| told(py, error, of_kind))?;
        Ok(Key { kind: id, name })
    }

    #[inline]
    pub(crate) fn as_ref(&self) -> VertexKeyRef<'_> {
        let key = match &self.name {
            Name::Number(number) => VertexKeyRef::U64(*number),
            Name::Text(text) => VertexKeyRef::Str(text),
        };
        if self.kind == KindId::DEFAULT { key } else { self.kind.key(key) }
    }

    /// Returns the kind of the vertex.
    pub(crate) fn kind(&self) -> KindId {
        self.kind
    }

    /// Returns the error for a missing vertex that the call requires.
    pub(crate) fn no_such_vertex(&self, kinds: &impl Kinds) -> PyErr {
        names::no_such_vertex(kinds, self.as_ref())
    }
}

impl Name {
    fn read(kind: KeyKind, object: &Bound<'_, PyAny>) -> PyResult<Name> {
        match kind {
            KeyKind::Str => read_text(object).map(Name::Text),
            KeyKind::U64 | KeyKind::Dense => read_number(kind, object).map(Name::Number),
        }
    }
}

/// Reads an int as a vertex id of a graph with ids of `kind`.
pub(crate) fn read_number(kind: KeyKind, object: &Bound<'_, PyAny>) -> PyResult<u64> {
    // The conversion of other objects to an int may run Python code.
    let _calling = (!object.is_exact_instance_of::<PyInt>()).then(|| calling(object.py()));
    // In Python a bool is an int, but a caller hardly means it as the id 0 or 1.
    if object.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a vertex id of this graph is an int, found bool"));
    }
    let number = object.extract().map_err(|error| not_a_number(object, error))?;
    check_range(kind, number).map_err(DataError::new_err)?;
    Ok(number)
}

/// Checks that `number` can be an id in a graph with ids of `kind`.
#[inline]
pub(crate) fn check_range(kind: KeyKind, number: u64) -> Result<(), String> {
    if kind == KeyKind::Dense && number > u64::from(VertexId::MAX.0) {
        return Err(format!("vertex id {number} is out of range: dense ids end at {}", VertexId::MAX.0));
    }
    Ok(())
}

fn read_text(object: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let Ok(text) = object.cast::<PyString>() else {
        let message = format!("a vertex id of this graph is a str, found {}", type_name(object));
        return Err(if is_number(object)? {
            DataError::new_err(message)
        } else {
            PyTypeError::new_err(message)
        });
    };
    check_text(text).map_err(DataError::new_err)
}

/// Checks a string that is used as a vertex id: it must be valid Unicode, and not too long.
pub(crate) fn check_text(text: &Bound<'_, PyString>) -> Result<PyBackedStr, String> {
    let backed = PyBackedStr::try_from(text.clone())
        .map_err(|_| "a vertex id must not hold surrogates: it is stored as UTF-8".to_owned())?;
    if backed.len() > MAX_KEY_BYTES {
        return Err(format!("a vertex id of {} bytes exceeds the limit of {MAX_KEY_BYTES}", backed.len()));
    }
    Ok(backed)
}

fn is_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number = object.extract::<i64>().map(drop).or_else(|_| object.extract::<u64>().map(drop));
    match number {
        Ok(()) => Ok(true),
        Err(error) if error.is_instance_of::<PyException>(object.py()) => Ok(false),
        Err(error) => Err(error),
    }
}

fn not_a_number(object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    told(object.py(), error, |error| told_as_number(object, error))
}

fn told_as_number(object: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    if error.is_instance_of::<PyOverflowError>(object.py()) {
        let object = text_of(object);
        return DataError::new_err(format!("vertex id {object} is out of range: ids are 0 to 2**64 - 1"));
    }
    let message = format!("a vertex id of this graph is an int, found {}", type_name(object));
    if object.is_instance_of::<PyString>() {
        DataError::new_err(message)
    } else {
        PyTypeError::new_err(message)
    }
}

/// Returns the name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .name()
        .map_or_else(|_| "another type".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads `"out"` or `"in"`.
pub(crate) fn direction(text: &str) -> PyResult<Direction> {
    match text {
        "out" => Ok(Direction::Out),
        "in" => Ok(Direction::In),
        other => Err(DataError::new_err(format!("direction must be \"out\" or \"in\", found {other:?}"))),
    }
}

/// Reads a 32-bit int that is at least `least`.
pub(crate) fn count(name: &str, object: &Bound<'_, PyAny>, least: u32) -> PyResult<u32> {
    match object.extract::<u32>() {
        Ok(number) if number >= least => Ok(number),
        Err(error) if !error.is_instance_of::<PyOverflowError>(object.py()) => Err(error),
        _ => Err(DataError::new_err(format!(
            "{name} must be {least} to {}, found {}",
            u32::MAX,
            text_of(object)
        ))),
    }
}

/// Reads a 64-bit int.
pub(crate) fn long_count(name: &str, object: &Bound<'_, PyAny>) -> PyResult<u64> {
    match object.extract::<u64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
            Err(DataError::new_err(format!("{name} must be 0 to {}, found {}", u64::MAX, text_of(object))))
        }
        read => read,
    }
}

/// Reads the argument `limit`.
pub(crate) fn read_limit(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    long_count("limit", object).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Reads a sequence of str; a single str is refused.
pub(crate) fn read_names(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let wrong = || PyTypeError::new_err(format!("{name} must be a sequence of str, found {}", shown(object)));
    let py = object.py();
    // A cast to `PySequence` would drop Ctrl-C: to decide if a class is a sequence, Python runs code.
    let is_sequence =
        object.is_instance_of::<PyList>() || object.is_instance(&py.get_type::<PySequence>())?;
    if object.is_instance_of::<PyString>() || !is_sequence {
        return Err(wrong());
    }
    let mut names = object.try_iter()?;
    let told_name = |error| told(py, error, |_| wrong());
    std::iter::from_fn(|| names.next()).map(|name| name?.extract().map_err(told_name)).collect()
}

/// Reads a bool.
pub(crate) fn flag(name: &str, object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let wrong = || PyTypeError::new_err(format!("{name} must be True or False, found {}", shown(object)));
    object.extract().map_err(|error| told(object.py(), error, |_| wrong()))
}

/// Returns an object as text for messages: its `repr` if that is short, and its type.
pub(crate) fn shown(object: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 40;
    let _calling = calling(object.py());
    let kind = type_name(object);
    match repr_of(object) {
        Some(text) if text.len() <= MOST => format!("{text} ({kind})"),
        _ => kind,
    }
}

/// A converter of vertex ids to Python objects. An id of a kind other than the default one becomes a pair of
/// the kind's name and the id.
pub(crate) struct Namer<'a, K> {
    kinds: &'a K,
    known: OnceCell<Arc<Schema>>,
}

impl<'a, K: Kinds> Namer<'a, K> {
    pub(crate) fn new(kinds: &'a K) -> Namer<'a, K> {
        Namer { kinds, known: OnceCell::new() }
    }

    /// Returns a vertex id as a Python object.
    pub(crate) fn object(&self, py: Python<'_>, key: VertexKeyRef<'_>) -> PyResult<Py<PyAny>> {
        let (kind, key) = key.split();
        let name = match key {
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => n.into_pyobject(py)?.into_any(),
            VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => PyString::new(py, s).into_any(),
        };
        if kind == KindId::DEFAULT {
            return Ok(name.unbind());
        }
        if self.known.get().is_none() {
            let _ = self.known.set(self.kinds.kind_schema()?);
        }
        let of = self.known.get().map_or("", |schema| schema.kind_name(kind));
        Ok((of, name).into_pyobject(py)?.into_any().unbind())
    }

    /// Returns vertex ids as a Python list.
    pub(crate) fn list<'k>(
        &self,
        py: Python<'_>,
        keys: impl Iterator<Item = VertexKeyRef<'k>>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let _calling = calling(py);
        keys.map(|key| self.object(py, key)).collect()
    }
}
