//! `hedgerow.salvage`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;
use crate::pool::parallel;
use crate::results::make;

/// Make a new store of what can be read of a damaged one, which is left as it is.
///
/// Every part whose checksum is right is taken, and the log is followed up to the first damage.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///     The directory of the damaged store. It must not be open for writing.
/// into : str or os.PathLike
///     The directory of the new store, which must not exist or be empty.
///
/// Returns
/// -------
/// SalvageReport
///     Its ``losses`` are empty if nothing was lost.
///
/// Raises
/// ------
/// LockedError
///     The store is open.
/// DataError
///     There is something at `into`.
/// OperationalError
///     There is no file of a store, or the new store cannot be written.
#[pyfunction]
pub(crate) fn salvage(py: Python<'_>, path: PathBuf, into: PathBuf) -> PyResult<Py<PyAny>> {
    let report = parallel(py, || hedgerow::salvage(path, into)).map_err(raise)?;
    let arguments = PyDict::new(py);
    arguments.set_item("vertices", report.vertices)?;
    arguments.set_item("edges", report.edges)?;
    arguments.set_item("subgraphs", report.subgraphs)?;
    arguments.set_item("commits", report.commits)?;
    arguments.set_item("timestamp", report.timestamp.0)?;
    arguments.set_item("lost_subgraphs", report.lost_subgraphs)?;
    arguments.set_item("lost_edges", report.lost_edges)?;
    arguments.set_item("losses", report.losses)?;
    make(py, "SalvageReport", &arguments)
}
