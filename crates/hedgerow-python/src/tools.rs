//! `hedgerow.salvage`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;
use crate::open::read_size;
use crate::pool::parallel;
use crate::results::make;

/// Make a new store from the readable data of a damaged one, which is not changed.
///
/// All data with a correct checksum is read, also after the damage. Data that a lost later commit may have
/// changed counts as doubtful.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///     The directory of the damaged store. It must not be open for writing.
/// into : str or os.PathLike
///     The directory of the new store. It must not exist or be empty, and must not be inside the damaged
///     store's directory.
/// memory_limit : int or str, optional
///     The memory for the salvage, in bytes or like ``"8GiB"``, at least 16 MiB. Data that does not fit is
///     written to temporary files in `into`. The default is half of the memory of the machine, or of the
///     control group of the process.
///
/// Returns
/// -------
/// SalvageReport
///     Its ``losses`` describe lost data, and are empty if nothing was lost. Its ``damages`` describe damage
///     without loss.
///
/// Raises
/// ------
/// LockedError
///     The store is open.
/// DataError
///     `into` exists and is not an empty directory, or it is inside the directory of the store.
/// OperationalError
///     The directory has no file of a store, or the new store cannot be written.
#[pyfunction]
#[pyo3(signature = (path, into, *, memory_limit=None))]
pub(crate) fn salvage(
    py: Python<'_>,
    path: PathBuf,
    into: PathBuf,
    memory_limit: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let limit = memory_limit.map(|limit| read_size("memory_limit", limit)).transpose()?;
    let salvage = || match limit {
        Some(limit) => hedgerow::salvage_within(path, into, limit),
        None => hedgerow::salvage(path, into),
    };
    let report = parallel(py, salvage).map_err(raise)?;
    let arguments = PyDict::new(py);
    arguments.set_item("vertices", report.vertices)?;
    arguments.set_item("edges", report.edges)?;
    arguments.set_item("subgraphs", report.subgraphs)?;
    arguments.set_item("commits", report.commits)?;
    arguments.set_item("timestamp", report.timestamp.0)?;
    arguments.set_item("lost_subgraphs", report.lost_subgraphs)?;
    arguments.set_item("lost_commits", report.lost_commits)?;
    arguments.set_item("lost_edges", report.lost_edges)?;
    arguments.set_item("doubtful_vertices", report.doubtful_vertices)?;
    arguments.set_item("doubtful_edges", report.doubtful_edges)?;
    arguments.set_item("damages", report.damages)?;
    arguments.set_item("losses", report.losses)?;
    make(py, "SalvageReport", &arguments)
}
