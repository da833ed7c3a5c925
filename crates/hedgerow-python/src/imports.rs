//! What calls look up in Python, and the libraries below them: all of it when the package is imported.
//!
//! An import runs code of Python, in which Ctrl-C may raise. NumPy's crate and PyO3 look things up when they are
//! used first, and panic where that fails: in a call, Ctrl-C would become a panic. Here it ends the import of the
//! package, which may be tried again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyDelta, PyList, PyMapping, PySequence, PyTzInfo};

/// A module of Python.
pub(crate) struct Module {
    name: &'static str,
    found: PyOnceLock<Py<PyModule>>,
}

pub(crate) static NUMPY: Module = Module::named("numpy");
pub(crate) static MASKED_ARRAYS: Module = Module::named("numpy.ma");
pub(crate) static THREADING: Module = Module::named("threading");
/// Makes arrays of columns.
pub(crate) static COLUMNS: Module = Module::named("hedgerow._columns");
/// Defines the classes of results.
pub(crate) static RESULTS: Module = Module::named("hedgerow._result");

impl Module {
    const fn named(name: &'static str) -> Module {
        Module { name, found: PyOnceLock::new() }
    }

    /// The module, which is imported if nobody asked for it yet.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyModule>> {
        if let Some(found) = self.found.get(py) {
            return Ok(found.bind(py));
        }
        // Not inside the cell: a handler of a signal may come here meanwhile, and would wait for itself.
        let module = py.import(self.name)?.unbind();
        Ok(self.found.get_or_init(py, || module).bind(py))
    }
}

/// Looks everything up.
pub(crate) fn fetch(py: Python<'_>) -> PyResult<()> {
    for module in [&NUMPY, &MASKED_ARRAYS, &THREADING, &COLUMNS, &RESULTS] {
        module.get(py)?;
    }
    // What the libraries import. Once a module is there, the import of it runs no code of Python.
    numpy::get_array_module(py)?.getattr("_ARRAY_API")?;
    for name in ["collections.abc", "datetime", "operator"] {
        py.import(name)?;
    }
    catch_unwind(AssertUnwindSafe(|| touch(py))).unwrap_or_else(|panic| Err(failed(&*panic)))
}

/// Has the libraries keep what calls make them use.
fn touch(py: Python<'_>) -> PyResult<()> {
    // NumPy's functions, the class of what owns an array's elements, and the accounts of who reads an array.
    let array = vec![0_u64].into_pyarray(py);
    drop(array.try_readonly().map_err(PyErr::from)?);
    py.get_type::<PyMapping>();
    // The error for an argument that is none looks for it.
    py.get_type::<PySequence>();
    py.get_type::<PyDateTime>();
    py.get_type::<PyDelta>();
    PyTzInfo::utc(py)?;
    // The function that guesses how much an iterator has to give.
    PyList::empty(py).try_iter()?.size_hint();
    Ok(())
}

/// The error for a panic of a library: it is made for another version of NumPy, for one.
fn failed(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a library panicked");
    PyImportError::new_err(text.to_owned())
}
