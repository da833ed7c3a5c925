//! Look-ups in Python that this crate and its libraries need, all made during the import of the package.
//!
//! An import runs Python code, in which Ctrl-C may raise. NumPy's crate and PyO3 look things up at their
//! first use, and panic if that fails. So in a call, Ctrl-C would become a panic. During the import it only
//! fails the import, which the user may repeat.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyList, PyMapping, PySequence, PyTzInfo};

/// A module of Python.
pub(crate) struct Module {
    name: &'static str,
    found: PyOnceLock<Py<PyModule>>,
}

pub(crate) static NUMPY: Module = Module::named("numpy");
pub(crate) static MASKED_ARRAYS: Module = Module::named("numpy.ma");
pub(crate) static THREADING: Module = Module::named("threading");
/// The module whose `interrupt_main` raises Ctrl-C again.
pub(crate) static THREAD: Module = Module::named("_thread");
/// The module that converts columns to arrays.
pub(crate) static COLUMNS: Module = Module::named("hedgerow._columns");
/// The module that defines the classes of results.
pub(crate) static RESULTS: Module = Module::named("hedgerow._result");

impl Module {
    const fn named(name: &'static str) -> Module {
        Module { name, found: PyOnceLock::new() }
    }

    /// Returns the module; imports it at the first call.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyModule>> {
        if let Some(found) = self.found.get(py) {
            return Ok(found.bind(py));
        }
        // The import is outside the cell. A signal handler may get the module meanwhile, and would wait for
        // its own thread.
        let module = py.import(self.name)?.unbind();
        Ok(self.found.get_or_init(py, || module).bind(py))
    }
}

/// Makes all look-ups.
pub(crate) fn fetch(py: Python<'_>) -> PyResult<()> {
    for module in [&NUMPY, &MASKED_ARRAYS, &THREADING, &THREAD, &COLUMNS, &RESULTS] {
        module.get(py)?;
    }
    // These are modules that the libraries import. Importing a loaded module runs no Python code.
    numpy::get_array_module(py)?.getattr("_ARRAY_API")?;
    for name in ["collections.abc", "datetime", "operator"] {
        py.import(name)?;
    }
    catch_unwind(AssertUnwindSafe(|| touch(py))).unwrap_or_else(|panic| Err(failed(&*panic)))
}

/// Makes the libraries cache the functions and classes that later calls use.
fn touch(py: Python<'_>) -> PyResult<()> {
    // This caches NumPy's functions, the class that owns the elements of new arrays, and the counts of
    // borrowed arrays.
    let array = vec![0_u64].into_pyarray(py);
    drop(array.try_readonly().map_err(PyErr::from)?);
    py.get_type::<PyMapping>();
    // This is needed for the error about an argument that is no sequence.
    py.get_type::<PySequence>();
    py.get_type::<PyDateTime>();
    py.get_type::<PyDate>();
    py.get_type::<PyDelta>();
    PyTzInfo::utc(py)?;
    // This is the function that estimates the length of an iterator.
    PyList::empty(py).try_iter()?.size_hint();
    Ok(())
}

/// Returns the error for a panic of a library, for instance a library built for another version of NumPy.
fn failed(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a library panicked");
    PyImportError::new_err(text.to_owned())
}
