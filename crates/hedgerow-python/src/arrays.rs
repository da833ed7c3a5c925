//! Columns of any library as NumPy arrays with one dimension, and masks of elements without a value.

use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::{DataError, out_of_memory, text_of, told};
use crate::imports;

/// A column.
pub(crate) struct Array<'py> {
    pub(crate) array: Bound<'py, PyUntypedArray>,
    /// NumPy's letter for the kind of the elements.
    pub(crate) kind: char,
    /// True for each element without a value; empty if every element has one.
    missing: Vec<bool>,
}

impl<'py> Array<'py> {
    /// Reads the column `object`; messages call it `name`.
    pub(crate) fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        Array::read_by("plain", name, object)
    }

    /// Reads a column of vertex ids, like [`read`](Self::read); `object` may also be a result with vertex
    /// ids.
    pub(crate) fn read_keys(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        Array::read_by("plain_keys", name, object)
    }

    fn read_by(how: &str, name: &str, object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let py = object.py();
        let plain = imports::COLUMNS.get(py)?.getattr(how)?;
        let plain = plain.call1((object,)).map_err(|error| not_an_array(py, name, error))?;
        let (array, missing) = plain.extract::<(Bound<'_, PyAny>, Option<Bound<'_, PyAny>>)>()?;
        let array = array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
        if array.ndim() != 1 {
            return Err(DataError::new_err(format!(
                "{name} must have one dimension, found {}",
                array.ndim()
            )));
        }
        let missing = match missing {
            Some(mask) => {
                let mask = mask.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
                let mask = view::<bool>(&mask, "bool")?;
                // A mask that masks nothing is dropped, so that it costs nothing later.
                let mask = mask.as_array();
                if mask.iter().any(|&hidden| hidden) { mask.to_vec() } else { Vec::new() }
            }
            None => Vec::new(),
        };
        let kind: char = array.dtype().getattr("kind")?.extract()?;
        Ok(Array { array, kind, missing })
    }

    pub(crate) fn dtype(&self) -> Bound<'py, PyAny> {
        self.array.dtype().into_any()
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// True if the element `at` has no value.
    pub(crate) fn is_missing(&self, at: usize) -> bool {
        self.missing.get(at).is_some_and(|&missing| missing)
    }

    /// True if some element has no value.
    pub(crate) fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Returns a mask that is true for each element with a value; `None` if every element has one.
    pub(crate) fn validity(&self) -> Option<Vec<bool>> {
        (!self.missing.is_empty()).then(|| self.missing.iter().map(|missing| !missing).collect())
    }

    /// Refuses a column in which an element has no value.
    pub(crate) fn check_whole(&self, name: &str) -> PyResult<()> {
        match self.missing.iter().position(|&missing| missing) {
            Some(at) => Err(DataError::new_err(format!("{name}[{at}] has no value: every edge needs one"))),
            None => Ok(()),
        }
    }

    /// True if the elements are floats of more than 64 bits.
    pub(crate) fn is_wide_float(&self) -> bool {
        self.kind == 'f' && self.array.dtype().getattr("itemsize").and_then(|n| n.extract()).unwrap_or(0) > 8
    }

    /// Returns the elements as Python objects.
    pub(crate) fn objects(&self) -> PyResult<impl Iterator<Item = Bound<'py, PyAny>>> {
        let list = self.array.call_method0("tolist")?;
        Ok(list.cast_into::<PyList>().map_err(PyErr::from)?.into_iter())
    }
}

fn not_an_array(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    told(py, error, |error| {
        let described =
            DataError::new_err(format!("{name} cannot be read as a column: {}", text_of(error.value(py))));
        described.set_cause(py, Some(error.clone_ref(py)));
        described
    })
}

/// Returns a readable view of `array` with elements of type `dtype`; an array of another type is converted.
pub(crate) fn view<'py, T: numpy::Element>(
    array: &Bound<'py, PyUntypedArray>,
    dtype: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let numpy = imports::NUMPY.get(array.py())?;
    numpy.call_method1("require", (array, dtype, "A"))?.extract::<PyReadonlyArray1<'py, T>>()
}

pub(crate) fn reserved<T>(what: &str, items: usize) -> PyResult<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(items).map_err(|_| out_of_memory(what, items))?;
    Ok(vec)
}

/// Returns the float that is exactly equal to this int; `None` if there is none.
pub(crate) fn exact(number: impl Into<i128>) -> Option<f64> {
    let number = number.into();
    let float = number as f64;
    (float as i128 == number).then_some(float)
}

/// Returns the error for an int that is not exactly equal to any float.
pub(crate) fn not_exact(shown: &dyn std::fmt::Display, number: impl std::fmt::Display) -> PyErr {
    DataError::new_err(format!(
        "{shown} is {number}: a float holds ints exactly from -2**53 to 2**53, and few beyond"
    ))
}
