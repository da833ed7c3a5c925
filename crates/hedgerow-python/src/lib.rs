//! The native half of the Python package `hedgerow`: conversions between Python and the store, and nothing
//! else.
//!
//! * [`open`]: arguments of `hedgerow.open`. [`tools`]: `hedgerow.salvage`.
//! * [`database`], [`transaction`], [`snapshot`], [`ticket`], [`pipeline`]: one class each. [`single`] and
//!   [`remove_where`]: methods of `Database` for single edges, and for edges that meet a condition.
//! * [`handle`]: their common state: the store, whether it is closed, the process that opened it.
//! * [`key`], [`value`], [`edge_arguments`]: vertex ids, values of properties and edges, checked;
//!   [`key_columns`], [`columns`], [`named_columns`], [`bulk`], [`rows`]: columns of them. [`repeats`],
//!   [`added`]: repeated rows, and the counts of a call. [`arrays`], [`times`]: columns of other libraries.
//!   [`frames`], [`edge_tables`], [`vertex_tables`]: tables of other libraries. [`add_edges`],
//!   [`add_vertices`], [`vertices`]: the calls.
//! * [`results`], [`edge_results`], [`schema`]: answers as Python objects; [`many`], [`tables`]: answers
//!   about many vertices; [`first`]: answers up to a limit. [`arrow`], [`streams`]: answers for other
//!   libraries; [`exports`], [`loads`]: files; [`spelling`]: their messages.
//!   [`names`]: names of vertices in messages.
//! * [`pool`]: parallel calls. [`memory`]: the allocator. [`ending`]: threads at the end of the interpreter.
//!   [`error`]: the exception tree. [`imports`]: look-ups in Python.
//!
//! Doc comments on Python classes are Python docstrings; the package's tests run their examples.
//!
//! Three rules keep threads safe. Calls that can take long, or wait for anything, release the interpreter
//! lock; so do destructors. No lock of this crate is held while Python code may run, and making Python
//! objects may run it. Calls of Python code hold an [`ending::Calling`].
#![deny(unsafe_code)]
#![allow(
    clippy::missing_errors_doc,
    reason = "public functions are Python's: their docstrings name exceptions"
)]

mod add_edges;
mod add_vertices;
mod added;
mod arrays;
mod arrow;
mod bulk;
mod columns;
mod database;
mod define;
mod edge_arguments;
mod edge_columns;
mod edge_results;
mod edge_tables;
mod ending;
mod error;
mod exports;
mod expressions;
mod filter;
mod first;
mod frames;
mod handle;
mod heap;
mod hops;
mod ids;
mod imports;
mod kernel_methods;
mod kernels;
mod key;
mod key_columns;
mod loads;
mod maintained;
mod many;
#[cfg(target_os = "linux")]
mod memory;
mod named_columns;
mod names;
mod neighbors;
mod newest;
mod open;
mod pipeline;
#[cfg(feature = "planted-faults")]
mod planted;
mod pool;
mod remove_where;
mod repeats;
mod requested;
mod result_rows;
mod results;
mod rows;
mod schema;
mod selection;
mod single;
mod snapshot;
mod spelling;
mod streams;
mod tables;
mod ticket;
mod times;
mod tools;
mod transaction;
mod value;
mod vertex_tables;
mod vertices;

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    imports::fetch(module.py())?;
    error::add_to(module)?;
    module.add_class::<database::Database>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<maintained::Maintained>()?;
    module.add_class::<ticket::Ticket>()?;
    module.add_class::<pipeline::Pipeline>()?;
    module.add_class::<streams::TableStream>()?;
    module.add_function(wrap_pyfunction!(open::open, module)?)?;
    module.add_function(wrap_pyfunction!(tools::salvage, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::stream, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::schema, module)?)?;
    module.add_function(wrap_pyfunction!(expressions::schema_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(kernels::_table_kernels, module)?)?;
    #[cfg(feature = "planted-faults")]
    module.add_function(wrap_pyfunction!(planted::plant, module)?)?;
    ending::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
